"""A logistic model with no weight below 0, fitted by Newton's method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from entlink.errors import MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEPS = 100
_HALVINGS = 30
_SMALL = 1e-9


class Fitted(NamedTuple):
    """The weights of some measures, in their order, and what is added to their sum."""

    weights: list[float]
    bias: float


def fit_logistic(
    values: NDArray[Any], right: NDArray[Any], importance: NDArray[Any], *, pull: float = 1e-3
) -> Fitted:
    """The weights, none below 0, and the bias under which what happened is likeliest.

    `values` is mentions × measures, `right` the outcomes (or their chances), `importance` what each mention counts.
    `pull` draws weights towards 0, in units of each measure's spread.
    """
    numpy = numpy_or_told()
    spread = values.std(0)
    scale = numpy.where(spread > 0, spread, 1.0)
    scaled = numpy.column_stack([values / scale, numpy.ones(len(values))])
    shares = importance / importance.sum()
    ridge = numpy.array([2 * pull] * values.shape[1] + [0.0])
    found = numpy.zeros(values.shape[1] + 1)
    for _ in range(_STEPS):
        chances = _chances(scaled, found)
        gradient = scaled.T @ (shares * (chances - right)) + ridge * found
        curvature = (scaled * (shares * chances * (1 - chances))[:, None]).T @ scaled + numpy.diag(ridge + _SMALL)
        free = (found > 0) | (gradient < 0)
        free[-1] = True
        step = numpy.zeros_like(found)
        step[free] = numpy.linalg.solve(curvature[numpy.ix_(free, free)], gradient[free])
        after = _improved(scaled, right, shares, ridge, found, step)
        moved = float(numpy.abs(after - found).max())
        found = after
        if moved < _SMALL:
            break
    weights = [float(weight) for weight in numpy.where(spread > 0, found[:-1] / scale, 0.0)]
    return Fitted(weights, float(found[-1]))


def _improved(
    scaled: NDArray[Any],
    right: NDArray[Any],
    shares: NDArray[Any],
    ridge: NDArray[Any],
    found: NDArray[Any],
    step: NDArray[Any],
) -> NDArray[Any]:
    """What the step leads to with no weight below 0; the step is halved until the loss is no larger."""
    import numpy

    def loss(weights: NDArray[Any]) -> float:
        sums = scaled @ weights
        return float(shares @ (numpy.logaddexp(0, sums) - right * sums) + (ridge * weights**2).sum() / 2)

    before = loss(found)
    for _ in range(_HALVINGS):
        after: NDArray[Any] = found - step
        after[:-1] = numpy.maximum(after[:-1], 0.0)
        if loss(after) <= before:
            return after
        step = step / 2
    return found


def _chances(scaled: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    import numpy

    chances: NDArray[Any] = 1 / (1 + numpy.exp(-numpy.clip(scaled @ weights, -500, 500)))
    return chances


def numpy_or_told() -> Any:
    """numpy, or the error that says how to get it."""
    try:
        import numpy
    except ImportError as problem:
        raise MissingExtraError("calibration", "eval") from problem
    return numpy
