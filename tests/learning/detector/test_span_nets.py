"""Small nets: their gradients, what they can learn, and that chance depends on the seed alone."""

from __future__ import annotations

import numpy
import pytest

from entlink.learning.detector import span_nets
from entlink.learning.detector.adam import Adam
from entlink.learning.detector.span_nets import fit_net
from entlink.mentions.span_model import Net


def rows_of(count, width=4, seed=0):
    return numpy.random.default_rng(seed).standard_normal((count, width)).astype(numpy.float32)


def share_right(net, rows, right):
    return float(((net.logits(rows) > 0) == right).mean())


def test_a_line_is_learnt():
    rows, fresh = rows_of(3000), rows_of(500, seed=1)
    rows = rows * 7 + 30  # they are standardised
    fresh = fresh * 7 + 30
    net = fit_net(rows, rows[:, 0] > rows[:, 1], 0)
    assert share_right(net, fresh, fresh[:, 0] > fresh[:, 1]) > 0.9


def test_what_no_line_parts_is_learnt(monkeypatch):
    """Exclusive or: of two signs exactly one is above 0."""
    monkeypatch.setattr(span_nets, "_DROPPED_INPUT", 0.0)
    monkeypatch.setattr(span_nets, "_EPOCHS", 30)
    rows, fresh = rows_of(4000, 2), rows_of(500, 2, seed=1)
    net = fit_net(rows, (rows[:, 0] > 0) != (rows[:, 1] > 0), 0)
    assert share_right(net, fresh, (fresh[:, 0] > 0) != (fresh[:, 1] > 0)) > 0.93


def test_the_gradients_are_those_of_finite_differences(monkeypatch):
    monkeypatch.setattr(span_nets, "_DROPPED_INPUT", 0.0)
    monkeypatch.setattr(span_nets, "_DROPPED_HIDDEN", 0.0)
    random = numpy.random.default_rng(3)
    weights = [random.standard_normal(shape) for shape in ((3, 5), (5,), (5,), (1,))]
    batch, right = random.standard_normal((7, 3)), random.random(7) < 0.4

    def loss():
        hidden, hidden_bias, output, output_bias = weights
        logits = numpy.maximum(batch @ hidden + hidden_bias, 0) @ output + output_bias
        return float(numpy.mean(numpy.logaddexp(0, logits) - right * logits))

    for weight, gradient in zip(weights, span_nets._gradients(weights, batch, right, random), strict=True):
        assert gradient.shape == weight.shape
        for place in numpy.ndindex(weight.shape):
            kept = weight[place]
            around = []
            for step in (1e-5, -1e-5):
                weight[place] = kept + step
                around.append(loss())
            weight[place] = kept
            assert gradient[place] == pytest.approx((around[0] - around[1]) / 2e-5, abs=1e-5)


def test_what_is_left_out_by_chance_keeps_the_mean():
    kept = span_nets._kept((400, 300), 0.5, numpy.random.default_rng(0))
    assert set(numpy.unique(kept).tolist()) == {0.0, 2.0}
    assert kept.mean() == pytest.approx(1, abs=0.02)


def test_a_step_of_adam_worked_out_by_hand():
    weights = [numpy.array([[1.0]]), numpy.array([1.0])]
    adam = Adam(weights, 0.1)
    adam.step(weights, [numpy.array([[0.5]]), numpy.array([-0.5])], 0.1)
    # The first step is as long as the rate, whatever the gradient; a matrix decays by rate times 0.1 before.
    assert weights[0] == pytest.approx(numpy.array([[1.0 * (1 - 0.01) - 0.1]]))
    assert weights[1] == pytest.approx(numpy.array([1.1]))


def test_the_seed_decides():
    rows = rows_of(600)
    right = rows[:, 0] > 0.5
    one, again, other = (fit_net(rows, right, seed) for seed in (4, 4, 5))
    assert all(map(numpy.array_equal, one, again))
    assert not numpy.array_equal(one.hidden, other.hidden)


def test_columns_that_say_nothing_and_rows_that_are_all_alike():
    rows = numpy.concatenate((rows_of(300, 200), numpy.full((300, 1), 7.0, numpy.float32)), axis=1)
    shares = []
    net = fit_net(rows, numpy.zeros(300, bool), 0, shares.append)
    assert isinstance(net, Net)
    assert net.spread[-1] == 1.0
    assert net.mean == pytest.approx(rows.mean(axis=0), abs=1e-5)
    assert net.spread[:-1] == pytest.approx(rows[:, :-1].std(axis=0), abs=1e-5)
    assert numpy.isfinite(net.logits(rows)).all()
    assert (net.logits(rows) < 0).all()
    assert shares[-1] == 1.0
    assert shares == sorted(shares)
