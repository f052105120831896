"""Pages to documents: a paragraph with links becomes a text with gold, where its author set them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

import msgspec

from entlink.datasets.targets import Resolve
from entlink.documents import Document, GoldLink, Image, Mention, Span
from entlink.sources import Page, Paragraph
from entlink.sources.page import Kind


class ReadCounts(msgspec.Struct):
    """What was read: all pages, and the paragraphs of the wanted kinds with the links in them."""

    pages: int = 0
    paragraphs: int = 0
    links: int = 0
    unresolved: int = 0
    overlapping: int = 0

    def add(self, other: ReadCounts) -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class DocumentPlan(msgspec.Struct, frozen=True):
    """What of a page becomes documents; `is_dated` says that a page's versions have texts of their own."""

    kinds: tuple[Kind, ...]
    nil: bool
    min_links: int
    is_dated: bool


class DocumentMaker:
    """Makes the documents of one page after the other, and counts what it reads."""

    def __init__(self, plan: DocumentPlan, resolve: Resolve) -> None:
        self.read = ReadCounts()
        self._plan, self._resolve = plan, resolve

    def documents(self, page: Page) -> Iterator[Document]:
        """The page's paragraphs that have links enough, numbered by their place in the page from 1."""
        if not self._plan.is_dated and page.valid_to is not None:
            return  # an earlier title of a page, whose text stands under the present one
        self.read.pages += 1
        name = self._name(page)
        for number, paragraph in enumerate(page.paragraphs, 1):
            if paragraph.kind not in self._plan.kinds:
                continue
            self.read.paragraphs += 1
            gold = self._gold(paragraph) if paragraph.links else ()
            if len(gold) >= self._plan.min_links:
                yield _document(f"{name}#{number}", page, paragraph, gold)

    def _name(self, page: Page) -> str:
        """Two versions of an article would give two documents one id."""
        if self._plan.is_dated and page.valid_from is not None:
            return f"{page.entity.id}@{page.valid_from}"
        return page.entity.id

    def _gold(self, paragraph: Paragraph) -> tuple[GoldLink, ...]:
        anchors = apart(paragraph.links, len(paragraph.text))
        self.read.links += len(paragraph.links)
        self.read.overlapping += len(paragraph.links) - len(anchors)
        gold = []
        for anchor in anchors:
            entity = self._resolve(anchor.target)
            if entity is None:
                self.read.unresolved += 1
            if entity is not None or self._plan.nil:
                entities = () if entity is None else (entity,)
                gold.append(GoldLink(Span(anchor.start, anchor.end), entities))
        return tuple(gold)


class _Spanned(Protocol):
    """What stands somewhere in a text."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


_Apart = TypeVar("_Apart", bound=_Spanned)


def apart(anchors: Iterable[_Apart], size: int) -> list[_Apart]:
    """The anchors in the order of the text; of those that overlap, the one that begins first, then the longest."""
    kept: list[_Apart] = []
    end = 0
    for anchor in sorted(anchors, key=lambda anchor: (anchor.start, -anchor.end)):
        if end <= anchor.start < anchor.end <= size:
            kept.append(anchor)
            end = anchor.end
    return kept


def _document(id: str, page: Page, paragraph: Paragraph, gold: tuple[GoldLink, ...]) -> Document:
    text, image = paragraph.text, paragraph.image
    meta = {"page": page.entity.title, "kind": paragraph.kind}
    return Document(
        id,
        text,
        page.entity.language,
        images=() if image is None else (Image(image),),
        mentions=tuple(Mention(link.span, text[link.span.start : link.span.end]) for link in gold),
        gold=gold,
        meta=meta if image is None else {**meta, "image": image},
    )
