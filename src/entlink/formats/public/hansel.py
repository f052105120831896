"""Hansel's JSON lines: a text with one mention, and what it means."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document, GoldLink
from entlink.formats.json_records import first_keys, other_fields, read_json_lines
from entlink.formats.offset_units import checked_span
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import Place

NIL = "NIL"


class _Row(msgspec.Struct):
    text: str
    start: int
    end: int
    gold_id: str | int | None
    mention: str | None = None
    id: str | int | None = None


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a line; without an id, the line's number is its id."""
    return read_json_lines(source, _Row, _document, on_error=on_error, on_problem=on_problem)


def looks_like(path: Path, head: bytes) -> bool:
    """Objects with a text, offsets and a gold id."""
    return {"text", "start", "end", "gold_id"} <= first_keys(head)


def _document(row: _Row, fields: dict[str, Any], place: Place) -> Document:
    id = str(place.line if row.id is None else row.id)
    span = checked_span(row.text, row.start, row.end, row.mention, "mention", id, place)
    gold_id = None if row.gold_id is None else str(row.gold_id)
    if gold_id is None or gold_id == NIL or gold_id.startswith(f"{NIL}_"):
        type = (gold_id or "").removeprefix(NIL).removeprefix("_")
        gold = GoldLink(span, (), nil_type=type or None)
    else:
        gold = GoldLink(span, (gold_id,))
    return Document(id, row.text, gold=(gold,), meta=other_fields(fields, _Row))
