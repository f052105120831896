"""Linear probes fitted exactly: L-BFGS over all training rows, the regularisation chosen outside of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy

from entlink.errors import MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.evaluation.probes.design import Design
    from entlink.evaluation.probes.losses import Loss

    Floats = NDArray[Any]

STRENGTHS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # from strong to weak, each begun from the one before
_PATIENCE = 2  # strengths that may be worse before weaker ones are left out
_STEPS, _PAST = 150, 8
_TOLERANCE, _TOLERANCE_OF_MANY = 1e-6, 1e-4  # of the loss: with many columns, scores stop to move long before
_MANY = 8  # columns
_FEW = 3  # so many times as many features as rows, and it is quicker to fit in the space of the rows


class Probe(NamedTuple):
    """A fitted linear model: weights of the standardised features, a bias, and the strength it was fitted with."""

    weights: Floats
    bias: Floats
    strength: float

    def logits(self, design: Design) -> Floats:
        """A row of logits for each row of a design."""
        found: Floats = design.dot(self.weights) + self.bias
        return found


class Features(Protocol):
    """What is multiplied: a design, or one with fewer columns."""

    width: int

    def dot(self, weights: Floats) -> Floats: ...

    def back(self, errors: Floats) -> Floats: ...


class RowSpace:
    """The features of few rows in as many columns: the weights that are best are sums of the rows.

    An orthogonal matrix turns weights of the few columns into those of the features, of the same length.
    """

    def __init__(self, design: Design) -> None:
        self._turned, self._rows = numpy.linalg.qr(design.back(numpy.eye(design.rows, dtype=numpy.float32)))
        self.width = self._turned.shape[1]

    def dot(self, weights: Floats) -> Floats:
        found: Floats = self._rows.T @ weights
        return found

    def back(self, errors: Floats) -> Floats:
        found: Floats = self._rows @ errors
        return found

    def widened(self, probe: Probe) -> Probe:
        """The same probe with weights of the features themselves."""
        return probe._replace(weights=self._turned @ probe.weights)


def fit(design: Features, loss: Loss, strength: float, start: Probe | None = None) -> Probe:
    """Minimise the loss plus half of `strength` times the squared weights; the bias is free."""
    columns, width = loss.columns, design.width

    def objective(flat: Floats) -> tuple[float, Floats]:
        weights, bias = flat[:-columns].reshape(width, columns).astype(numpy.float32), flat[-columns:]
        value, errors = loss(design.dot(weights) + bias.astype(numpy.float32))
        gradient = numpy.empty_like(flat)
        gradient[:-columns] = (design.back(errors) + strength * weights).reshape(-1)
        gradient[-columns:] = errors.sum(axis=0)
        return value + 0.5 * strength * float(numpy.vdot(weights, weights)), gradient

    if start is None:
        first = numpy.zeros(width * columns + columns)
    else:
        first = numpy.concatenate([start.weights.reshape(-1), start.bias]).astype(numpy.float64)
    flat = minimised(objective, first, tolerance=_TOLERANCE if columns < _MANY else _TOLERANCE_OF_MANY)
    return Probe(
        flat[:-columns].reshape(width, columns).astype(numpy.float32), flat[-columns:].astype(numpy.float32), strength
    )


def choose(
    design: Design,
    loss: Loss,
    score: Callable[[Probe], float],
    strengths: tuple[float, ...] = STRENGTHS,
) -> Probe:
    """The probe of the strength that scores best where `score` looks; of equals, the stronger."""
    best: Probe | None = None
    probe: Probe | None = None
    top, worse = -numpy.inf, 0
    space = RowSpace(design) if design.rows * _FEW < design.width else None
    for strength in strengths:
        probe = fit(space or design, loss, strength, probe)
        whole = space.widened(probe) if space else probe
        found = score(whole)
        if found > top:
            best, top, worse = whole, found, 0
        else:
            worse += 1
        if worse >= _PATIENCE:
            break
    assert best is not None
    return best


def minimised(
    objective: Callable[[Floats], tuple[float, Floats]],
    first: Floats,
    steps: int = _STEPS,
    tolerance: float = _TOLERANCE,
) -> Floats:
    """Where the objective, with its gradient, is least."""
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise MissingExtraError("fitting probes", "eval") from None
    options = {"maxiter": steps, "maxcor": _PAST, "ftol": tolerance, "gtol": 1e-5}
    found: Floats = minimize(objective, first, jac=True, method="L-BFGS-B", options=options).x
    return found
