"""JSON lines with a text and its linked mentions, as the Schools Wikipedia sets have them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document, GoldLink
from entlink.formats.json_records import converted, first_keys, other_fields, read_json_lines
from entlink.formats.offset_units import checked_span
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import Place

_MENTION = re.compile(rb'"mentions"\s*:\s*\[\s*\{[^{}]*"entity"\s*:')
# entlink's own documents have mentions too, but say elsewhere what they mean.
_OTHERS = frozenset({"gold", "links", "turns"})


class _Mention(msgspec.Struct):
    start: int
    end: int
    entity: str | int | None
    text: str | None = None


class _Row(msgspec.Struct):
    text: str
    mentions: list[dict[str, Any]]
    id: str | int | None = None


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a line; without an id, the line's number is its id."""
    return read_json_lines(source, _Row, _document, on_error=on_error, on_problem=on_problem)


def looks_like(path: Path, head: bytes) -> bool:
    """Objects with a text and mentions that name an entity."""
    keys = first_keys(head)
    return {"text", "mentions"} <= keys and keys.isdisjoint(_OTHERS) and bool(_MENTION.search(head))


def _document(row: _Row, fields: dict[str, Any], place: Place) -> Document:
    id = str(place.line if row.id is None else row.id)
    gold = tuple(_gold(mention, index, id, row.text, place) for index, mention in enumerate(row.mentions))
    return Document(id, row.text, gold=gold, meta=other_fields(fields, _Row))


def _gold(fields: dict[str, Any], index: int, document: str, text: str, place: Place) -> GoldLink:
    mention = converted(fields, _Mention, f"mentions[{index}]", place)
    span = checked_span(text, mention.start, mention.end, mention.text, f"mentions[{index}]", document, place)
    entities = () if mention.entity is None else (str(mention.entity),)
    return GoldLink(span, entities, meta=other_fields(fields, _Mention))
