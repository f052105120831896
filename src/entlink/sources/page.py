"""What every source yields: a page, that is an entity with what its text says."""

from __future__ import annotations

from entlink.documents import Entity, Record


class Anchor(Record, frozen=True):
    """A link in a paragraph: the characters `[start, end)` name the entity `target` (its id)."""

    start: int
    end: int
    target: str


class Paragraph(Record, frozen=True):
    """A piece of running text with the links its author set."""

    text: str
    links: tuple[Anchor, ...] = ()


class Page(Record, frozen=True):
    """One record of a source.

    `valid_from` and `valid_to` (ISO dates as given, half-open) date this version of the entity; several
    pages with one id are its versions. Both None: the entity has always been so.
    """

    entity: Entity
    paragraphs: tuple[Paragraph, ...] = ()
    valid_from: str | None = None
    valid_to: str | None = None
