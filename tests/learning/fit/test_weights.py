from __future__ import annotations

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from entlink.documents import Candidate
from entlink.errors import InputError
from entlink.learning.fit.tables import evidence_table, recall_at
from entlink.learning.fit.weights import fit_weights

FEATURES = ("a", "b", "c")


def random_lists(seed: int, mentions: int = 40) -> tuple[list[list[Candidate]], list[frozenset[str]]]:
    """Lists in which the right candidate is drawn by a softmax over hidden weights."""
    chance = numpy.random.default_rng(seed)
    lists, right = [], []
    for _ in range(mentions):
        values = chance.normal(size=(int(chance.integers(1, 7)), len(FEATURES)))
        powers = numpy.exp(values @ [2.0, -1.0, 0.0])
        lists.append(
            [Candidate(f"e{place}", 0.0, dict(zip(FEATURES, row, strict=True))) for place, row in enumerate(values)]
        )
        right.append(frozenset({f"e{chance.choice(len(values), p=powers / powers.sum())}"}))
    return lists, right


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1e-3, 1e-1]), st.booleans())
def test_the_weights_are_those_that_a_general_minimiser_finds(seed, pull, several):
    lists, right = random_lists(seed)
    if several:
        right = [entities | {"e0"} for entities in right]
    table = evidence_table(lists, right, FEATURES)
    start = numpy.array([0.5, 0.5, 0.5])
    spread = table.values[table.present].std(0) ** 2

    def loss(weights):
        scores = numpy.where(table.present, table.values.astype(float) @ weights, -numpy.inf)
        shifted = scores - scores.max(1, keepdims=True)
        powers = numpy.exp(shifted)
        chosen = numpy.log((powers * table.right).sum(1)) - numpy.log(powers.sum(1))
        return -chosen.mean() + pull * (spread * (weights - start) ** 2).sum()

    expected = minimize(loss, start, method="BFGS", options={"gtol": 1e-8}).x
    assert fit_weights(table, start, pull=pull) == pytest.approx(list(expected), abs=1e-3)


def test_hidden_weights_come_back_from_much_data():
    table = evidence_table(*random_lists(1, 4000), FEATURES)
    assert fit_weights(table, [0.0, 0.0, 0.0], pull=1e-6) == pytest.approx([2.0, -1.0, 0.0], abs=0.15)


def test_with_little_data_weights_stay_near_the_start():
    few, many = (fit_weights(evidence_table(*random_lists(1, size), FEATURES), [9.0, 0.0, 0.0]) for size in (3, 4000))
    assert few == pytest.approx([9.0, 0.0, 0.0], abs=0.5)
    assert many == pytest.approx([2.0, -1.0, 0.0], abs=0.3)


def test_a_feature_that_never_differs_keeps_its_weight():
    lists, right = random_lists(2)
    same = [[Candidate(one.entity, 0.0, {**one.evidence, "c": 1.0}) for one in candidates] for candidates in lists]
    assert fit_weights(evidence_table(same, right, FEATURES), [0.0, 0.0, 7.0])[2] == 7.0


def test_fixed_weights_stay():
    table = evidence_table(*random_lists(3), FEATURES)
    assert fit_weights(table, [9.0, 0.0, 0.0], fixed=[True, False, False])[0] == 9.0


def test_a_mention_that_counts_three_times_is_as_three():
    lists, right = random_lists(4)
    thrice = [*lists, *lists[:20], *lists[:20]], [*right, *right[:20], *right[:20]]
    start, pull = [0.5, 0.5, 0.5], 1e-2
    # The spread that the pull goes by is that of the table, so both are asked of the same one.
    weighed = fit_weights(
        evidence_table(*thrice, FEATURES),
        start,
        pull=pull,
        importance=[3.0] * 20 + [1.0] * (len(lists) - 20) + [0.0] * 40,
    )
    assert weighed == pytest.approx(fit_weights(evidence_table(*thrice, FEATURES), start, pull=pull), abs=1e-5)


def test_nothing_to_fit_to():
    with pytest.raises(InputError, match="no mention has its right entity"):
        fit_weights(evidence_table([[Candidate("e", 0.0, {"a": 1.0})]], [frozenset({"other"})], ("a",)), [1.0])
    with pytest.raises(InputError, match="no gold mention"):
        evidence_table([], [], ("a",))


@given(
    st.lists(
        st.tuples(st.lists(st.tuples(st.floats(-2, 2), st.floats(-2, 2)), max_size=5), st.integers(0, 6)),
        min_size=1,
        max_size=6,
    )
)
def test_ranks_are_those_of_counting(rows):
    lists = [
        [Candidate(str(place), 0.0, {"a": a, "b": b}) for place, (a, b) in enumerate(values)] for values, _ in rows
    ]
    right = [frozenset({str(gold)}) for _, gold in rows]
    weights = [1.0, -0.5]
    ranks = evidence_table(lists, right, ("a", "b")).ranks(weights)
    for (values, gold), rank in zip(rows, ranks, strict=True):
        scores = [numpy.float32(a) * numpy.float32(1.0) + numpy.float32(b) * numpy.float32(-0.5) for a, b in values]
        if gold >= len(values):
            assert rank > len(values)
        else:
            better = sum(score > scores[gold] + 1e-6 for score in scores)
            no_worse = sum(score >= scores[gold] - 1e-6 for score in scores) - 1
            assert better <= rank <= no_worse


def test_recall_at_k():
    assert recall_at(numpy.array([0, 3, 9, 10, 40]), 10) == 0.6


def test_what_is_in_no_list_is_not_found_at_a_k_larger_than_every_list():
    lists = [[Candidate("x", 0.0, {"a": 1.0})], [Candidate("y", 0.0, {"a": 1.0})]]
    table = evidence_table(lists, [frozenset({"x"}), frozenset({"z"})], ("a",))
    assert recall_at(table.ranks([1.0]), 10) == 0.5


def test_of_several_right_entities_the_best_counts_and_none_stands_in_its_way():
    lists = [[Candidate("x", 0.0, {"a": 0.1}), Candidate("y", 0.0, {"a": 1.0}), Candidate("z", 0.0, {"a": 0.5})]]
    table = evidence_table(lists, [frozenset({"x", "y"})], ("a",))
    assert table.ranks([1.0]).tolist() == [0]
    assert table.ranks([-1.0]).tolist() == [0]
    assert table.ranks([0.0]).tolist() == [1], "one that is wrong ties"
