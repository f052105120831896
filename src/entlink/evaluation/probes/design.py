"""The features of a linear probe as a matrix that is multiplied and not kept whole: [x1, x2, x1⊙x2, |x1−x2|]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.evaluation.probes.inputs import Integers

    Floats = NDArray[numpy.float32]

_ROWS = 4096  # rows of features in memory at once where they are only read


class Design:
    """The standardised features of the rows of a split: of one vector, or of a pair.

    The features are `raw − mean`, divided by `scale`: those of the training rows, unless given. The parts x1 and x2
    are multiplied once for all rows that share them.
    """

    def __init__(
        self, vectors: Floats, left: Integers, right: Integers | None = None, like: Design | None = None
    ) -> None:
        self._left = _Shared(vectors, left)
        self._right = None if right is None else _Shared(vectors, right)
        self._mixed = None if right is None else mixed_features(vectors[left], vectors[right])
        self.rows = len(left)
        self.width = vectors.shape[1] * (1 if right is None else 4)
        if like is None:
            self.mean, self.scale = self._moments()
        else:
            self.mean, self.scale = like.mean, like.scale

    def dot(self, weights: Floats) -> Floats:
        """The features times weights of `width` rows."""
        scaled = (weights / self.scale[:, None]).astype(numpy.float32)
        return self._raw_dot(scaled) - self.mean @ scaled

    def back(self, errors: Floats) -> Floats:
        """The transposed features times a row of errors for each row."""
        raw = self._raw_back(errors)
        found: Floats = (raw - numpy.outer(self.mean, errors.sum(axis=0))) / self.scale[:, None]
        return found

    def _raw_dot(self, weights: Floats) -> Floats:
        if self._right is None or self._mixed is None:
            return self._left.dot(weights)
        size = len(weights) // 4
        found = self._mixed @ weights[2 * size :]
        found += self._left.dot(weights[:size])
        found += self._right.dot(weights[size : 2 * size])
        return found

    def _raw_back(self, errors: Floats) -> Floats:
        if self._right is None or self._mixed is None:
            return self._left.back(errors)
        return numpy.concatenate([self._left.back(errors), self._right.back(errors), self._mixed.T @ errors])

    def _moments(self) -> tuple[Floats, Floats]:
        means, squares = self._left.moments()
        if self._right is not None and self._mixed is not None:
            others = (self._right.moments(), _moments(self._mixed))
            means = numpy.concatenate([means, *(one[0] for one in others)])
            squares = numpy.concatenate([squares, *(one[1] for one in others)])
        spread = numpy.sqrt(numpy.maximum(squares - means**2, 0))
        scale = numpy.where(spread > 1e-6 * (1 + numpy.abs(means)), spread, 1)  # a constant tells nothing
        return means.astype(numpy.float32), scale.astype(numpy.float32)


def mixed_features(first: Floats, second: Floats) -> Floats:
    """The products and the absolute differences, side by side."""
    size = first.shape[1]
    found = numpy.empty((len(first), 2 * size), numpy.float32)
    numpy.multiply(first, second, out=found[:, :size])
    numpy.subtract(first, second, out=found[:, size:])
    numpy.abs(found[:, size:], out=found[:, size:])
    return found


class _Shared:
    """Rows of which several are the same vector: a product is made once for each vector."""

    def __init__(self, vectors: Floats, places: Integers) -> None:
        distinct, self._of_row, self._often = numpy.unique(places, return_inverse=True, return_counts=True)
        self._is_plain = len(distinct) == len(places)
        self._vectors = vectors[places] if self._is_plain else vectors[distinct]
        self._order = numpy.argsort(self._of_row, kind="stable")
        self._starts = numpy.concatenate([[0], numpy.cumsum(self._often)[:-1]])

    def dot(self, weights: Floats) -> Floats:
        found: Floats = self._vectors @ weights
        return found if self._is_plain else found[self._of_row]

    def back(self, errors: Floats) -> Floats:
        if not self._is_plain:
            errors = numpy.add.reduceat(errors[self._order], self._starts, axis=0)
        found: Floats = self._vectors.T @ errors
        return found

    def moments(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        return _moments(self._vectors, None if self._is_plain else self._often)


def _moments(rows: Floats, often: Integers | None = None) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """The mean of each column and of its square, in double precision; `often` is how often each row counts."""
    total, squares = numpy.zeros(rows.shape[1]), numpy.zeros(rows.shape[1])
    for start in range(0, len(rows), _ROWS):
        part = rows[start : start + _ROWS].astype(numpy.float64)
        counts = numpy.ones(len(part)) if often is None else often[start : start + _ROWS].astype(numpy.float64)
        total += counts @ part
        squares += counts @ part**2
    size = len(rows) if often is None else int(often.sum())
    return total / size, squares / size
