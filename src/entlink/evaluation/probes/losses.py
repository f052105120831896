"""What a linear probe minimises, each with its gradient: a mean over rows of log losses of the logits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.evaluation.probes.inputs import Integers

    Floats = NDArray[Any]


class Loss(Protocol):
    """Logits of all rows to the mean loss and its gradient in the logits; `columns` is how many logits a row has."""

    columns: int

    def __call__(self, logits: Floats) -> tuple[float, Floats]: ...

    def taken(self, rows: Integers) -> Loss:
        """The same over some of the rows, of a choice over some of its mentions."""


class SoftmaxLoss:
    """One of several labels is right; of two, one logit says which."""

    def __init__(self, labels: Integers, classes: int) -> None:
        self._labels, self._classes = labels, classes
        self.columns = 1 if classes == 2 else classes

    def __call__(self, logits: Floats) -> tuple[float, Floats]:
        if self.columns == 1:
            return _sigmoid_loss(logits, self._labels[:, None].astype(numpy.float32))
        shifted = logits - logits.max(axis=1, keepdims=True)
        shares = numpy.exp(shifted)
        totals = shares.sum(axis=1, keepdims=True)
        rows = numpy.arange(len(logits))
        loss = float((numpy.log(totals[:, 0]) - shifted[rows, self._labels]).mean(dtype=numpy.float64))
        shares /= totals
        shares[rows, self._labels] -= 1
        shares /= len(logits)
        return loss, shares

    def taken(self, rows: Integers) -> SoftmaxLoss:
        return SoftmaxLoss(self._labels[rows], self._classes)


class SigmoidLoss:
    """Each label is right or not, by itself; `right` has a row of zeros and ones for each row."""

    def __init__(self, right: Floats) -> None:
        self._right = right.astype(numpy.float32)
        self.columns = right.shape[1]

    def __call__(self, logits: Floats) -> tuple[float, Floats]:
        return _sigmoid_loss(logits, self._right)

    def taken(self, rows: Integers) -> SigmoidLoss:
        return SigmoidLoss(self._right[rows])


class ChoiceLoss:
    """One of the candidates of each mention is right: the rows from one of `starts` to the next."""

    columns = 1

    def __init__(self, starts: Integers, gold: Integers, rows: int) -> None:
        self._starts, self._gold, self._rows = starts, gold, rows
        self._sizes = numpy.diff(numpy.append(starts, rows))

    def __call__(self, logits: Floats) -> tuple[float, Floats]:
        shares = group_shares(logits[:, 0], self._starts, self._rows)
        loss = float(-numpy.log(numpy.maximum(shares[self._gold], 1e-30)).mean(dtype=numpy.float64))
        shares[self._gold] -= 1
        return loss, (shares / len(self._starts)).astype(numpy.float32)[:, None]

    def taken(self, rows: Integers) -> ChoiceLoss:
        sizes = self._sizes[rows]
        starts = numpy.concatenate([[0], numpy.cumsum(sizes)[:-1]])
        return ChoiceLoss(starts, starts + (self._gold - self._starts)[rows], int(sizes.sum()))


def group_shares(logits: Floats, starts: Integers, rows: int) -> Floats:
    """The softmax within each group of rows."""
    sizes = numpy.diff(numpy.append(starts, rows))
    shifted = logits - numpy.repeat(numpy.maximum.reduceat(logits, starts), sizes)
    shares = numpy.exp(shifted)
    found: Floats = shares / numpy.repeat(numpy.add.reduceat(shares, starts), sizes)
    return found


def sigmoid(logits: Floats) -> Floats:
    """The probability of a logit, without overflow."""
    found: Floats = 0.5 * (1 + numpy.tanh(0.5 * logits))
    return found


def _sigmoid_loss(logits: Floats, right: Floats) -> tuple[float, Floats]:
    """The log losses of all columns of a row are added up."""
    size = len(logits)
    small = numpy.exp(-numpy.abs(logits))  # at most 1
    loss = float(numpy.maximum(logits, 0).sum(dtype=numpy.float64) - numpy.vdot(logits, right))
    loss += float(numpy.log1p(small).sum(dtype=numpy.float64))
    errors = numpy.where(logits >= 0, 1, small)
    small += 1
    errors /= small
    errors -= right
    errors /= size
    return loss / size, errors
