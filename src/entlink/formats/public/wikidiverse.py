"""WikiDiverse's two JSON lists: a captioned picture with its mentions, and a mention with its candidates.

    ["Ann at Ulm Minster.", "https://…/Ulm.jpg", "education", [["Ann", "Person", 0, 3, "nil"], …]]
    ["Ann at Ulm Minster.", "https://…/Ulm.jpg", "Ulm Minster", "Location", "Ann at", ".", "https://…/Ulm_Minster",
     ["https://…/Ulm", …], "education", 7, 18]

Entities are addresses of English Wikipedia and become titles. A picture is named as the released files are: by the
MD5 of the last part of its address.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import msgspec

from entlink.documents import Document, GoldLink, Image
from entlink.errors import InputError
from entlink.formats.json_records import ItemPlace, json_items
from entlink.formats.offset_units import checked_span
from entlink.io.inputs import Input, OnProblem, failing, input_name
from entlink.io.ledger import OnError
from entlink.text.spans import Place
from entlink.text.titles import spaced

NIL = "nil"
_STRING = rb'"(?:[^"\\]|\\.)*+"'
_ROW = re.compile(rb'\[\s*\[\s*%b\s*,\s*"https?:[^"]*"\s*,\s*%b\s*,\s*(?:\[|%b)' % (_STRING, _STRING, _STRING))
# Some addresses have lost their first letter, or have another sign in its place.
_PAGE = re.compile(r"(?:.?h?ttps?://)?[a-z-]+(?:\.m)?\.wikipedia\.org/wiki/(.+)", re.DOTALL)


class _Mention(msgspec.Struct, array_like=True):
    text: str
    type: str
    start: int
    end: int
    entity: str | None = None


class _Row(msgspec.Struct, array_like=True):
    """Either layout: the fourth field is a list of mentions, or the type of the one mention."""

    caption: str
    image: str | None
    third: str | None
    fourth: list[_Mention] | str | None
    left: str = ""
    right: str = ""
    entity: str | None = None
    candidates: list[str] = []
    topic: str | None = None
    start: int = -1
    end: int = -1


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a row; its id is the name of the file and the number of the row, from 0."""
    fail = failing(on_error, on_problem)
    name = Path(input_name(source)).stem or "row"
    for place, row in json_items(source, _Row, fail):
        assert isinstance(place, ItemPlace)
        try:
            document = _document(row, f"{name}-{place.item.removeprefix('item ')}", place)
        except InputError as error:
            fail(error)
        else:
            yield document


def looks_like(path: Path, head: bytes) -> bool:
    """A list of rows that begin with a text, an address and another text."""
    return bool(_ROW.match(head.removeprefix(b"\xef\xbb\xbf").lstrip()))


def _document(row: _Row, id: str, place: Place) -> Document:
    if isinstance(row.fourth, list):
        gold = tuple(
            _gold(row.caption, mention, f"mentions[{index}]", id, place) for index, mention in enumerate(row.fourth)
        )
        topic = row.third
    else:
        mention = _Mention(row.third or "", row.fourth or "", row.start, row.end, row.entity)
        gold = (_with_candidates(_gold(row.caption, mention, "the mention", id, place), row.candidates),)
        topic = row.topic
    meta = {"topic": topic, "image": row.image}
    return Document(
        id,
        row.caption,
        images=(Image(picture_name(row.image)),) if row.image else (),
        gold=gold,
        meta={key: value for key, value in meta.items() if value},
    )


def _gold(caption: str, mention: _Mention, field: str, id: str, place: Place) -> GoldLink:
    span = checked_span(caption, mention.start, mention.end, mention.text, field, id, place)
    title = page_title(mention.entity)
    meta = {"type": mention.type} if mention.type else {}
    if title is None:
        return GoldLink(span, (), nil_type=mention.type or None, meta=meta)
    return GoldLink(span, (title,), meta=meta)


def _with_candidates(gold: GoldLink, candidates: list[str]) -> GoldLink:
    """What was retrieved for a mention, best first, as titles."""
    titles: list[Any] = [page_title(one) for one in candidates]
    return msgspec.structs.replace(gold, meta={**gold.meta, "retrieved": titles}) if titles else gold


def page_title(address: str | None) -> str | None:
    """The title behind an address of Wikipedia, or behind a name; None for NIL."""
    name = (address or "").strip()
    if not name or name.lower() == NIL:
        return None
    found = _PAGE.fullmatch(name)
    title = found[1].partition("#")[0] if found else name
    return spaced(unquote(title)).strip()


def picture_name(address: str) -> str:
    """What the file of a picture is called in the released folder; drawings were made PNG."""
    last = address.rsplit("/", 1)[-1]
    end = PurePosixPath(last).suffix
    end = ".png" if end.lower() == ".svg" else end
    return hashlib.md5(last.encode(), usedforsecurity=False).hexdigest() + end
