"""Examples to read, a few of each cause: chosen by chance, but the same whatever the order of the documents."""

from __future__ import annotations

from heapq import heappush, heappushpop, nsmallest
from zlib import crc32

import msgspec

from entlink.documents import Document, GoldLink, Link
from entlink.evaluation.identities import Identities
from entlink.evaluation.results import Example
from entlink.evaluation.scoring.items import surface_of

_AROUND = 90
_MIXER = 2_654_435_761  # an odd number near 2³² ÷ golden ratio spreads neighbouring places far apart
_CANDIDATES_SHOWN = 5


class Examples:
    """The `most` examples of each cause that draw the smallest lots; a lot depends on the seed and the place."""

    def __init__(self, most: int, seed: int, identities: Identities | None) -> None:
        self._most, self._seed, self._identities = most, str(seed), identities
        self._kept: dict[str, list[tuple[int, str, Example]]] = {}
        self._document: Document | None = None  # the one whose lot was drawn last
        self._lot = 0

    def offer(self, cause: str, stage: str, document: Document, gold: GoldLink | None, answer: Link | None) -> None:
        """Keep this one if it is among the chosen so far."""
        span = gold.span if gold is not None else answer.mention.span if answer is not None else None
        if span is None or not self._most:
            return
        if document is not self._document:
            self._document = document
            self._lot = crc32(f"{self._seed}:{document.id}".encode("utf-8", "surrogatepass"))
        lot = (self._lot ^ (_MIXER * (span.start + 1))) & 0xFFFFFFFF
        kept = self._kept.get(cause)
        if kept is None:
            kept = self._kept[cause] = []
        elif len(kept) == self._most and lot >= -kept[0][0]:
            return
        entry = (-lot, f"{document.id}:{span.start}:{span.end}", self._example(cause, stage, document, gold, answer))
        if len(kept) < self._most:
            heappush(kept, entry)
        else:
            heappushpop(kept, entry)

    def rename(self, cause: str, other: str, stage: str) -> None:
        """Those of one cause are of another, now that more is known."""
        for lot, place, example in self._kept.pop(cause, []):
            renamed = lot, place, msgspec.structs.replace(example, cause=other, stage=stage)
            self._kept[other] = nsmallest(self._most, [*self._kept.get(other, []), renamed], key=lambda one: -one[0])

    def all(self) -> list[Example]:
        """Those kept, by cause and lot."""
        return [
            entry[2]
            for cause in sorted(self._kept)
            for entry in sorted(self._kept[cause], key=lambda entry: (-entry[0], entry[1]))
        ]

    def _example(
        self, cause: str, stage: str, document: Document, gold: GoldLink | None, answer: Link | None
    ) -> Example:
        span = gold.span if gold is not None else answer.mention.span if answer is not None else None
        assert span is not None
        text = "" if document.meta.get("lacks") else document.text
        left, right = text[max(0, span.start - _AROUND) : span.start], text[span.end : span.end + _AROUND]
        return Example(
            cause,
            stage,
            document.id,
            ("…" if span.start > _AROUND and text else "") + left,
            surface_of(document, gold) if gold is not None else text[span.start : span.end],
            right + ("…" if span.end + _AROUND < len(text) else ""),
            self._named(gold),
            self._answer(answer),
            answer is not None and answer.is_nil,
            None if answer is None else answer.score,
            ()
            if answer is None
            else tuple(one.title or self._title(one.entity) for one in answer.candidates[:_CANDIDATES_SHOWN]),
        )

    def _named(self, gold: GoldLink | None) -> tuple[str, ...]:
        if gold is None:
            return ()
        if gold.is_nil:
            return (f"NIL ({gold.nil_type})" if gold.nil_type else "NIL",)
        title = gold.meta.get("title")
        return (title,) if isinstance(title, str) else tuple(map(self._title, gold.entities))

    def _answer(self, answer: Link | None) -> str | None:
        if answer is None:
            return None
        if answer.entity is None:
            return f"NIL ({answer.nil_type})" if answer.nil_type else "NIL"
        return answer.title or self._title(answer.entity)

    def _title(self, id: str) -> str:
        entity = self._identities.entity(id) if self._identities else None
        return id if entity is None else entity.title
