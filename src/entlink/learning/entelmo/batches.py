"""Rows of words of unlike length as one batch: the different words once, and the orders both directions read in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

Ids = NDArray[numpy.int64]


class Batch(NamedTuple):
    """Tokens of all rows, one row after the other.

    `forms` says which row of `bytes` each is, `rows` which row of the batch it is of. `forward` and `backward` are
    the orders in which the directions read: rows from the longest on, step by step; `sizes` are the rows of each
    step. `next_ones` are the tokens with a token after them in their row; the next place has that token.
    """

    bytes: Tensor  # [different words, bytes]
    forms: Tensor  # [tokens]
    rows: Tensor  # [tokens]
    forward: Tensor  # [tokens]
    backward: Tensor  # [tokens]
    sizes: list[int]
    next_ones: Tensor


def make_batch(texts: Sequence[NDArray[numpy.int32]], table: NDArray[numpy.int16]) -> Batch:
    """A batch of rows of words, each the number of a row of `table`, which has the bytes of words."""
    lengths = numpy.array([len(one) for one in texts])
    tokens = numpy.concatenate(texts)
    forms, places = numpy.unique(tokens, return_inverse=True)
    rows = numpy.repeat(numpy.arange(len(texts)), lengths)
    is_last = numpy.zeros(len(tokens), bool)
    is_last[lengths.cumsum() - 1] = True
    forward, backward, sizes = _orders(lengths)
    return Batch(
        torch.from_numpy(table[forms].astype(numpy.int64)),
        torch.from_numpy(places.reshape(-1)),
        torch.from_numpy(rows),
        torch.from_numpy(forward),
        torch.from_numpy(backward),
        sizes,
        torch.from_numpy(numpy.flatnonzero(~is_last)),
    )


def _orders(lengths: Ids) -> tuple[Ids, Ids, list[int]]:
    """The places of tokens as the forward and the backward direction read them, and the rows of each step."""
    by_length = numpy.argsort(-lengths, kind="stable")
    sorted_lengths, starts = lengths[by_length], (lengths.cumsum() - lengths)[by_length]
    longest = int(sorted_lengths[0])
    sizes = (len(lengths) - numpy.searchsorted(sorted_lengths[::-1], numpy.arange(longest), side="right")).tolist()
    steps = numpy.repeat(numpy.arange(longest), sizes)
    of = numpy.concatenate([numpy.arange(size) for size in sizes])
    return starts[of] + steps, starts[of] + sorted_lengths[of] - 1 - steps, sizes
