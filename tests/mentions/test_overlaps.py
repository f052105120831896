from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.mentions.overlaps import without_overlaps

PLACES = st.tuples(st.integers(0, 12), st.integers(1, 5)).map(lambda place: (place[0], sum(place)))
SPANS = st.dictionaries(PLACES, st.sampled_from([0.1, 0.5, 0.9]), max_size=12).map(
    lambda scores: sorted((start, end, score) for (start, end), score in scores.items())
)


def overlap(one, other) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def contains(outer, inner) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1] and outer[:2] != inner[:2]


@settings(max_examples=300)
@given(SPANS)
def test_what_stays_does_not_overlap_and_what_goes_overlaps_what_stays(spans):
    kept = without_overlaps(spans)
    assert kept == sorted(kept)
    assert set(kept) <= set(spans)
    assert not any(overlap(*pair) for pair in combinations(kept, 2))
    assert all(any(overlap(span, one) for one in kept) for span in spans)


@settings(max_examples=300)
@given(SPANS)
def test_a_nested_span_stays_only_where_all_around_it_lost_to_others(spans):
    kept = without_overlaps(spans)
    for inner in kept:
        for outer in spans:
            if contains(outer, inner):
                assert any(one != inner and overlap(one, outer) for one in kept)


@settings(max_examples=300)
@given(SPANS)
def test_each_loser_is_told_once_with_a_winner_that_beats_it(spans):
    told: list[tuple] = []
    kept = without_overlaps(spans, lambda loser, winner: told.append((loser, winner)))
    assert sorted(loser for loser, _ in told) == sorted(set(spans) - set(kept))
    for loser, winner in told:
        assert winner in kept
        assert overlap(loser, winner)
        is_nested = any(contains(outer, loser) for outer in spans)
        assert is_nested or winner[2] >= loser[2]


@pytest.mark.parametrize(
    ("spans", "kept"),
    [
        ([], []),
        ([(0, 3, 0.5)], [(0, 3, 0.5)]),
        ([(0, 3, 0.1), (3, 5, 0.1)], [(0, 3, 0.1), (3, 5, 0.1)]),
        # The longer of two nested, whatever the scores.
        ([(0, 3, 0.9), (0, 8, 0.1)], [(0, 8, 0.1)]),
        ([(0, 8, 0.1), (4, 8, 0.9)], [(0, 8, 0.1)]),
        # The better scored of two crossing, then the longer, then the first.
        ([(0, 5, 0.2), (3, 6, 0.8)], [(3, 6, 0.8)]),
        ([(0, 5, 0.5), (3, 9, 0.5)], [(3, 9, 0.5)]),
        ([(0, 5, 0.5), (3, 8, 0.5)], [(0, 5, 0.5)]),
        # What lay inside a beaten span has its chance.
        ([(0, 2, 0.1), (0, 5, 0.2), (3, 8, 0.9)], [(0, 2, 0.1), (3, 8, 0.9)]),
        # The best of a chain takes both neighbours with it.
        ([(0, 4, 0.5), (3, 7, 0.9), (6, 9, 0.5)], [(3, 7, 0.9)]),
        ([(0, 4, 0.9), (3, 7, 0.5), (6, 9, 0.9)], [(0, 4, 0.9), (6, 9, 0.9)]),
    ],
)
def test_golden_cases(spans, kept):
    assert without_overlaps(spans) == kept


def test_a_long_chain_of_overlaps_is_resolved():
    chain = sorted((at, at + size, 0.5) for at in range(20_000) for size in (1, 2, 3))
    assert len(without_overlaps(chain)) == 6667  # looking at every pair would take hours
