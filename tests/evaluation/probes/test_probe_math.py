"""The linear algebra of probes beside independent oracles: numpy written out, scipy and scikit-learn."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from entlink.evaluation.probes import mixing
from entlink.evaluation.probes.design import Design
from entlink.evaluation.probes.inputs import lowered
from entlink.evaluation.probes.linear import choose, fit
from entlink.evaluation.probes.losses import ChoiceLoss, SigmoidLoss, SoftmaxLoss
from entlink.evaluation.probes.scores import (
    Outcome,
    accuracy,
    best_threshold,
    by_head,
    chosen_right,
    interval,
    label_counts,
    micro_f1,
    spearman,
)

RANDOM = numpy.random.default_rng(7)


def some(*shape):
    return RANDOM.standard_normal(shape).astype(numpy.float32)


def written_out(vectors, left, right):
    """[x1, x2, x1⊙x2, |x1−x2|] of each row."""
    first, second = vectors[left], vectors[right]
    return numpy.concatenate([first, second, first * second, numpy.abs(first - second)], axis=1)


@given(st.integers(0, 2**16), st.integers(2, 30), st.integers(1, 12), st.booleans())
def test_the_features_are_those_of_the_paper_standardised(seed, rows, distinct, paired):
    random = numpy.random.default_rng(seed)
    vectors = random.standard_normal((distinct, 3)).astype(numpy.float32)
    left, right = random.integers(distinct, size=(2, rows))
    raw = written_out(vectors, left, right) if paired else vectors[left]
    raw = raw.astype(numpy.float64)
    spread = raw.std(axis=0)
    expected = (raw - raw.mean(axis=0)) / numpy.where(spread > 1e-4, spread, 1)
    design = Design(vectors, left, right if paired else None)
    weights, errors = random.standard_normal((raw.shape[1], 2)), random.standard_normal((rows, 2))
    if (spread > 1e-4).all():  # a column that is all but constant is scaled otherwise
        numpy.testing.assert_allclose(design.dot(weights), expected @ weights, atol=2e-3, rtol=1e-3)
        numpy.testing.assert_allclose(design.back(errors), expected.T @ errors, atol=2e-3, rtol=1e-3)


LOSSES = {
    "two labels": (SoftmaxLoss(numpy.array([0, 1, 1, 0]), 2), 1),
    "three labels": (SoftmaxLoss(numpy.array([0, 2, 1, 0]), 3), 3),
    "several labels each": (SigmoidLoss(numpy.array([[1, 0], [1, 1], [0, 0], [0, 1]])), 2),
    "choices": (ChoiceLoss(numpy.array([0, 3]), numpy.array([1, 3]), 4), 1),
}


@pytest.mark.parametrize("name", LOSSES)
def test_the_gradient_of_a_loss(name):
    loss, columns = LOSSES[name]
    logits = RANDOM.standard_normal((4, columns))
    expected = approx_fprime(logits.reshape(-1), lambda flat: loss(flat.reshape(4, columns))[0], 1e-6)
    numpy.testing.assert_allclose(loss(logits)[1].reshape(-1), expected, atol=1e-5)


@pytest.mark.parametrize("classes", [2, 4])
def test_a_fit_is_that_of_scikit_learn(classes):
    vectors = some(300, 6)
    labels = (vectors @ RANDOM.standard_normal((6, classes)) + RANDOM.standard_normal((300, classes))).argmax(axis=1)
    design = Design(vectors, numpy.arange(300))
    found = fit(design, SoftmaxLoss(labels, classes), 0.01)
    scaled = (vectors - vectors.mean(axis=0)) / vectors.std(axis=0)
    oracle = LogisticRegression(C=1 / (0.01 * 300), tol=1e-8, max_iter=1000).fit(scaled, labels)
    logits = found.logits(design)
    theirs = oracle.decision_function(scaled).reshape(len(labels), -1)
    numpy.testing.assert_allclose(logits - logits.mean(axis=1, keepdims=True) * (classes > 2), theirs, atol=0.03)


def test_regularisation_is_chosen_where_the_score_looks():
    vectors = some(60, 30)
    labels = (vectors[:, 0] > 0).astype(numpy.int64)
    design, tried = Design(vectors, numpy.arange(60)), {}

    def score(probe):
        return tried.setdefault(probe.strength, {1.0: 0.2, 0.3: 0.5, 0.1: 0.9, 0.03: 0.9}.get(probe.strength, 0.1))

    assert choose(design, SoftmaxLoss(labels, 2), score).strength == 0.1
    assert list(tried) == [1.0, 0.3, 0.1, 0.03, 0.01]  # weaker ones are left out after two that were no better


def test_few_rows_are_fitted_in_their_own_space():
    vectors, rows = some(40, 30), numpy.arange(20)
    labels = RANDOM.integers(0, 3, 20)
    design, loss = Design(vectors, rows, rows + 20), SoftmaxLoss(labels, 3)
    assert design.width == 120
    found = choose(design, loss, lambda probe: 0.0, (0.05,))
    plain = fit(design, loss, 0.05)
    numpy.testing.assert_allclose(found.logits(design), plain.logits(design), atol=0.02)
    assert found.weights.shape == plain.weights.shape


@pytest.mark.parametrize("kind", ["softmax", "weights"])
@pytest.mark.parametrize("paired", [False, True])
def test_weights_are_learnt_for_the_layer_that_knows(kind, paired):
    layers = some(3, 200, 4)
    left = numpy.arange(100)
    right = numpy.arange(100, 200) if paired else None
    known = layers[2][left] if right is None else numpy.abs(layers[2][left] - layers[2][right])
    labels = (known[:, 0] > numpy.median(known[:, 0])).astype(numpy.int64)
    weights = mixing.layer_weights(layers, left, right, SoftmaxLoss(labels, 2), 0.01, kind)
    assert numpy.abs(weights).argmax() == 2
    assert numpy.abs(weights[2]) > 3 * numpy.abs(weights[:2]).max()


@pytest.mark.parametrize("kind", ["softmax", "weights"])
def test_the_gradient_of_layer_weights(kind):
    free, d_weights = RANDOM.standard_normal(4 if kind == "softmax" else 3), RANDOM.standard_normal(3)
    expected = approx_fprime(free, lambda flat: float(mixing._weights(flat, kind) @ d_weights), 1e-7)
    numpy.testing.assert_allclose(mixing._back(free, d_weights, kind), expected, atol=1e-5)


@pytest.mark.parametrize("paired", [False, True])
def test_the_gradient_in_the_vectors(paired):
    vectors = RANDOM.standard_normal((5, 2))
    left = numpy.array([0, 1, 2, 0])
    right = numpy.array([3, 4, 4, 1]) if paired else None
    loss = SoftmaxLoss(numpy.array([0, 1, 1, 0]), 2)
    scaled = mixing.ScaledModel(vectors, left, right)
    flat = RANDOM.standard_normal(scaled.width + 1)

    def value(changed):
        return scaled(changed.reshape(5, 2), flat, loss, 0.1)[0]

    found = scaled(vectors, flat, loss, 0.1)
    numpy.testing.assert_allclose(
        found[1].reshape(-1), approx_fprime(vectors.reshape(-1), value, 1e-4), atol=5e-3, rtol=1e-2
    )
    expected = approx_fprime(flat, lambda other: scaled(vectors, other, loss, 0.1)[0], 1e-4)
    numpy.testing.assert_allclose(found[2], expected, atol=2e-3)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30))
def test_spearman_is_that_of_scipy(pairs):
    said, gold = numpy.array(pairs, numpy.float64).T
    found = spearman(said, gold)
    if len(set(said)) < 2 or len(set(gold)) < 2:
        assert found is None
    else:
        assert found == pytest.approx(spearmanr(said, gold).statistic)


def test_correlations_of_each_head():
    said, gold = numpy.array([1.0, 2, 3, 1, 2, 5, 5]), numpy.array([1.0, 2, 3, 2, 1, 1, 2])
    assert by_head(said, gold, list("aaabbcc")) == {"a": pytest.approx(1), "b": pytest.approx(-1)}  # c has no order


@given(st.integers(0, 2**16), st.integers(1, 8), st.integers(1, 4))
def test_the_threshold_of_typing_is_the_best_there_is(seed, rows, columns):
    random = numpy.random.default_rng(seed)
    shares = random.integers(0, 5, (rows, columns)) / 4
    right = random.integers(0, 2, (rows, columns)).astype(numpy.float64)
    gold = right.sum(axis=1) + random.integers(0, 2, rows)  # a label that no training row had
    found = micro_f1(label_counts(shares, best_threshold(shares, right, gold), right, gold))
    assert found == max(micro_f1(label_counts(shares, one, right, gold)) for one in numpy.unique(shares))


def test_micro_f1_is_that_of_scikit_learn():
    shares, right = RANDOM.random((20, 5)), RANDOM.integers(0, 2, (20, 5))
    counts = label_counts(shares, 0.4, right, right.sum(axis=1))
    assert micro_f1(counts) == pytest.approx(f1_score(right, shares >= 0.4, average="micro"))


def test_candidates_that_score_alike_share_what_is_right():
    starts, gold = numpy.array([0, 2, 5]), numpy.array([0, 3, 5])
    scores = numpy.array([0.9, 0.1, 0.5, 0.5, 0.5, 0.2, 0.3])
    assert chosen_right(scores, starts, gold).tolist() == [1, 1 / 3, 0]


def test_an_interval_is_over_rows_and_seeds():
    good, bad = numpy.ones(50), numpy.zeros(50)
    half = numpy.tile([0.0, 1.0], 50)
    alone = interval([Outcome(half, accuracy)], rounds=400)
    assert alone.low < 0.5 < alone.high and alone.high - alone.low == pytest.approx(0.2, abs=0.04)
    assert interval([Outcome(half, accuracy)], rounds=400) == alone
    both = interval([Outcome(good, accuracy), Outcome(bad, accuracy)], rounds=100)
    assert (both.low, both.high) == (0, 1)


@given(st.text())
def test_lower_case_keeps_every_offset(text):
    low = lowered(text)
    assert len(low) == len(text)
    assert all(one in (before, before.lower()) for one, before in zip(low, text, strict=True))
