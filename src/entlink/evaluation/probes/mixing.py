"""Weights of layers learnt by gradient, together with a linear probe on what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy

from entlink.evaluation.probes.design import Design, mixed_features
from entlink.evaluation.probes.linear import minimised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.evaluation.probes.inputs import Integers
    from entlink.evaluation.probes.losses import Loss

    Floats = NDArray[Any]

MOST_ROWS = 20_000  # rows that weights are learnt on; the probe itself is fitted on all
_STEPS = 60


def mixed(layers: Floats, weights: Floats) -> Floats:
    """The layers added up with their weights."""
    found: Floats = numpy.tensordot(weights.astype(numpy.float32), layers, axes=1)
    return found


def even_weights(layers: int) -> Floats:
    """All layers alike: where learning begins, and what is compared where nothing is learnt."""
    return numpy.full(layers, 1 / layers)


def layer_weights(
    layers: Floats,
    left: Integers,
    right: Integers | None,
    loss: Loss,
    strength: float,
    mixing: Literal["softmax", "weights"],
) -> Floats:
    """A weight for each layer, learnt on the training rows.

    "softmax" is a softmax of free numbers, times a scalar; "weights" are free themselves.
    """
    used, places = numpy.unique(left if right is None else numpy.concatenate([left, right]), return_inverse=True)
    own = numpy.ascontiguousarray(layers[:, used])
    left, right = places[: len(left)], None if right is None else places[len(left) :]
    model = ScaledModel(mixed(own, even_weights(len(own))), left, right)
    count, columns = len(own), loss.columns
    extra = 1 if mixing == "softmax" else 0

    def objective(flat: Floats) -> tuple[float, Floats]:
        weights = _weights(flat[: count + extra], mixing)
        value, d_vectors, d_model = model(mixed(own, weights), flat[count + extra :], loss, strength)
        d_weights = numpy.einsum("lnd,nd->l", own, d_vectors, optimize=True)
        gradient = numpy.concatenate([_back(flat[: count + extra], d_weights, mixing), d_model])
        return value, gradient

    first = numpy.zeros(count + extra + model.width * columns + columns)
    if mixing == "softmax":
        first[count] = 1.0
    else:
        first[:count] = even_weights(count)
    return _weights(minimised(objective, first, _STEPS)[: count + extra], mixing)


def _weights(free: Floats, mixing: str) -> Floats:
    if mixing != "softmax":
        return free
    shares = numpy.exp(free[:-1] - free[:-1].max())
    found: Floats = free[-1] * shares / shares.sum()
    return found


def _back(free: Floats, d_weights: Floats, mixing: str) -> Floats:
    """The gradient in the free numbers."""
    if mixing != "softmax":
        return d_weights
    shares = _weights(numpy.append(free[:-1], 1.0), mixing)
    inner = float(shares @ d_weights)
    return numpy.append(free[-1] * shares * (d_weights - inner), inner)


class ScaledModel:
    """A probe on vectors that are learnt with it: features are standardised as they are where learning begins.

    Called, it gives the loss, its gradient in the vectors, and that in the flat weights and bias of the probe.
    """

    def __init__(self, begun: Floats, left: Integers, right: Integers | None) -> None:
        design = Design(begun, left, right)
        self.mean, self.scale, self.width = design.mean, design.scale, design.width
        self._left, self._right = left, right

    def __call__(self, vectors: Floats, flat: Floats, loss: Loss, strength: float) -> tuple[float, Floats, Floats]:
        """What it costs to be as `vectors` and `flat` are."""
        columns = loss.columns
        weights, bias = flat[:-columns].reshape(self.width, columns).astype(numpy.float32), flat[-columns:]
        scaled = weights / self.scale[:, None]
        first = vectors[self._left]
        second = None if self._right is None else vectors[self._right]
        features = first if second is None else pair_features(first, second)
        value, errors = loss(features @ scaled + (bias - self.mean @ scaled).astype(numpy.float32))
        d_scaled = features.T @ errors - numpy.outer(self.mean, errors.sum(axis=0))
        d_weights = d_scaled / self.scale[:, None] + strength * weights
        d_vectors = _scattered(errors @ scaled.T, first, second, self._left, self._right, vectors.shape)
        gradient = numpy.concatenate([d_weights.reshape(-1), errors.sum(axis=0)]).astype(numpy.float64)
        return value + 0.5 * strength * float(numpy.vdot(weights, weights)), d_vectors, gradient


def pair_features(first: Floats, second: Floats) -> Floats:
    """[x1, x2, x1⊙x2, |x1−x2|] of each row."""
    return numpy.concatenate([first, second, mixed_features(first, second)], axis=1)


def pair_gradients(d_features: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """The gradient in both vectors of each row, from that in their features."""
    size = first.shape[1]
    parts = [d_features[:, at * size : (at + 1) * size] for at in range(4)]
    signs = numpy.sign(first - second) * parts[3]
    return parts[0] + parts[2] * second + signs, parts[1] + parts[2] * first - signs


def _scattered(
    d_features: Floats,
    first: Floats,
    second: Floats | None,
    left: Integers,
    right: Integers | None,
    shape: tuple[int, ...],
) -> Floats:
    if second is None or right is None:
        return summed_rows(d_features, left, shape)
    d_first, d_second = pair_gradients(d_features, first, second)
    return summed_rows(numpy.concatenate([d_first, d_second]), numpy.concatenate([left, right]), shape)


def summed_rows(rows: Floats, places: Integers, shape: tuple[int, ...]) -> Floats:
    """Rows of one place added up."""
    order = numpy.argsort(places, kind="stable")
    distinct, starts = numpy.unique(places[order], return_index=True)
    found = numpy.zeros(shape, numpy.float32)
    found[distinct] = numpy.add.reduceat(rows[order], starts, axis=0)
    return found
