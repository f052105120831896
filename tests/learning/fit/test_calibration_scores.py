"""Scores of probabilities against scikit-learn, and thresholds against trying all."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, f1_score, precision_score, recall_score

from entlink.errors import InputError
from entlink.learning.fit.calibration_scores import (
    Judged,
    accuracies,
    best_threshold,
    brier_score,
    calibration_error,
    reliability,
    scores,
    threshold_for_precision,
)


def drawn(count: int = 500, seed: int = 0) -> list[Judged]:
    random = numpy.random.default_rng(seed)
    chances = random.random(count)
    right = random.random(count) < chances**1.5
    nil = ~right & (random.random(count) < 0.7)
    worth = random.uniform(0.2, 3.0, count)
    return [
        Judged(*map(float, row[:1]), *map(bool, row[1:3]), float(row[3]))
        for row in zip(chances, right, nil, worth, strict=True)
    ]


def test_brier_is_scikit_learns():
    mentions = drawn()
    chances, right, _, worth, _ = zip(*mentions, strict=True)
    assert brier_score(mentions) == pytest.approx(brier_score_loss(right, chances, sample_weight=worth))


def test_bins_and_their_error_are_scikit_learns():
    mentions = [one._replace(importance=1.0) for one in drawn()]
    chances, right, *_ = zip(*mentions, strict=True)
    theirs_right, theirs_chances = calibration_curve(right, chances, n_bins=10)
    counts, _ = numpy.histogram(chances, bins=10, range=(0, 1))
    bins = reliability(mentions)
    assert [one.right for one in bins] == pytest.approx(list(theirs_right))
    assert [one.probability for one in bins] == pytest.approx(list(theirs_chances))
    error = float((numpy.abs(theirs_right - theirs_chances) * counts).sum() / counts.sum())
    assert calibration_error(bins) == pytest.approx(error)


def test_decisions_on_nil_are_scikit_learns():
    mentions = drawn()
    linked = [one.probability >= 0.4 for one in mentions]
    found = scores(mentions, linked)
    said, is_nil = [not one for one in linked], [one.nil for one in mentions]
    worth = [one.importance for one in mentions]
    for measure, value in (
        (precision_score, found.nil_precision),
        (recall_score, found.nil_recall),
        (f1_score, found.nil_f1),
    ):
        assert value == pytest.approx(measure(is_nil, said, sample_weight=worth))


def test_a_worked_example():
    mentions = [
        Judged(0.9, True, False),
        Judged(0.8, False, False),
        Judged(0.3, False, True),
        Judged(0.2, True, False),
    ]
    found = scores(mentions, [True, True, False, False])
    assert (found.accuracy, found.precision, found.recall) == (0.5, 0.5, pytest.approx(1 / 3))
    assert (found.nil_precision, found.nil_recall, found.nil_f1) == (0.5, 1.0, pytest.approx(2 / 3))
    assert found.brier == pytest.approx((0.01 + 0.64 + 0.09 + 0.64) / 4)
    assert found.ece == pytest.approx((0.1 + 0.8 + 0.3 + 0.8) / 4)


mention = st.builds(
    lambda chance, outcome, worth: Judged(chance, outcome == 0, outcome == 1, worth),
    st.floats(0, 1),
    st.integers(0, 2),
    st.floats(0.1, 5),
)


@given(st.lists(mention, min_size=1, max_size=30))
def test_the_curve_is_what_counting_gives(mentions):
    curve = accuracies(mentions)
    assert len(curve) == 101
    for step in (0, 1, 37, 50, 99, 100):
        linked = [one.probability >= step / 100 for one in mentions]
        counted = sum(
            one.importance
            for one, is_link in zip(mentions, linked, strict=True)
            if (one.right if is_link else one.nil)
        )
        assert curve[step] == pytest.approx(counted, abs=1e-6)


def test_the_threshold_parts_right_from_nil():
    mentions = [Judged(0.1, False, True)] * 5 + [Judged(0.9, True, False)] * 5
    assert best_threshold(mentions) == pytest.approx(0.5, abs=0.02)
    assert best_threshold(mentions, lambda step: -float(abs(step - 70))) == pytest.approx(0.7, abs=0.02)


@given(st.lists(mention, min_size=1, max_size=30), st.floats(0.05, 0.95))
def test_a_threshold_for_a_precision_reaches_it(mentions, wanted):
    def precision(threshold: float) -> float:
        linked = [one for one in mentions if one.probability >= threshold]
        return sum(one.importance * one.right for one in linked) / sum(one.importance for one in linked)

    reached = [one.probability for one in mentions if precision(one.probability) >= wanted + 1e-9]
    try:
        threshold = threshold_for_precision(mentions, wanted, fewest=1)
    except InputError:
        assert not reached
        return
    assert precision(threshold) >= wanted - 1e-9
    assert threshold <= min(reached, default=1.0)


def test_a_precision_out_of_reach_is_told():
    with pytest.raises(
        InputError, match=r"no threshold makes 0\.9 of the links right: at most 0\.500 are, at 0\.700"
    ):
        threshold_for_precision([Judged(0.7, True, False), Judged(0.7, False, True)], 0.9, fewest=1)


def test_a_precision_needs_more_than_a_lucky_link():
    mentions = [Judged(0.9, True, False), *[Judged(0.5, number % 2 == 0, False) for number in range(30)]]
    assert threshold_for_precision(mentions, 0.9, fewest=1) == 0.9
    with pytest.raises(InputError, match="Ask for less"):
        threshold_for_precision(mentions, 0.9)
