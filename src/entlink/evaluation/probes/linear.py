"""Linear probes fitted exactly: L-BFGS over all training rows, the regularisation chosen outside of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

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
_TOLERANCE = 1e-6


class Probe(NamedTuple):
    """A fitted linear model: weights of the standardised features, a bias, and the strength it was fitted with."""

    weights: Floats
    bias: Floats
    strength: float

    def logits(self, design: Design) -> Floats:
        """A row of logits for each row of a design."""
        found: Floats = design.dot(self.weights) + self.bias
        return found


def fit(design: Design, loss: Loss, strength: float, start: Probe | None = None) -> Probe:
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
    flat = minimised(objective, first)
    return Probe(
        flat[:-columns].reshape(width, columns).astype(numpy.float32), flat[-columns:].astype(numpy.float32), strength
    )


def choose(
    design: Design,
    loss: Loss,
    score: Callable[[Probe], float],
    strengths: tuple[float, ...] = STRENGTHS,
    told: Callable[[int], None] = lambda done: None,
) -> Probe:
    """The probe of the strength that scores best where `score` looks; of equals, the stronger."""
    best: Probe | None = None
    probe: Probe | None = None
    top, worse = -numpy.inf, 0
    for done, strength in enumerate(strengths):
        told(done)
        probe = fit(design, loss, strength, probe)
        found = score(probe)
        if found > top:
            best, top, worse = probe, found, 0
        else:
            worse += 1
        if worse >= _PATIENCE:
            break
    assert best is not None
    return best


def minimised(objective: Callable[[Floats], tuple[float, Floats]], first: Floats, steps: int = _STEPS) -> Floats:
    """Where the objective, with its gradient, is least."""
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise MissingExtraError("fitting probes", "eval") from None
    options = {"maxiter": steps, "maxcor": _PAST, "ftol": _TOLERANCE, "gtol": 1e-5}
    found: Floats = minimize(objective, first, jac=True, method="L-BFGS-B", options=options).x
    return found
