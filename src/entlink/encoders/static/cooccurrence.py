"""Which words stand near which: pairs counted in blocks, merged in order, and pruned where they would be too many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

_CONTEXT_POWER = 0.75  # rare contexts count a little more than their share


class Sparse(NamedTuple):
    """A matrix by its places, sorted by row: where each row that is not empty begins, its number, columns, values."""

    starts: NDArray[numpy.int64]
    rows: NDArray[numpy.int64]
    columns: NDArray[numpy.int64]
    values: NDArray[numpy.float32]
    shape: tuple[int, int]


class Pairs:
    """Counts of pairs (word, context), at most `most` of them in memory."""

    def __init__(self, words: int, contexts: int, window: int, most: int = 10_000_000) -> None:
        self._words, self._contexts, self._window, self._most = words, contexts, window, most
        self._keys = numpy.zeros(0, numpy.int64)
        self._counts = numpy.zeros(0, numpy.float64)

    def add(self, ids: NDArray[numpy.int64], texts: NDArray[numpy.int64]) -> None:
        """Count a block of words; `texts` tells which of them are of one text."""
        keys, counts = [self._keys], [self._counts]
        for distance in range(1, self._window + 1):
            left, right = ids[:-distance], ids[distance:]
            near = texts[:-distance] == texts[distance:]
            for word, context in ((left[near], right[near]), (right[near], left[near])):
                taken = context < self._contexts
                keys.append(word[taken] * self._contexts + context[taken])
                counts.append(numpy.full(int(taken.sum()), 1.0 / distance))
        self._keys, places = numpy.unique(numpy.concatenate(keys), return_inverse=True)
        self._counts = numpy.bincount(places, numpy.concatenate(counts), len(self._keys)).astype(numpy.float64)
        if len(self._keys) > self._most:
            self._prune()

    def _prune(self) -> None:
        """Drop the rarest; of those that are equally rare, the last."""
        kept = numpy.sort(numpy.argsort(-self._counts, kind="stable")[: self._most // 2])
        self._keys, self._counts = self._keys[kept], self._counts[kept]

    def information(self) -> Sparse:
        """The positive pointwise mutual information of the pairs."""
        return information(
            self._keys // self._contexts,
            self._keys % self._contexts,
            self._counts,
            self._words,
            self.context_shares(),
        )

    def context_shares(self) -> NDArray[numpy.float64]:
        """How frequent each context is, as its share of all, a little more for rare ones."""
        of_context = numpy.bincount(self._keys % self._contexts, self._counts, self._contexts) ** _CONTEXT_POWER
        return (of_context / max(float(of_context.sum()), 1e-300)).astype(numpy.float64)


def information(
    rows: NDArray[numpy.int64],
    contexts: NDArray[numpy.int64],
    counts: NDArray[numpy.float64],
    size: int,
    shares: NDArray[numpy.float64],
) -> Sparse:
    """The positive pointwise mutual information of counted pairs, which are sorted by row."""
    of_row = numpy.bincount(rows, counts, size)
    with numpy.errstate(divide="ignore"):
        values = numpy.log(counts / (of_row[rows] * shares[contexts]))
    taken = (values > 0) & (shares[contexts] > 0)
    return _sparse(rows[taken], contexts[taken], values[taken].astype(numpy.float32), (size, len(shares)))


def _sparse(
    rows: NDArray[numpy.int64],
    columns: NDArray[numpy.int64],
    values: NDArray[numpy.float32],
    shape: tuple[int, int],
) -> Sparse:
    """From places that are sorted by row."""
    starts = numpy.flatnonzero(numpy.diff(rows, prepend=-1))
    return Sparse(starts, rows[starts], columns, values, shape)


def transposed(matrix: Sparse) -> Sparse:
    lengths = numpy.diff(numpy.append(matrix.starts, len(matrix.values)))
    rows = numpy.repeat(matrix.rows, lengths)
    order = numpy.argsort(matrix.columns, kind="stable")
    shape = (matrix.shape[1], matrix.shape[0])
    return _sparse(matrix.columns[order], rows[order], matrix.values[order], shape)


def product(matrix: Sparse, dense: NDArray[numpy.float32], most: int = 200_000) -> NDArray[numpy.float32]:
    """A sparse matrix times a dense one, some rows at a time, so that little memory is taken."""
    found = numpy.zeros((matrix.shape[0], dense.shape[1]), numpy.float32)
    ends = numpy.append(matrix.starts[1:], len(matrix.values))
    for first, last in _row_blocks(matrix.starts, ends, most):
        begin, end = matrix.starts[first], ends[last - 1]
        terms = dense[matrix.columns[begin:end]] * matrix.values[begin:end, None]
        found[matrix.rows[first:last]] = numpy.add.reduceat(terms, matrix.starts[first:last] - begin, axis=0)
    return found


def _row_blocks(starts: NDArray[numpy.int64], ends: NDArray[numpy.int64], most: int) -> Iterable[tuple[int, int]]:
    first = 0
    while first < len(starts):
        last = int(numpy.searchsorted(ends, starts[first] + most, side="right"))
        last = max(first + 1, last)
        yield first, last
        first = last


def left_vectors(matrix: Sparse, dimension: int, seed: int, rounds: int = 2) -> NDArray[numpy.float32]:
    """The leading left singular vectors, each times the root of its value; the same for the same seed."""
    spare = min(min(matrix.shape), dimension + 16)
    turned = transposed(matrix)
    sketch = numpy.random.default_rng(seed).standard_normal((matrix.shape[1], spare), numpy.float32)
    basis = numpy.linalg.qr(product(matrix, sketch))[0]
    for _ in range(rounds):
        other = numpy.linalg.qr(product(turned, basis))[0]
        basis = numpy.linalg.qr(product(matrix, other))[0]
    small = product(turned, basis).T
    left, values, _ = numpy.linalg.svd(small, full_matrices=False)
    vectors = (basis @ left)[:, :dimension] * numpy.sqrt(values[:dimension])
    # Which way a vector points is chance: let its largest entry be positive.
    largest = vectors[numpy.abs(vectors).argmax(axis=0), numpy.arange(vectors.shape[1])]
    signed: NDArray[numpy.float32] = (vectors * numpy.where(largest < 0, -1, 1)).astype(numpy.float32)
    return signed


def folding(matrix: Sparse, left: NDArray[numpy.float32]) -> NDArray[numpy.float32]:
    """What turns rows of information into vectors: the matrix times this is again its left vectors.

    A row that was not in the matrix gets the vector that it would have had.
    """
    values = (left.astype(numpy.float64) ** 2).sum(axis=0)  # the singular values
    scale = numpy.where(values > 1e-9, values, numpy.inf) ** -2
    found: NDArray[numpy.float32] = (product(transposed(matrix), left) * scale).astype(numpy.float32)
    return found
