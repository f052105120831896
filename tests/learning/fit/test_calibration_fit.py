"""The logistic fit against scikit-learn and scipy."""

from __future__ import annotations

import numpy
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from entlink.learning.fit.logistic import fit_logistic


def cases(seed: int, weights: list[float], count: int = 800) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    random = numpy.random.default_rng(seed)
    values = random.normal(size=(count, len(weights))) * (1.0, 3.0, 0.2)[: len(weights)]
    chances = 1 / (1 + numpy.exp(-(values @ weights - 0.5)))
    return values, random.random(count) < chances, random.uniform(0.5, 2.0, count)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_scikit_learns_where_no_weight_is_held(seed):
    values, right, importance = cases(seed, [1.0, 0.4, 4.0])
    fitted = fit_logistic(values, right, importance, pull=0.0)
    theirs = LogisticRegression(C=1e12, tol=1e-10, max_iter=10_000).fit(values, right, importance)
    assert fitted.weights == pytest.approx(list(theirs.coef_[0]), rel=1e-3)
    assert fitted.bias == pytest.approx(float(theirs.intercept_[0]), rel=1e-3)


@pytest.mark.parametrize("pull", [1e-3, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_best_that_has_no_weight_below_zero(seed, pull):
    values, right, importance = cases(seed, [1.0, -0.4, 4.0])
    fitted = fit_logistic(values, right, importance, pull=pull)
    spread, shares = values.std(0), importance / importance.sum()

    def loss(at: numpy.ndarray) -> float:
        sums = (values / spread) @ at[:-1] + at[-1]
        return float(shares @ (numpy.logaddexp(0, sums) - right * sums) + pull * (at[:-1] ** 2).sum())

    best = minimize(loss, numpy.zeros(4), method="L-BFGS-B", bounds=[(0, None)] * 3 + [(None, None)], tol=1e-14)
    ours = numpy.array([*(numpy.array(fitted.weights) * spread), fitted.bias])
    assert loss(ours) <= best.fun + 1e-9
    assert min(fitted.weights) == fitted.weights[1] == 0.0


def test_what_never_differs_weighs_nothing():
    values, right, importance = cases(0, [1.0, 0.4])
    fitted = fit_logistic(numpy.column_stack([values, numpy.full(len(values), 7.0)]), right, importance)
    assert fitted.weights[2] == 0.0


def test_all_right_is_nearly_certain():
    values = numpy.array([[0.1], [0.5], [0.9]])
    fitted = fit_logistic(values, numpy.full(3, 0.8), numpy.ones(3))
    assert 1 / (1 + numpy.exp(-fitted.bias)) == pytest.approx(0.8, abs=1e-3)


def test_numbers_that_are_far_apart_do_not_overflow():
    values, right, importance = cases(1, [1.0, 0.4, 4.0])
    far = fit_logistic(values * (1e6, 1e-6, 1.0), right, importance)
    near = fit_logistic(values, right, importance)
    assert numpy.array(far.weights) * (1e6, 1e-6, 1.0) == pytest.approx(near.weights, rel=1e-4)
