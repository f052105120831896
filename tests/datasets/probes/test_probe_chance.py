"""What is chosen by chance: as many as wanted, balanced in every bin, and whatever the order they come in."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.datasets.probes.balance import UNKNOWN, Balanced, bin_of
from entlink.datasets.probes.chance import Sampled, Shares, apportioned, scaled
from entlink.datasets.probes.sentences import sentence_of, sentences
from entlink.documents import Span

HASHES = st.lists(st.integers(0, 10**6), unique=True, max_size=60)
SIZES = st.fixed_dictionaries({name: st.integers(1, 50) for name in ("train", "valid", "test")})


@given(HASHES, st.integers(1, 20), st.randoms())
def test_a_sample_has_the_smallest_hashes_in_their_order(hashes, size, random):
    shuffled = list(hashes)
    random.shuffle(shuffled)
    sampled = Sampled[str](size)
    for hash in shuffled:
        sampled.add(hash, f"item {hash}")
    assert sampled.items() == [f"item {hash}" for hash in sorted(hashes)[:size]]
    assert sampled.seen == len(hashes)


@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans()), max_size=120), st.integers(2, 60))
def test_every_bin_has_as_many_of_both_classes_and_all_that_fit_are_taken(rows, size):
    balanced = Balanced[int](size)
    there: dict[int, Counter[bool]] = defaultdict(Counter)
    for number, (bin, is_positive) in enumerate(rows):
        balanced.add(bin, is_positive, hash((number * 7919) % 1009), number)
        there[bin][is_positive] += 1
    chosen = balanced.chosen()
    for bin, (negative, positive) in chosen.items():
        assert len(negative) == len(positive) > 0
        assert {rows[number] for number in negative} == {(bin, False)}
        assert {rows[number] for number in positive} == {(bin, True)}
    most = sum(min(size // 2, of[False], of[True]) for of in there.values())
    assert sum(len(positive) for _, positive in chosen.values()) == min(size // 2, most)


@given(st.dictionaries(st.integers(), st.integers(0, 100), min_size=1, max_size=8), st.integers(0, 300))
def test_parts_are_taken_in_proportion(parts, wanted):
    taken = apportioned(parts, wanted)
    total = sum(parts.values())
    assert sum(taken.values()) == min(wanted, total)
    for part, size in parts.items():
        assert 0 <= taken[part] <= size
        assert abs(taken[part] - size * min(wanted, total) / max(1, total)) < 1


@given(SIZES, st.integers(0, 200))
def test_splits_shrink_in_proportion(sizes, there):
    made = scaled(sizes, there)
    total = sum(sizes.values())
    assert sum(made.values()) == min(there, total)
    for name in list(sizes)[1:]:
        assert made[name] == sizes[name] * min(there, total) // total


@given(SIZES, st.integers(), st.lists(st.text(), max_size=20))
def test_a_name_has_its_split_whoever_asks(sizes, seed, names):
    first = [Shares(sizes, seed).split(name) for name in names]
    assert [Shares(sizes, seed).split(name) for name in reversed(names)] == first[::-1]
    assert set(first) <= set(sizes)


def test_splits_have_about_their_shares():
    shares = Shares({"train": 500, "valid": 100, "test": 100}, 3)
    found = Counter(shares.split(f"page {number}") for number in range(7000))
    assert found["train"] == pytest.approx(5000, rel=0.05)
    assert found["test"] == pytest.approx(1000, rel=0.15)


def test_bins_of_cosines():
    cosines = (None, -1.0, -0.05, 0.0, 0.09, 0.1, 0.95, 1.0)
    assert [bin_of(cosine) for cosine in cosines] == [UNKNOWN, -10, -1, 0, 0, 1, 9, 10]


TEXT = 'Dr. Marrowby saw J. R. Heron. "It flew." Was it 3.5 m wide? (Yes.)\nA new line! in the same sentence'


def test_sentences_end_at_marks_and_lines():
    assert [TEXT[one.start : one.end] for one in sentences(TEXT)] == [
        "Dr. Marrowby saw J. R. Heron.",
        '"It flew."',
        "Was it 3.5 m wide?",
        "(Yes.)",
        "A new line! in the same sentence",
    ]


@given(st.text("ab .!?\n", min_size=1), st.data())
def test_the_sentence_of_a_span_has_the_span(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    sentence, span = sentence_of(text, Span(start, end))
    assert sentence[span.start : span.end] == text[start:end]
    assert sentence in text
