"""Ultra-Fine entity typing: a mention in its sentence, and all types that people gave it there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from entlink.documents import Leaf, Span
from entlink.formats.json_records import read_json_lines
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import Place


class TypedMention(Leaf, frozen=True):
    """A mention in a sentence, with its types."""

    id: str
    sentence: str
    span: Span
    types: tuple[str, ...]


class _Row(msgspec.Struct):
    annot_id: str | int
    mention_span: str
    left_context_token: list[str]
    right_context_token: list[str]
    y_str: list[str]


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[TypedMention]:
    """The mentions of a file of JSON lines; the sentence is its tokens with a space between two."""
    return read_json_lines(source, _Row, _mention, on_error=on_error, on_problem=on_problem)


def _mention(row: _Row, _: dict[str, Any], place: Place) -> TypedMention:
    mention = " ".join(row.mention_span.split())
    if not mention:
        raise place.error("field mention_span is empty", "Leave the record out")
    types = tuple(dict.fromkeys(name for type in row.y_str if (name := type.strip())))
    if not types:
        raise place.error("field y_str has no type", "Leave the record out")
    left = " ".join(row.left_context_token)
    start = len(left) + 1 if left else 0
    parts = (left, mention, " ".join(row.right_context_token))
    return TypedMention(
        str(row.annot_id), " ".join(part for part in parts if part), Span(start, start + len(mention)), types
    )
