"""Rows [dialogue, turn, mention, entity] of ConEL-2, a linker's run or gold: there are no texts and no offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document, Link, Mention, Span, Turn
from entlink.errors import InputError
from entlink.formats.json_records import json_items
from entlink.io.inputs import Input, OnProblem, failing
from entlink.io.ledger import OnError
from entlink.text.spans import Place

# Far above any honest dialogue, so that a wrong number cannot fill the memory with empty turns.
MAX_TURN = 100_000
LACKS_OFFSETS = {"lacks": "offsets"}
_ROW = rb'\[\s*(?:"(?:[^"\\]|\\.)*+"|\d+)\s*,\s*\d+\s*,\s*"(?:[^"\\]|\\.)*+"\s*,\s*(?:"(?:[^"\\]|\\.)*+"|null)\s*\]'
_HEAD = re.compile(rb"\[\s*" + _ROW, re.DOTALL)


class Row(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A link: in the turn of that number, that mention means that entity (NIL without one)."""

    dialogue: str | int
    turn: int
    mention: str
    entity: str | None


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a dialogue, in the order of their first rows; rows that stand twice are kept twice."""
    fail = failing(on_error, on_problem)
    dialogues: dict[str, list[Row]] = {}
    for place, row in json_items(source, Row, fail):
        try:
            check_row(row, place)
        except InputError as error:
            fail(error)
        else:
            dialogues.setdefault(str(row.dialogue), []).append(row)
    for id, rows in dialogues.items():
        yield made_up(id, rows, LACKS_OFFSETS)


def looks_like(path: Path, head: bytes) -> bool:
    """A list of such rows."""
    return bool(_HEAD.match(head.removeprefix(b"\xef\xbb\xbf").lstrip()))


def check_row(row: Row, place: Place) -> None:
    """Raise for a row that cannot become a link."""
    if not 0 <= row.turn <= MAX_TURN:
        problem = f"the turn number {row.turn} is not from 0 to {MAX_TURN}"
        raise place.error(problem, "Count the dialogue's turns from 0")
    if not row.mention:
        raise place.error("the mention is empty", "Give the text that was linked")


def made_up(id: str, rows: Iterable[Row], meta: Mapping[str, Any]) -> Document:
    """A document whose turns are made up of the mentions alone, one a line, since the texts are not given."""
    rows_by_turn: dict[int, list[Row]] = {}
    for row in rows:
        rows_by_turn.setdefault(row.turn, []).append(row)
    numbers = range(max(rows_by_turn, default=-1) + 1)
    texts = ("\n".join(row.mention for row in rows_by_turn.get(number, ())) for number in numbers)
    bare = Document.of_turns(id, map(Turn, texts))
    links: list[Link] = []
    for number, in_turn in sorted(rows_by_turn.items()):
        start = bare.turn_spans[number].start
        for row in in_turn:
            end = start + len(row.mention)
            links.append(Link(Mention(Span(start, end), row.mention), row.entity or None, 1.0))
            start = end + 1
    return msgspec.structs.replace(bare, links=tuple(links), meta=dict(meta))
