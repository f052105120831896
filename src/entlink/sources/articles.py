"""Articles with their links: a JSON line each, paragraphs of text with the entities that spans name.

    {"id": …, "title": …, "paragraphs": [{"text": …, "links": [[start, end, entity_id], …]}, …],
     "subjects": […], "image": …, "aliases": […], "types": […], "language": …, "created": …,
     "external": {scheme: identifier}, "valid_from": …, "valid_to": …}

Offsets are characters, half-open. All but the first three are optional; subjects become types.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from entlink.documents import Entity
from entlink.errors import FieldError
from entlink.io.lines import read_json_lines
from entlink.sources.fields import (
    as_date,
    as_external,
    as_id,
    as_names,
    as_title,
    as_word,
    converted,
)
from entlink.sources.page import Anchor, Page, Paragraph
from entlink.sources.reading import Reading
from entlink.text.dates import check_period
from entlink.text.field_limits import check_texts


class _Paragraph(msgspec.Struct):
    text: str
    links: list[tuple[int, int, str | int]] = []


class _Article(msgspec.Struct):
    id: str | int
    title: str
    paragraphs: list[_Paragraph]
    subjects: list[str] | str | None = None
    types: list[str] | str | None = None
    image: list[str] | str | None = None
    aliases: list[str] | str | None = None
    language: str | None = None
    created: str | int | None = None
    external: dict[str, str | int | None] | None = None
    valid_from: str | int | None = None
    valid_to: str | int | None = None


_DECODER = msgspec.json.Decoder(_Article)


def read(reading: Reading) -> Iterator[Page]:
    """One page an article, its description the first paragraph that is not empty."""
    (path,) = reading.files
    for number, article, is_odd in read_json_lines(path, reading, _DECODER):
        try:
            if is_odd:
                check_texts(msgspec.to_builtins(article))
            page = _page(article, reading.language)
        except FieldError as error:
            reading.fail(error.at(path, f"line {number}"))
            continue
        yield page


def _page(article: _Article, language: str | None) -> Page:
    paragraphs = tuple(_paragraph(given, index) for index, given in enumerate(article.paragraphs, 1))
    valid_from = converted("valid_from", as_date, article.valid_from)
    valid_to = converted("valid_to", as_date, article.valid_to)
    check_period(valid_from, valid_to)
    entity = Entity(
        converted("id", as_id, article.id),
        converted("title", as_title, article.title),
        description=next((paragraph.text for paragraph in paragraphs if paragraph.text.strip()), ""),
        aliases=as_names(article.aliases),
        types=tuple(dict.fromkeys(as_names(article.types) + as_names(article.subjects))),
        images=as_names(article.image),
        language=as_word(article.language) or language,
        created=converted("created", as_date, article.created),
        external=as_external(article.external),
    )
    return Page(entity, paragraphs, valid_from, valid_to)


def _paragraph(given: _Paragraph, index: int) -> Paragraph:
    length = len(given.text)
    for start, end, target in given.links:
        if not 0 <= start < end <= length:
            raise FieldError(
                f"paragraph {index}: the link [{start}, {end}) to {target!r} "
                f"does not lie in the text of {length} characters",
                "Offsets count characters from 0, the end is exclusive",
            )
        if target == "":
            raise FieldError(f"paragraph {index}: the link [{start}, {end}) has no target")
    return Paragraph(given.text, tuple(Anchor(start, end, str(target)) for start, end, target in given.links))
