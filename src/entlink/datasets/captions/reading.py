"""Captions with links, from the captions of a MediaWiki's pages or from JSON lines of captioned pictures.

    {"page": "Åland", "image": "286/28676.jpg", "caption": "…", "mentions": [{"start": 29, "end": 40, "entity": …}]}

Offsets are characters, half-open; an entity of null is NIL. `title`, `topic` and `language` of a row and `text` and
`type` of a mention are optional.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from entlink.documents import Record
from entlink.errors import InputError, SourceError
from entlink.formats.json_records import first_keys
from entlink.formats.offset_units import checked_span
from entlink.io.inputs import open_input
from entlink.io.ledger import FileLedger, Ledger, OnError
from entlink.io.lines import read_json_lines
from entlink.sources import Page, Source, WikiOptions, open_source
from entlink.sources.page import NameRule
from entlink.sources.part import Part
from entlink.text.spans import Place

FORMAT = "captions"
_KEYS = {"page", "image", "caption"}
_HEAD = 65_536


class CaptionLink(Record, frozen=True):
    """A mention in a caption; a target of None is NIL, and `type` is what its annotator says."""

    start: int
    end: int
    target: str | None
    type: str | None = None


class Caption(Record, frozen=True):
    """A captioned picture of a page; `categories` are those that the source gives its page."""

    page: str
    image: str
    text: str
    links: tuple[CaptionLink, ...] = ()
    title: str | None = None
    topic: str | None = None
    categories: tuple[str, ...] = ()
    language: str | None = None


class _Mention(msgspec.Struct):
    start: int
    end: int
    entity: str | int | None = None
    text: str | None = None
    type: str | None = None


class _Row(msgspec.Struct):
    page: str | int
    image: str
    caption: str
    mentions: list[_Mention] = []
    title: str | None = None
    topic: str | None = None
    language: str | None = None


_DECODER = msgspec.json.Decoder(_Row)


class LinesPart(msgspec.Struct, frozen=True):
    """A file of JSON lines, which is read as a whole."""

    path: str
    end: int

    def items(self, ledger: Ledger) -> Iterator[Caption]:
        """Its captions; bad lines go to the ledger."""
        reading = FileLedger(ledger.on_error)
        for number, row, _ in read_json_lines(Path(self.path), reading, _DECODER):
            try:
                yield _caption(row, Place(self.path, number))
            except InputError as error:
                reading.fail(error if isinstance(error, SourceError) else SourceError(str(error)))
        ledger.absorb(reading)


class CaptionLines:
    """A file of captioned pictures as JSON lines, with what a build asks of every source."""

    format = FORMAT
    wiki = None

    def __init__(self, path: Path, on_error: OnError) -> None:
        self.path, self.on_error = path, on_error
        self.size = path.stat().st_size
        self.rules: list[NameRule] = []
        self.skipped, self.problems = 0, list[str]()
        self.left_out: dict[str, int] = {}

    def parts(self) -> Iterator[LinesPart]:
        """The whole file: pages may come in any order."""
        yield LinesPart(str(self.path), self.size)


def open_captions(
    path: Path, *, format: str | None, on_error: OnError, language: str | None, wiki: WikiOptions
) -> Source | CaptionLines:
    """The source at a path: JSON lines of captions, or any source whose pages have captions."""
    if format == FORMAT or (format is None and _has_captions(path)):
        return CaptionLines(path, on_error)
    source = open_source(path, format=format, on_error=on_error, language=language, wiki=wiki)
    if source.format != "mediawiki":
        raise SourceError(
            f"it is of the format {source.format}, which has no captions",
            str(path),
            hint="Give the dump of a MediaWiki, or JSON lines with page, image, caption and mentions",
        )
    return source


def _has_captions(path: Path) -> bool:
    if not path.is_file():
        return False
    with open_input(path) as file:
        return first_keys(file.read(_HEAD)) >= _KEYS


def captions_of(items: Iterable[object]) -> Iterator[Caption]:
    """The captions of what a part holds: of the pages of a wiki, or as they are."""
    for item in items:
        if isinstance(item, Caption):
            yield item
        elif isinstance(item, Page) and item.valid_to is None:  # a page's earlier titles have no text of their own
            yield from _of_page(item)


def _of_page(page: Page) -> Iterator[Caption]:
    entity = page.entity
    for paragraph in page.paragraphs:
        if paragraph.kind == "caption" and paragraph.image:
            links = tuple(CaptionLink(one.start, one.end, one.target) for one in paragraph.links)
            yield Caption(
                entity.id,
                paragraph.image,
                paragraph.text,
                links,
                entity.title,
                categories=entity.types,
                language=entity.language,
            )


def _caption(row: _Row, place: Place) -> Caption:
    page = str(row.page)
    links = []
    for index, one in enumerate(row.mentions):
        span = checked_span(row.caption, one.start, one.end, one.text, f"mentions[{index}]", page, place)
        target = None if one.entity is None else str(one.entity)
        links.append(CaptionLink(span.start, span.end, target or None, one.type))
    return Caption(page, row.image, row.caption, tuple(links), row.title, row.topic, language=row.language)


__all__ = ["FORMAT", "Caption", "CaptionLines", "CaptionLink", "LinesPart", "Part", "captions_of", "open_captions"]
