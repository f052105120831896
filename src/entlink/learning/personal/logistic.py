"""Logistic regressions over named features, fitted by Newton's method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEPS = 30
_SMALL = 1e-8
_DECIMALS = 4


def fit_logistic(
    rows: Sequence[Mapping[str, float]], right: Sequence[bool], *, pull: float = 1.0, rarest: int = 1
) -> dict[str, float]:
    """Weights that tell the right rows from the others.

    `pull` draws all but the bias to 0; a feature of fewer than `rarest` rows is left out.
    """
    import numpy

    counts = Counter(name for row in rows for name in row)
    names = sorted(name for name, count in counts.items() if count >= rarest)
    places = {name: place for place, name in enumerate(names)}
    values = numpy.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        for name, value in row.items():
            if name in places:
                values[number, places[name]] = value
    pulls = numpy.array([0.01 * pull if name == "bias" else pull for name in names])
    weights = _fitted(values, numpy.asarray(right, numpy.float64), pulls)
    return rounded(dict(zip(names, weights.tolist(), strict=True)))


def _fitted(values: NDArray[Any], right: NDArray[Any], pulls: NDArray[Any]) -> NDArray[Any]:
    import numpy

    weights: NDArray[Any] = numpy.zeros(values.shape[1])
    for _ in range(_STEPS):
        chances = 1 / (1 + numpy.exp(-numpy.clip(values @ weights, -30, 30)))
        gradient = values.T @ (chances - right) + pulls * weights
        curvature = (values * (chances * (1 - chances))[:, None]).T @ values + numpy.diag(pulls)
        step = numpy.linalg.solve(curvature, gradient)
        weights = weights - step
        if numpy.abs(step).max(initial=0.0) < _SMALL:
            break
    return weights


def rounded(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights to write into a file: the same on every machine, though the last digits of a sum are not."""
    return {name: round(weight, _DECIMALS) for name, weight in sorted(weights.items()) if round(weight, _DECIMALS)}
