"""Pairs are as many as can be, required gold before optional; overlaps are found without a look at all spans."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from entlink.documents import GoldLink, Link, Mention, Span
from entlink.evaluation.scoring.conventions import Matching
from entlink.evaluation.scoring.items import Gold, Predicted
from entlink.evaluation.scoring.matching import edges, most_pairs, without_article
from entlink.evaluation.scoring.surroundings import Places
from random_documents import examples


@st.composite
def graphs(draw: st.DrawFn, most: int) -> tuple[list[list[int]], list[bool]]:
    gold = draw(st.integers(1, most))
    met = draw(st.lists(st.lists(st.integers(0, gold - 1), unique=True), max_size=most))
    return met, draw(st.lists(st.booleans(), min_size=gold, max_size=gold))


def all_pairings(met: list[list[int]]) -> list[tuple[int, ...]]:
    """Every way to give each predicted item one of its gold ones or none, and no gold one to two."""
    ways = product(*[[-1, *choices] for choices in met])
    return [taken for way in ways if len(set(taken := tuple(one for one in way if one >= 0))) == len(taken)]


def check_pairs(pairs: dict[int, int], met: list[list[int]]) -> None:
    assert all(gold in met[predicted] for predicted, gold in pairs.items())
    assert len(set(pairs.values())) == len(pairs)


@examples(100)
@given(graphs(most=5))
def test_no_assignment_is_better_than_most_pairs(graph):
    met, is_optional = graph
    pairs = most_pairs(met, is_optional)
    check_pairs(pairs, met)
    best = max(
        (sum(not is_optional[gold] for gold in taken), sum(is_optional[gold] for gold in taken))
        for taken in all_pairings(met)
    )
    optional = sum(is_optional[gold] for gold in pairs.values())
    assert (len(pairs) - optional, optional) == best


def largest(met: list[list[int]], allowed: list[bool]) -> int:
    table = np.zeros((len(met), len(allowed)), dtype=int)
    for predicted, choices in enumerate(met):
        for gold in choices:
            table[predicted, gold] = allowed[gold]
    return int((maximum_bipartite_matching(csr_matrix(table), perm_type="column") >= 0).sum())


@examples(200)
@given(graphs(most=14))
def test_scipy_finds_as_many_required_pairs_and_as_many_pairs_at_all(graph):
    met, is_optional = graph
    pairs = most_pairs(met, is_optional)
    check_pairs(pairs, met)
    if met:
        assert sum(not is_optional[gold] for gold in pairs.values()) == largest(met, [not one for one in is_optional])
        assert len(pairs) == largest(met, [True] * len(is_optional))


def test_required_gold_is_not_left_for_an_optional_one_that_comes_first():
    assert most_pairs([[0, 1]], [True, False]) == {0: 1}
    assert most_pairs([[0, 1], [1]], [True, False]) == {0: 0, 1: 1}


def test_one_required_is_worth_more_than_two_optional():
    """Both answers meet the required gold, and one of them an optional one as well: neither is lost."""
    assert most_pairs([[2], [0, 1, 2]], [True, True, False]) == {0: 2, 1: 0}


def test_a_chain_is_flipped_to_its_end():
    """Each answer takes the first gold; the last fits only that one, so that all others must move by one."""
    size = 50
    met = [[number, number + 1] for number in range(size)] + [[0]]
    pairs = most_pairs(met, [False] * (size + 1))
    assert pairs == {size: 0} | {number: number + 1 for number in range(size)}


def test_nothing_meets_nothing():
    assert most_pairs([], []) == {}
    assert most_pairs([[], []], [False]) == {}


def gold_at(start: int, end: int, surface: str = "", unit: int = 0) -> Gold:
    return Gold(unit, start, end, surface, ("a",), None, False, GoldLink(Span(start, end), ("a",)))


def answer_at(start: int, end: int, surface: str = "", unit: int = 0) -> Predicted:
    return Predicted(unit, start, end, surface, "a", None, Link(Mention(Span(start, end), surface), "a", 1.0))


PLACES = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda one: (one[0], one[0] + one[1])))


@examples(100)
@given(PLACES, PLACES)
def test_weak_edges_are_the_spans_that_share_a_character(golds, answers):
    met = edges([gold_at(*one) for one in golds], [answer_at(*one) for one in answers], Matching.WEAK)
    shared = [
        {number for number, gold in enumerate(golds) if set(range(*gold)) & set(range(*answer))} for answer in answers
    ]
    assert [sorted(one) for one in met] == [sorted(one) for one in shared]


@examples(100)
@given(PLACES, PLACES)
def test_places_meet_what_shares_a_character_with_one_of_them(golds, answers):
    places = Places(golds)
    for answer in answers:
        expected = any(set(range(*gold)) & set(range(*answer)) for gold in golds)
        assert places.meet(*answer) == expected


@examples(100)
@given(PLACES)
def test_places_that_overlap_an_earlier_one_are_counted(golds):
    ordered = sorted(golds)
    late = [any(one[0] < before[1] for before in ordered[:number]) for number, one in enumerate(ordered)]
    assert Places(golds).overlapping() == sum(late)


def test_the_closest_gold_comes_first_in_weak_edges():
    golds = [gold_at(0, 20), gold_at(5, 10), gold_at(9, 30)]
    assert edges(golds, [answer_at(5, 11)], Matching.WEAK) == [[1, 0, 2]]


def test_spans_that_only_touch_do_not_overlap():
    assert edges([gold_at(0, 5), gold_at(7, 9)], [answer_at(5, 7)], Matching.WEAK) == [[]]


@examples(100)
@given(PLACES, PLACES)
def test_strict_edges_are_the_same_offsets(golds, answers):
    met = edges([gold_at(*one) for one in golds], [answer_at(*one) for one in answers], Matching.STRICT)
    assert met == [[number for number, gold in enumerate(golds) if gold == answer] for answer in answers]


NAMES = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["Ann", "the Ann", "THE Ann", "Bob", "an", "a Bob"])))


@examples(100)
@given(NAMES, NAMES)
def test_string_edges_ask_for_turn_and_surface_and_not_for_offsets(golds, answers):
    for matching, told in ((Matching.STRING, str), (Matching.STRING_WITHOUT_ARTICLES, without_article)):
        met = edges(
            [gold_at(number, number + 1, surface, unit) for number, (unit, surface) in enumerate(golds)],
            [answer_at(40, 50, surface, unit) for unit, surface in answers],
            matching,
        )
        assert met == [
            [number for number, (unit, surface) in enumerate(golds) if unit == own and told(surface) == told(name)]
            for own, name in answers
        ]


@pytest.mark.parametrize(
    ("surface", "left"),
    [
        ("the Hague", "Hague"),
        ("The Hague", "Hague"),
        ("A hotel", "hotel"),
        ("an\u00a0  owl", "owl"),
        ("THE THE", "THE"),  # a band; one article is taken off
        ("the the owl", "the owl"),
        ("The", "The"),
        ("a", "a"),
        ("and so", "and so"),
        ("another one", "another one"),
        ("theatre", "theatre"),
        ("Anne of Cleves", "Anne of Cleves"),
        ("A-ha", "A-ha"),
        ("Vitamin A deficiency", "Vitamin A deficiency"),
        ("", ""),
    ],
)
def test_one_leading_article_is_taken_off(surface, left):
    assert without_article(surface) == left
