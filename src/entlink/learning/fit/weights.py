"""Weights of a sum of evidence, fitted so that the right candidate comes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from entlink.errors import InputError
from entlink.learning.fit.tables import EvidenceTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEPS = 50
_HALVINGS = 20
_SMALL = 1e-7
_PULL = 5.0  # over the number of mentions: a thousandth with 5,000, where it hardly matters


def fit_weights(
    table: EvidenceTable,
    start: Sequence[float],
    *,
    pull: float | None = None,
    fixed: Sequence[bool] | None = None,
    importance: Sequence[float] | None = None,
) -> list[float]:
    """The weights most likely to have chosen the right candidates (a softmax over each list), by Newton's method.

    Of a list with several right ones, any may be chosen: their chances add up.
    `pull` draws them towards `start`, in units of each feature's spread; by default the more the fewer mentions there
    are, so that with little data they stay near it.
    `fixed` ones stay as they are. `importance` is how much each mention counts, by default all alike.
    """
    import numpy

    reached = table.reached
    if not reached.any():
        raise InputError("no mention has its right entity among its candidates: there is nothing to fit weights to")
    values = table.values[reached].astype(numpy.float64)
    present, right = table.present[reached], table.right[reached]
    shares = numpy.ones(len(table.right)) if importance is None else numpy.asarray(importance, numpy.float64)
    shares = shares[reached] / shares[reached].sum()
    pull = _PULL / len(values) if pull is None else pull
    free = numpy.ones(values.shape[-1], bool) if fixed is None else ~numpy.asarray(fixed)
    spread = values[present].std(0)
    free &= spread > 0  # a feature that never differs can decide nothing
    origin = numpy.asarray(start, numpy.float64)
    weights = origin.copy()
    scale = numpy.where(spread > 0, spread, 1.0) ** 2

    def objective(tried: NDArray[Any]) -> float:
        return _loss(values, present, right, shares, tried) + float(pull * (scale * (tried - origin) ** 2).sum())

    for _ in range(_STEPS):
        gradient, curvature = _derivatives(values, present, right, shares, weights)
        gradient += 2 * pull * scale * (weights - origin)
        curvature += numpy.diag(2 * pull * scale)
        step = numpy.zeros_like(weights)
        step[free] = numpy.linalg.solve(curvature[numpy.ix_(free, free)], gradient[free])
        weights -= _shortened(objective, weights, step, float(gradient @ step))
        if numpy.abs(step * numpy.sqrt(scale)).max(initial=0.0) < _SMALL:
            break
    return [float(weight) for weight in weights]


def _derivatives(
    values: NDArray[Any],
    present: NDArray[Any],
    right: NDArray[Any],
    shares: NDArray[Any],
    weights: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Gradient and Hessian of the mean loss; where several are right, a bound on the Hessian instead."""
    import numpy

    chances = _chances(values, present, weights)
    chosen = _chances(values, right, weights)  # if it is one of the right ones
    expected = numpy.einsum("mc,mcf->mf", chances, values)
    gradient = shares @ (expected - numpy.einsum("mc,mcf->mf", chosen, values))
    centred = (values - expected[:, None]) * numpy.sqrt(chances * shares[:, None])[..., None]
    flat = centred.reshape(-1, centred.shape[-1])
    return gradient, flat.T @ flat


def _shortened(
    objective: Callable[[NDArray[Any]], float], weights: NDArray[Any], step: NDArray[Any], slope: float
) -> NDArray[Any]:
    """The step, halved until it pays: far from the best, Newton's steps are too long."""
    before = objective(weights)
    for _ in range(_HALVINGS):
        if objective(weights - step) <= before - 1e-4 * slope:
            break
        step, slope = step / 2, slope / 2
    return step


def _loss(
    values: NDArray[Any], present: NDArray[Any], right: NDArray[Any], shares: NDArray[Any], weights: NDArray[Any]
) -> float:
    import numpy

    chances = (_chances(values, present, weights) * right).sum(1)
    return float(-shares @ numpy.log(numpy.maximum(chances, 1e-300)))


def _chances(values: NDArray[Any], present: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    import numpy

    scores = numpy.where(present, values @ weights, -numpy.inf)
    powers = numpy.exp(scores - scores.max(1, keepdims=True))
    found: NDArray[Any] = powers / powers.sum(1, keepdims=True)
    return found
