"""A linker's answers on ConEL-1, by dialogue and turn: there are no texts and no offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document
from entlink.errors import InputError
from entlink.formats.conel import unique_ids
from entlink.formats.conel_runs import LACKS_OFFSETS, Row, check_row, made_up
from entlink.formats.inputs import Input, OnProblem, failing
from entlink.formats.json_records import Fail, ItemPlace, json_items
from entlink.sources.ledger import OnError

_HEAD = re.compile(rb'\[\s*\{\s*"(?:dialogue_id|dataset_name|turns)"')
_TURNS = re.compile(rb'"turns"\s*:\s*\{\s*"\d+"\s*:\s*\{[^{}]*"el_tool_annotations"')


class _Answer(msgspec.Struct):
    mention: str
    entity: str | None = None


class _Turn(msgspec.Struct):
    turn_number: int
    el_tool_annotations: list[_Answer]


class _Dialogue(msgspec.Struct):
    dialogue_id: str | int
    turns: dict[str, _Turn]
    dataset_name: str | None = None


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a dialogue, also where there are no answers; ids are as the dialogues' reader makes them."""
    fail = failing(on_error, on_problem)
    dialogues = list(json_items(source, _Dialogue, fail))
    ids = unique_ids((dialogue.dataset_name, dialogue.dialogue_id) for _, dialogue in dialogues)
    for (place, dialogue), id in zip(dialogues, ids, strict=True):
        yield made_up(id, _rows(dialogue, id, place.file, fail), _meta(dialogue))


def looks_like(path: Path, head: bytes) -> bool:
    """A list of objects with a dialogue_id and turns by their numbers."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return bool(_HEAD.match(start) and b'"dialogue_id"' in start and _TURNS.search(start))


def _meta(dialogue: _Dialogue) -> dict[str, Any]:
    meta: dict[str, Any] = {} if dialogue.dataset_name is None else {"dataset_name": dialogue.dataset_name}
    return {**meta, "annotated_turns": sorted(turn.turn_number for turn in dialogue.turns.values()), **LACKS_OFFSETS}


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
