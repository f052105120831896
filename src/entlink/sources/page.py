"""What every source yields: a page, that is an entity with what its text says; a wiki's dump yields more."""

from __future__ import annotations

from typing import Literal

from entlink.documents import Entity, Record

Kind = Literal["text", "item", "cell", "caption"]
BETWEEN_PARAGRAPHS = "\n\n"  # of a whole text


class Anchor(Record, frozen=True):
    """A link in a paragraph: the characters `[start, end)` name the entity `target` (its id; in a wiki its title)."""

    start: int
    end: int
    target: str


class Paragraph(Record, frozen=True):
    """A piece of running text with the links its author set.

    `kind` tells running text from an item of a list, a cell of a table and the caption of the picture `image`.
    """

    text: str
    links: tuple[Anchor, ...] = ()
    kind: Kind = "text"
    image: str | None = None


class Page(Record, frozen=True, tag=True):
    """One record of a source.

    `valid_from` and `valid_to` (ISO dates as given, half-open) date this version of the entity; several
    pages with one id are its versions. Both None: the entity has always been so. `counted` has the links of a page
    whose text nobody asked for, as surface and target: it comes without paragraphs.
    """

    entity: Entity
    paragraphs: tuple[Paragraph, ...] = ()
    valid_from: str | None = None
    valid_to: str | None = None
    counted: tuple[tuple[str, str], ...] = ()


def whole_text(page: Page) -> str:
    """All that a page says, its paragraphs with a blank line between; its description where it has none."""
    written = [paragraph.text for paragraph in page.paragraphs if paragraph.text.strip()]
    return BETWEEN_PARAGRAPHS.join(written) or page.entity.description


class Redirect(Record, frozen=True, tag=True):
    """A title that stands for another one."""

    title: str
    target: str


class Meanings(Record, frozen=True, tag=True):
    """A disambiguation page: its own title, the name it is about, and the titles that the name may mean."""

    title: str
    name: str
    targets: tuple[str, ...]


class Identifier(Record, frozen=True):
    """What another table knows of a page of a wiki: its identifier in some scheme."""

    wiki: str
    page: int
    scheme: str
    value: str


class TypeNode(Record, frozen=True):
    """What something is called that may be a type of others, and the more general types it is a kind of."""

    type: str
    name: str
    parents: tuple[str, ...] = ()


class NameRule(Record, frozen=True):
    """A pin of a surface on an entity, given by its id, or, where that is None, a block: of an exported base."""

    surface: str
    case_sensitive: bool = False
    entity: str | None = None


Item = Page | Redirect | Meanings | Identifier | TypeNode
