"""Samples and splits by hash."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.datasets.selection import Sample, Splits, check_shares, hash_of
from entlink.errors import InputError

HASHES = st.lists(st.integers(0, 40) | st.integers(0, 2**64 - 1), max_size=60)


def test_hashes_depend_on_seed_purpose_and_name_alone():
    assert hash_of(0, "split", "Mercury") == hash_of(0, "split", "Mercury")
    others = [(1, "split", "Mercury"), (0, "sample", "Mercury"), (0, "split", "Venus"), (0, "split", "水星")]
    assert len({hash_of(*one) for one in [(0, "split", "Mercury"), *others]}) == 5
    assert all(0 <= hash_of(*one) < 2**64 for one in others)


def test_a_hash_is_the_same_in_every_release():
    assert hash_of(7, "split", "page") == 0x673EDD79A475D352


@given(HASHES, st.integers(1, 30))
def test_a_sample_is_the_smallest_hashes_with_no_more_than_wanted(hashes, size):
    sample = Sample(size)
    sample.see(hashes)
    taker = sample.taker()
    taken = [value for value in hashes if taker.takes(value)]
    assert sorted(taken) == sorted(hashes)[:size]


@given(HASHES, st.integers(1, 30), st.integers(0, 60))
def test_nothing_above_the_threshold_is_taken_in_the_end(hashes, size, at):
    """So that it may be thrown away as soon as it is read."""
    whole, thrifty = Sample(size), Sample(size)
    whole.see(hashes)
    thrifty.see(hashes[:at])
    rest = [value for value in hashes[at:] if value <= thrifty.threshold]
    thrifty.see(rest)
    taker, thrifty_taker = whole.taker(), thrifty.taker()
    assert [value for value in [*hashes[:at], *rest] if thrifty_taker.takes(value)] == [
        value for value in hashes if taker.takes(value)
    ]


@given(HASHES)
def test_without_a_size_all_is_taken(hashes):
    sample = Sample(None)
    sample.see(hashes)
    taker = sample.taker()
    assert all(taker.takes(value) for value in hashes)


def test_pages_fall_into_splits_by_their_shares():
    splits = Splits({"train": 0.8, "dev": 0.15, "test": 0.05}, 3)
    places = Counter(splits.place(f"page {number}") for number in range(20_000))
    for place, share in enumerate((0.8, 0.15, 0.05)):
        assert abs(places[place] / 20_000 - share) < 0.01


def test_another_seed_gives_other_splits():
    shares = {"a": 0.5, "b": 0.5}
    pages = [f"page {number}" for number in range(100)]
    one, other = Splits(shares, 1), Splits(shares, 2)
    assert [one.place(page) for page in pages] != [other.place(page) for page in pages]


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=8), st.text(), st.integers())
def test_every_page_has_a_place(weights, page, seed):
    shares = {f"s{number}": weight / sum(weights) for number, weight in enumerate(weights)}
    check_shares(shares)
    assert 0 <= Splits(shares, seed).place(page) < len(weights)


def test_without_splits_there_is_one_place():
    assert Splits({}, 0).place("page") == 0


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ({"train": 0.8}, "add up to 0.8"),
        ({"train": 0.8, "dev": 0.3}, "add up to 1.1"),
        ({"train": 1.0, "dev": 0.0}, "'dev' has the share 0"),
        ({"a/b": 1.0}, "cannot be a split's name"),
        ({"": 1.0}, "cannot be a split's name"),
        ({"a": float("nan"), "b": 0.5}, "has the share nan"),
    ],
)
def test_wrong_shares_are_told(shares, told):
    with pytest.raises(InputError, match=told):
        check_shares(shares)
