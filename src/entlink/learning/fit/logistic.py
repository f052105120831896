"""Logistic regression by Newton's method, for calibration, judged NIL, detectors and personal mentions alike."""

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
    rows = numpy.column_stack([values / scale, numpy.ones(len(values))])
    pulls = numpy.array([2 * pull] * values.shape[1] + [0.0])
    not_below_0 = numpy.array([True] * values.shape[1] + [False])
    found = newton(rows, right, pulls, importance=importance / importance.sum(), not_below_0=not_below_0)
    weights = [float(weight) for weight in numpy.where(spread > 0, found[:-1] / scale, 0.0)]
    return Fitted(weights, float(found[-1]))


def newton(
    rows: NDArray[Any],
    right: NDArray[Any],
    pulls: NDArray[Any],
    *,
    importance: NDArray[Any] | None = None,
    origin: NDArray[Any] | None = None,
    not_below_0: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """The weights of the columns of `rows` under which `right` is likeliest; `pulls` draw each to `origin`, or 0."""
    import numpy

    counts = numpy.ones(len(rows)) if importance is None else importance
    start = numpy.zeros(rows.shape[1]) if origin is None else origin
    bounded = numpy.zeros(rows.shape[1], bool) if not_below_0 is None else not_below_0

    def loss(weights: NDArray[Any]) -> float:
        sums = rows @ weights
        fit = counts @ (numpy.logaddexp(0, sums) - right * sums)
        return float(fit + (pulls * (weights - start) ** 2).sum() / 2)

    found: NDArray[Any] = start.astype(numpy.float64)
    before = loss(found)
    for _ in range(_STEPS):
        chances = logistic(rows @ found)
        gradient = rows.T @ (counts * (chances - right)) + pulls * (found - start)
        curvature = (rows * (counts * chances * (1 - chances))[:, None]).T @ rows + numpy.diag(pulls + _SMALL)
        free = ~bounded | (found > 0) | (gradient < 0)
        step = numpy.zeros_like(found)
        step[free] = numpy.linalg.solve(curvature[numpy.ix_(free, free)], gradient[free])
        for _ in range(_HALVINGS):  # far from the best, a whole step may lead astray
            after = numpy.where(bounded, numpy.maximum(found - step, 0.0), found - step)
            if (reached := loss(after)) <= before:
                break
            step = step / 2
        else:
            break
        moved = float(numpy.abs(after - found).max(initial=0.0))
        found, before = after, reached
        if moved < _SMALL:
            break
    return found


def logistic(sums: NDArray[Any]) -> NDArray[Any]:
    """Sums of evidence to chances."""
    import numpy

    chances: NDArray[Any] = 1 / (1 + numpy.exp(-numpy.clip(sums, -500, 500)))
    return chances


def numpy_or_told() -> Any:
    """numpy, or the error that says how to get it."""
    try:
        import numpy
    except ImportError as problem:
        raise MissingExtraError("calibration", "eval") from problem
    return numpy
