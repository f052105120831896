"""The documents of ZESHEL: one file a world, a JSON line `{title, text, document_id}` an entity."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from entlink.documents import Entity
from entlink.errors import FieldError
from entlink.io.files import plain_name
from entlink.io.lines import read_json_lines
from entlink.sources.fields import as_id, as_title, converted
from entlink.sources.page import Page, Paragraph
from entlink.sources.reading import Reading
from entlink.text.field_limits import check_texts


class _ZeshelDocument(msgspec.Struct):
    title: str
    document_id: str | int
    text: str = ""


_DECODER = msgspec.json.Decoder(_ZeshelDocument)


def read(reading: Reading) -> Iterator[Page]:
    """One page a document; its only type is the world, which is the name of its file."""
    for path in reading.files:
        yield from _read_world(path, reading)


def _read_world(path: Path, reading: Reading) -> Iterator[Page]:
    types = (Path(plain_name(path)).stem,)
    for number, document, is_odd in read_json_lines(path, reading, _DECODER):
        try:
            if is_odd:
                check_texts(msgspec.to_builtins(document))
            page = _page(document, types, reading.language)
        except FieldError as error:
            reading.fail(error.at(path, f"line {number}"))
            continue
        yield page


def _page(document: _ZeshelDocument, types: tuple[str, ...], language: str | None) -> Page:
    id = converted("document_id", as_id, document.document_id)
    title = converted("title", as_title, document.title)
    # The text stays as it is: the offsets of ZESHEL's mentions count its tokens.
    paragraphs = (Paragraph(document.text),) if document.text else ()
    return Page(Entity(id, title, document.text, types=types, language=language), paragraphs)
