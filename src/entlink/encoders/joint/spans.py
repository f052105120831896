"""Spans of tokens: which there are, how each scores as a mention, its vector, and which of them stay."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from entlink.errors import MissingExtraError

try:
    import numpy
except ImportError as problem:
    raise MissingExtraError("a joint model", "retrieval") from problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Spans = NDArray[numpy.int64]  # [spans, 2]: first token, and the one after the last


def spans_between(
    begins: NDArray[Any], ends: NDArray[Any], longest: int, from_: int = 0, to: int | None = None
) -> Spans:
    """All spans of up to `longest` tokens from the beginning of a word to the end of one, by first token, then last.

    `begins` and `ends` say of each token whether a word begins or ends with it; spans begin between `from_` and `to`.
    """
    size = len(begins)
    first = numpy.flatnonzero(begins[from_:to]) + from_
    last = first[:, None] + numpy.arange(1, longest + 1)  # [starts, lengths]
    is_whole = last <= size
    is_whole[is_whole] = numpy.asarray(ends, bool)[last[is_whole] - 1]
    starts, lengths = numpy.nonzero(is_whole)
    found: Spans = numpy.column_stack([first[starts], first[starts] + lengths + 1]).astype(numpy.int64)
    return found


def mention_scores(edges: NDArray[Any], spans: Spans) -> NDArray[numpy.float64]:
    """The score of each span: that its first token begins a mention, its last ends one, and each is inside of one.

    `edges` [tokens, 3] has these three for each token.
    """
    told = edges.astype(numpy.float64)
    inside = numpy.concatenate([[0.0], told[:, 2].cumsum()])
    first, last = spans[:, 0], spans[:, 1]
    found: NDArray[numpy.float64] = told[first, 0] + told[last - 1, 1] + inside[last] - inside[first]
    return found


def span_means(hidden: NDArray[Any], spans: Spans) -> NDArray[numpy.float32]:
    """The mean of the vectors of the tokens of each span; `hidden` [tokens, width]."""
    rows = [hidden[first:last].mean(axis=0) for first, last in spans.tolist()]
    return numpy.asarray(rows, numpy.float32).reshape(len(rows), hidden.shape[1])


def chances(scores: NDArray[Any], slope: float = 1.0, shift: float = 0.0) -> NDArray[numpy.float64]:
    """Scores as chances."""
    found: NDArray[numpy.float64] = 1 / (1 + numpy.exp(-numpy.clip(slope * scores + shift, -500, 500)))
    return found


def apart(spans: Sequence[tuple[int, int]], scores: Iterable[float]) -> list[tuple[int, int | None]]:
    """Which spans stay, best scored first: each takes away all it overlaps that come after it.

    For each span in that order its number, and that of the span it lost to, or None if it stays. Of equal scores
    the longer span comes first, then the earlier.
    """
    order = sorted(
        enumerate(scores), key=lambda one: (-one[1], spans[one[0]][0] - spans[one[0]][1], spans[one[0]][0])
    )
    starts: list[int] = []
    kept: list[int] = []  # by start
    found: list[tuple[int, int | None]] = []
    for number, _ in order:
        start, end = spans[number]
        at = bisect_left(starts, end)  # the last that stays and begins before this one ends
        winner = kept[at - 1] if at and spans[kept[at - 1]][1] > start else None
        found.append((number, winner))
        if winner is None:
            starts.insert(at, start)
            kept.insert(at, number)
    return found
