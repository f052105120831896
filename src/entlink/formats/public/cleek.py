"""Documents in JSON whose mentions are linked to two knowledge bases, as in CLEEK: Wikipedia and CN-DBpedia.

    {"id": "n-1", "text": "他住在乌尔姆。", "mentions": [{"mention": "乌尔姆", "start": 3, "end": 6,
      "wikipedia": "乌尔姆", "cndbpedia": "乌尔姆（德国城市）"}]}

The files of CLEEK were not at hand: this is what its paper says that a record holds. A mention is right by either
knowledge base, so that what both say are alternatives; it is NIL where neither has it. An entity of CN-DBpedia has
its knowledge base before it (`cndbpedia:…`), because its names are not those of Wikipedia.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document, GoldLink
from entlink.errors import InputError
from entlink.formats.json_records import Fail, json_items, json_lines
from entlink.formats.offset_units import checked_span
from entlink.io.inputs import Input, OnProblem, failing, open_input
from entlink.io.ledger import OnError
from entlink.text.spans import Place
from entlink.text.titles import spaced

NIL = "NIL"
_HEAD = 1024
CN_DBPEDIA = "cndbpedia"
_MENTION = re.compile(rb'"mentions"\s*:\s*\[\s*\{[^{}]*"(?:cndbpedia|wikipedia)"\s*:')


class _Mention(msgspec.Struct):
    mention: str
    start: int
    end: int
    wikipedia: str | None = None
    cndbpedia: str | None = None
    type: str | None = None


class _Row(msgspec.Struct):
    text: str
    mentions: list[_Mention]
    id: str | int | None = None
    title: str | None = None
    domain: str | None = None


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a record: JSON lines, or a file that is one list."""
    fail = failing(on_error, on_problem)
    for number, (place, row) in enumerate(_rows(source, fail), 1):
        try:
            document = _document(row, number, place)
        except InputError as error:
            fail(error)
        else:
            yield document


def looks_like(path: Path, head: bytes) -> bool:
    """Objects with a text, and mentions that name one of the two knowledge bases."""
    return _first(head) in (b"{", b"[") and b'"text"' in head and bool(_MENTION.search(head))


def _first(head: bytes) -> bytes:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]


def _rows(source: Input, fail: Fail) -> Iterator[tuple[Place, _Row]]:
    if isinstance(source, str | Path):
        with open_input(source) as file:
            is_list = _first(file.read(_HEAD)) == b"["
        if is_list:
            return json_items(source, _Row, fail)
    return ((place, row) for place, row, _ in json_lines(source, _Row, fail))


def _document(row: _Row, number: int, place: Place) -> Document:
    id = str(number if row.id is None else row.id)
    gold = tuple(_gold(mention, at, id, row.text, place) for at, mention in enumerate(row.mentions))
    fields: dict[str, Any] = {"title": row.title, "domain": row.domain}
    return Document(id, row.text, gold=gold, meta={key: value for key, value in fields.items() if value})


def _gold(mention: _Mention, number: int, id: str, text: str, place: Place) -> GoldLink:
    span = checked_span(text, mention.start, mention.end, mention.mention, f"mentions[{number}]", id, place)
    wikipedia, cn_dbpedia = _known(mention.wikipedia), _known(mention.cndbpedia)
    entities = [spaced(wikipedia)] if wikipedia else []
    entities += [f"{CN_DBPEDIA}:{cn_dbpedia}"] if cn_dbpedia else []
    meta = {"type": mention.type} if mention.type else {}
    return GoldLink(span, tuple(entities), nil_type=None if entities else mention.type, meta=meta)


def _known(entity: str | None) -> str:
    """The entity, or nothing where there is none."""
    return "" if entity is None or entity.startswith(NIL) else entity
