"""Logistic regressions over rows of named features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from entlink.learning.fit.logistic import newton

_DECIMALS = 4


def fit_named(
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
    weights = newton(values, numpy.asarray(right, numpy.float64), pulls)
    return rounded(dict(zip(names, weights.tolist(), strict=True)))


def rounded(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights to write into a file: the same on every machine, though the last digits of a sum are not."""
    return {name: round(weight, _DECIMALS) for name, weight in sorted(weights.items()) if round(weight, _DECIMALS)}
