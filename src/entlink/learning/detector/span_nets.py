"""Small nets trained by gradient descent: one hidden layer over standardised columns, without torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from entlink.learning.detector.adam import Adam
from entlink.mentions.span_model import FURTHEST, Net

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float32]

HIDDEN = 64
_EPOCHS, _BATCH = 15, 256
_RATE, _DECAY = 1e-3, 0.1
_DROPPED_INPUT, _DROPPED_HIDDEN = 0.5, 0.5
_COLUMNS_AT_ONCE = 128


def fit_net(
    rows: Floats, right: NDArray[numpy.bool_], seed: int, told: Callable[[float], None] = lambda share: None
) -> Net:
    """A net that tells the right rows from the others; AdamW, with a rate that falls to nothing."""
    import numpy

    random = numpy.random.default_rng(seed)
    width = rows.shape[1]
    # Some columns at a time: numpy makes a copy of what it takes the deviation of.
    parts = [rows[:, start : start + _COLUMNS_AT_ONCE] for start in range(0, width, _COLUMNS_AT_ONCE)]
    mean = numpy.concatenate([part.mean(axis=0) for part in parts])
    spread = numpy.concatenate([part.std(axis=0) for part in parts])
    spread = numpy.where(spread > 1e-6, spread, 1.0).astype(numpy.float32)
    weights = [
        (random.standard_normal((width, HIDDEN)) / numpy.sqrt(width)).astype(numpy.float32),
        numpy.zeros(HIDDEN, numpy.float32),
        (random.standard_normal(HIDDEN) / numpy.sqrt(HIDDEN)).astype(numpy.float32),
        numpy.full(1, numpy.log((right.sum() + 1) / ((~right).sum() + 1)), numpy.float32),
    ]
    adam = Adam(weights, _DECAY)
    steps = _EPOCHS * -(-len(rows) // _BATCH)
    for epoch in range(_EPOCHS):
        order = random.permutation(len(rows))
        for number, start in enumerate(range(0, len(rows), _BATCH)):
            chosen = order[start : start + _BATCH]
            batch = numpy.clip((rows[chosen] - mean) / spread, -FURTHEST, FURTHEST)
            done = epoch * -(-len(rows) // _BATCH) + number
            adam.step(weights, _gradients(weights, batch, right[chosen], random), _RATE * (1 - done / steps))
        told((epoch + 1) / _EPOCHS)
    hidden, hidden_bias, output, output_bias = weights
    return Net(mean.astype(numpy.float32), spread, hidden, hidden_bias, output, output_bias)


def _gradients(
    weights: list[Floats], batch: Floats, right: NDArray[numpy.bool_], random: numpy.random.Generator
) -> list[Floats]:
    """Those of the mean cross-entropy, with some inputs and hidden units left out by chance."""
    import numpy

    hidden, hidden_bias, output, output_bias = weights
    inputs = batch * _kept(batch.shape, _DROPPED_INPUT, random)
    before = inputs @ hidden + hidden_bias
    kept = _kept(before.shape, _DROPPED_HIDDEN, random)
    active = numpy.maximum(before, 0.0) * kept
    logits = active @ output + output_bias
    wrong = ((1.0 / (1.0 + numpy.exp(-logits)) - right) / len(batch)).astype(numpy.float32)
    back = numpy.outer(wrong, output) * kept * (before > 0)
    return [inputs.T @ back, back.sum(axis=0), active.T @ wrong, wrong.sum(keepdims=True)]


def _kept(shape: tuple[int, ...], dropped: float, random: numpy.random.Generator) -> Floats:
    import numpy

    found: Floats = (random.random(shape, numpy.float32) >= dropped).astype(numpy.float32) / (1 - dropped)
    return found
