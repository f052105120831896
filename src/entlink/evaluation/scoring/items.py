"""A document's gold and links as the scorers see them: places, surfaces and entities, within what was annotated."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable
from typing import NamedTuple

import msgspec

from entlink.documents import Document, GoldLink, Link, Span
from entlink.errors import InputError


class Gold(NamedTuple):
    """A gold link; `entities` are alternatives, none of them is NIL. `unit` is the turn, or 0."""

    unit: int
    start: int
    end: int
    surface: str
    entities: tuple[str, ...]
    nil_type: str | None
    optional: bool
    link: GoldLink

    @property
    def is_nil(self) -> bool:
        return not self.entities


class Predicted(NamedTuple):
    """A predicted link; `entity` None is NIL."""

    unit: int
    start: int
    end: int
    surface: str
    entity: str | None
    nil_type: str | None
    link: Link

    @property
    def is_nil(self) -> bool:
        return self.entity is None


def fits(gold: Gold | GoldLink, answer: Predicted | Link) -> bool:
    """Whether the answer is right for a gold link at its place: one of its entities, or NIL for NIL."""
    entities = gold.entities
    return answer.entity in entities if entities else answer.entity is None


def surface_of(document: Document, gold: GoldLink) -> str:
    """A gold mention as it is written; a document without a text keeps it beside the link."""
    mention = gold.meta.get("mention")
    return mention if mention and isinstance(mention, str) else document.text[gold.span.start : gold.span.end]


def gold_items(document: Document) -> list[Gold]:
    """The gold of a document, in the order it has there."""
    turns = document.turn_spans if document.turns else ()
    return [
        Gold(
            bisect_right(turns, link.span.start, key=_start) - 1 if turns else 0,
            link.span.start,
            link.span.end,
            surface_of(document, link),
            link.entities,
            link.nil_type,
            link.optional,
            link,
        )
        for link in document.gold
    ]


def distinct_gold(document: Document, key: Callable[[Gold], Hashable]) -> Document:
    """The document with one gold link of each key and meaning: matching by strings is of sets."""
    first: dict[Hashable, Gold] = {}
    for one in sorted(gold_items(document), key=lambda item: item.optional):
        first.setdefault((key(one), one.entities), one)
    if len(first) == len(document.gold):
        return document
    return msgspec.structs.replace(document, gold=tuple(one.link for one in first.values()))


def predicted_items(document: Document, gold: Document) -> list[Predicted]:
    """The links of a document, in the order they have there, less those where `gold` was not annotated."""
    # Turns of a side without offsets are made up: then each side has its own. Otherwise gold knows them best.
    is_made_up = "lacks" in document.meta or "lacks" in gold.meta or document.text != gold.text
    frame = document if is_made_up and document.turns else gold
    turns = frame.turn_spans if frame.turns else ()
    items = [
        Predicted(
            bisect_right(turns, link.mention.span.start, key=_start) - 1 if turns else 0,
            link.mention.span.start,
            link.mention.span.end,
            link.mention.text,
            link.entity,
            link.nil_type,
            link,
        )
        for link in document.links
    ]
    bounds = bounds_of(gold)
    if bounds is None:
        return items
    lacks_offsets = document.meta.get("lacks") == "offsets"
    return [item for item in items if bounds.hold(item.unit, item.start, item.end, lacks_offsets=lacks_offsets)]


def _start(span: Span) -> int:
    return span.start


class Bounds(NamedTuple):
    """What of a document was annotated: some of its turns, or a part of its text. The rest does not count."""

    turns: frozenset[int] | None
    span: tuple[int, int] | None

    def hold(self, unit: int, start: int, end: int, *, lacks_offsets: bool = False) -> bool:
        if self.turns is not None and unit not in self.turns:
            return False
        return self.span is None or lacks_offsets or (start >= self.span[0] and end <= self.span[1])


def bounds_of(document: Document) -> Bounds | None:
    """The bounds of a document's gold, from `annotated_turns` and `evaluation_span` in its meta."""
    turns = document.meta.get("annotated_turns") if document.turns else None
    span = document.meta.get("evaluation_span")
    if turns is None and span is None:
        return None
    if span is not None and not (_are_numbers(span) and len(span) == 2):
        raise InputError(f"document {document.id!r}: evaluation_span in its meta is {span!r}, not [start, end]")
    if turns is not None and not _are_numbers(turns):
        raise InputError(f"document {document.id!r}: annotated_turns in its meta is {turns!r}, not numbers of turns")
    return Bounds(None if turns is None else frozenset(turns), None if span is None else (span[0], span[1]))


def annotated_turns(document: Document) -> frozenset[int]:
    """The turns in which somebody looked for mentions: all, unless it is told. Elsewhere, no gold tells nothing."""
    bounds = bounds_of(document)
    told = None if bounds is None else bounds.turns
    return frozenset(range(len(document.turns))) if told is None else told


def _are_numbers(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, int) for one in value)


def within_bounds(document: Document) -> Document:
    """The document without gold outside of what was annotated."""
    bounds = bounds_of(document)
    if bounds is None:
        return document
    lacks_offsets = document.meta.get("lacks") == "offsets"
    items = gold_items(document)
    kept = [one.link for one in items if bounds.hold(one.unit, one.start, one.end, lacks_offsets=lacks_offsets)]
    return document if len(kept) == len(items) else msgspec.structs.replace(document, gold=tuple(kept))
