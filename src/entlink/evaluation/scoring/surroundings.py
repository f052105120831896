"""What stands around a mention on the other side: whether only its boundaries are wrong, or nothing is there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, islice
from operator import lt
from typing import Any

from entlink.documents import Document, GoldLink, Link
from entlink.evaluation.scoring.document_score import DocumentScore


class Places:
    """Spans by start, with the furthest end so far: an overlap is found without a look at all of them."""

    def __init__(self, places: Iterable[tuple[Any, Any]]) -> None:
        ordered = sorted(places)
        starts, ends = zip(*ordered, strict=True) if ordered else ((), ())
        self._starts: Sequence[Any] = starts
        # Where none lies within another, as is usual, ends are in order too.
        self._reaches = ends if list(ends) == sorted(ends) else tuple(accumulate(ends, max))

    def meet(self, start: int, end: int) -> bool:
        """Whether one of them overlaps."""
        # The first that reaches beyond the start has the earliest start of all that do.
        first = bisect_right(self._reaches, start)
        return first < len(self._starts) and self._starts[first] < end

    def overlapping(self) -> int:
        """How many begin before the end of one that comes before them."""
        return sum(map(lt, islice(self._starts, 1, None), self._reaches))


class Surroundings:
    """The gold and the answers of a document, asked by overlap of spans.

    By strings, whether one holds the words of the other, in the same turn.
    """

    def __init__(self, document: Document, score: DocumentScore, *, by_strings: bool) -> None:
        self._document, self._score, self._by_strings = document, score, by_strings
        self._gold: Places | None = None
        self._answers: Places | None = None

    def has_answer(self, gold: GoldLink) -> bool:
        """Whether an answer is about a part of the gold mention, or of more than it."""
        if not self._by_strings:
            if self._answers is None:
                self._answers = Places(self._score.places)
            return self._answers.meet(gold.span.start, gold.span.end)
        own = next(
            place for link, place in zip(self._document.gold, self._score.gold_places, strict=True) if link is gold
        )
        return any(_holds(own, other) for other in self._score.places)

    def has_gold(self, answer: Link) -> bool:
        """Whether gold is about a part of the answer, or of more than it."""
        if not self._by_strings:
            return self.gold.meet(answer.mention.span.start, answer.mention.span.end)
        own = next(
            place for link, place in zip(self._score.predicted, self._score.places, strict=True) if link is answer
        )
        return any(_holds(own, other) for other in self._score.gold_places)

    @property
    def gold(self) -> Places:
        """Where gold stands; not by strings. (A cached property would take a lock, for each document.)"""
        if self._gold is None:
            self._gold = Places(self._score.gold_places)
        return self._gold


def _holds(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Of two places of strings: whether they are of one turn, and one's words stand in the other."""
    ours, theirs = (f" {' '.join(surface.split())} " for _, surface in (one, other))
    return bool(one[0] == other[0]) and (ours in theirs or theirs in ours)
