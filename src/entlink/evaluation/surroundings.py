"""What stands around a mention on the other side: whether only its boundaries are wrong, or nothing is there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate, islice
from operator import lt

from entlink.documents import Document, GoldLink, Link
from entlink.evaluation.document_score import DocumentScore, Place
from entlink.evaluation.items import surface_of


class Places:
    """Spans by start, with the furthest end so far: an overlap is found without a look at all of them."""

    def __init__(self, places: Iterable[Place]) -> None:
        ordered = sorted(places)
        self._starts = [start for start, _ in ordered]
        ends = [end for _, end in ordered]
        # Where none lies within another, as is usual, ends are in order too.
        self._reaches = ends if ends == sorted(ends) else list(accumulate(ends, max))

    def meet(self, start: int, end: int) -> bool:
        """Whether one of them overlaps."""
        # The first that reaches beyond the start has the earliest start of all that do.
        first = bisect_right(self._reaches, start)
        return first < len(self._starts) and self._starts[first] < end

    def overlapping(self) -> int:
        """How many begin before the end of one that comes before them."""
        return sum(map(lt, islice(self._starts, 1, None), self._reaches))


class Surroundings:
    """The gold and the answers of a document, asked by overlap of spans; by strings, whether one holds the other."""

    def __init__(self, document: Document, score: DocumentScore, *, by_strings: bool) -> None:
        self._document, self._score, self._by_strings = document, score, by_strings
        self.gold = Places(score.gold_places)

    def has_answer(self, gold: GoldLink) -> bool:
        """Whether an answer is about a part of the gold mention, or of more than it."""
        if self._by_strings:
            surface = surface_of(self._document, gold)
            return any(_holds(surface, link.mention.text) for link in self._score.predicted)
        return self._answered.meet(gold.span.start, gold.span.end)

    def has_gold(self, link: Link) -> bool:
        """Whether gold is about a part of the answer, or of more than it."""
        if self._by_strings:
            return any(_holds(surface_of(self._document, gold), link.mention.text) for gold in self._document.gold)
        return self.gold.meet(link.mention.span.start, link.mention.span.end)

    @cached_property
    def _answered(self) -> Places:
        return Places(self._score.places)


def _holds(one: str, other: str) -> bool:
    return one in other or other in one
