"""A linker's answers on ConEL-1, by dialogue and turn: there are no texts and no offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document
from entlink.errors import InputError
from entlink.formats.json_records import Fail, ItemPlace
from entlink.formats.outputs.conel2 import LACKS_OFFSETS, Row, check_row, made_up
from entlink.formats.public.conel import NamedDialogue, begins_dialogues, named_dialogues
from entlink.io.inputs import Input, OnProblem, failing
from entlink.io.ledger import OnError

_TURNS = re.compile(rb'"turns"\s*:\s*\{\s*"\d+"\s*:\s*\{[^{}]*"el_tool_annotations"')


class _Answer(msgspec.Struct):
    mention: str
    entity: str | None = None


class _Turn(msgspec.Struct):
    turn_number: int
    el_tool_annotations: list[_Answer]


class _Dialogue(NamedDialogue, kw_only=True):
    turns: dict[str, _Turn]


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a dialogue, also where there are no answers; ids are as the dialogues' reader makes them."""
    fail = failing(on_error, on_problem)
    for id, dialogue, file in named_dialogues(source, _Dialogue, fail):
        yield made_up(id, _rows(dialogue, id, file, fail), _meta(dialogue))


def looks_like(path: Path, head: bytes) -> bool:
    """A list of objects with a dialogue_id and turns by their numbers."""
    return begins_dialogues(head, _TURNS)


def _meta(dialogue: _Dialogue) -> dict[str, Any]:
    annotated = sorted(turn.turn_number for turn in dialogue.turns.values())
    return {**dialogue.meta, "annotated_turns": annotated, **LACKS_OFFSETS}


def _rows(dialogue: _Dialogue, id: str, file: str, fail: Fail) -> Iterator[Row]:
    for turn in dialogue.turns.values():
        for index, answer in enumerate(turn.el_tool_annotations):
            row = Row(id, turn.turn_number, answer.mention, answer.entity)
            where = f"dialogue {id!r}, turn {turn.turn_number}, el_tool_annotations[{index}]"
            try:
                check_row(row, ItemPlace(file, where))
            except InputError as error:
                fail(error)
            else:
                yield row
