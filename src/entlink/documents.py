"""The nouns: frozen records that every other part of entlink speaks in.

Nothing of ours is imported here, and a record does nothing but derive facts from its own fields.
`docs/data-model.md` is the prose version of this file.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import msgspec

SCHEMA_VERSION = 1
TURN_SEPARATOR = "\n\n"


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of all records."""


class Leaf(Record, frozen=True, gc=False):
    """A record made by the thousand that can be part of no cycle: the garbage collector need not track it."""


class Span(Leaf, frozen=True):
    """Character offsets, half-open. Never tokens, never bytes."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


class Mention(Leaf, frozen=True):
    """A piece of text that may name an entity."""

    span: Span
    text: str
    type: str | None = None
    score: float | None = None


class Candidate(Leaf, frozen=True):
    """An entity a mention may mean; `evidence` maps a stage's name to the number it gave."""

    entity: str
    score: float
    evidence: Mapping[str, float] = {}
    title: str | None = None


class Link(Leaf, frozen=True):
    """A decision about a mention. `entity is None` is NIL, then `nil_type` may say of what type."""

    mention: Mention
    entity: str | None
    score: float
    calibrated: bool = False
    nil_type: str | None = None
    title: str | None = None
    candidates: tuple[Candidate, ...] = ()

    @property
    def is_nil(self) -> bool:
        return self.entity is None


class GoldLink(Record, frozen=True):
    """What an annotator says a span means: any of `entities` is right, none of them is NIL.

    `meta` is free, as a document's is: the `type` an annotator gave, the category of a dataset.
    """

    span: Span
    entities: tuple[str, ...]
    nil_type: str | None = None
    optional: bool = False
    meta: Mapping[str, Any] = {}

    @property
    def is_nil(self) -> bool:
        return not self.entities


class Turn(Record, frozen=True):
    """One utterance of a conversation."""

    text: str
    speaker: str | None = None
    time: str | None = None


class Image(Record, frozen=True):
    """A picture by path, address or data URL, with the text that stands in for it."""

    uri: str
    caption: str | None = None

    @classmethod
    def of_bytes(cls, content: bytes, caption: str | None = None) -> Image:
        """A picture whose file is at hand: it becomes a data URL."""
        return cls(f"data:;base64,{b64encode(content).decode()}", caption)


class Document(Record, frozen=True, dict=True):
    """Any input: a text, a conversation (`turns`), or a captioned picture (`images`)."""

    id: str
    text: str
    language: str | None = None
    date: str | None = None
    images: tuple[Image, ...] = ()
    turns: tuple[Turn, ...] = ()
    mentions: tuple[Mention, ...] | None = None
    gold: tuple[GoldLink, ...] = ()
    links: tuple[Link, ...] = ()
    meta: Mapping[str, Any] = {}

    @classmethod
    def of_turns(cls, id: str, turns: Iterable[Turn], **fields: Any) -> Document:
        """A conversation: its text is the turns' texts with a blank line between two."""
        turns = tuple(turns)
        return cls(id, TURN_SEPARATOR.join(turn.text for turn in turns), turns=turns, **fields)

    def with_turn(self, turn: Turn) -> Document:
        """The same conversation with one more turn; what was there is not derived again."""
        text = f"{self.text}{TURN_SEPARATOR}{turn.text}" if self.turns else turn.text
        longer = msgspec.structs.replace(self, text=text, turns=(*self.turns, turn))
        before = self.turn_spans
        start = before[-1].end + len(TURN_SEPARATOR) if before else 0
        longer.__dict__["turn_spans"] = (*before, Span(start, start + len(turn.text)))  # where its cache is kept
        return longer

    @cached_property
    def turn_spans(self) -> tuple[Span, ...]:
        """Where each turn stands in the whole text."""
        spans, start = [], 0
        for turn in self.turns:
            spans.append(Span(start, start + len(turn.text)))
            start += len(turn.text) + len(TURN_SEPARATOR)
        return tuple(spans)


class Entity(Record, frozen=True):
    """A thing of the knowledge base. `external` maps a scheme (`wikidata`, `url`, …) to an identifier.

    `claims` maps a property, such as `P27` or `country`, to its values: ids of entities or plain values.
    `created` is when it came to be known, `revised` when what is said of it here was written.
    """

    id: str
    title: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    language: str | None = None
    created: str | None = None
    revised: str | None = None
    external: Mapping[str, str] = {}
    claims: Mapping[str, tuple[str, ...]] = {}
