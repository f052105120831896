"""Benchmarks of ELEVANT: JSON lines with a text and its labels, read and written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from entlink.documents import Document, GoldLink
from entlink.errors import InputError
from entlink.formats.gold_meta import wrong_meta
from entlink.formats.json_records import converted, first_keys, other_fields, read_json_lines
from entlink.formats.offset_units import checked_span
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import Place

NIL, NIL_NAME, NO_TYPE = "<NIL>", "Unknown", "OTHER"
# ELEVANT never counts these as missed.
OPTIONAL_TYPES = frozenset({"DATETIME", "QUANTITY"})
_QID = re.compile(r"Q\d+")
_WHOLE_NUMBER = re.compile(r"0|-?[1-9]\d{0,17}")
_META_NAMES = {"name": "title"}  # where the gold's meta has another name for a field of a label
_encoder = msgspec.json.Encoder()


class _Label(msgspec.Struct):
    span: tuple[int, int]
    entity_id: str | None
    id: int | None = None
    name: str = ""
    type: str = NO_TYPE
    optional: bool = False
    parent: int | None = None


class _Article(msgspec.Struct):
    id: str | int
    text: str
    title: str = ""
    evaluation_span: tuple[int, int] | None = None
    labels: list[dict[str, Any]] = []


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a line, its labels as gold."""
    return read_json_lines(source, _Article, _document, on_error=on_error, on_problem=on_problem)


def write(documents: Iterable[Document], file: BinaryIO) -> None:
    """A line a document, its gold as labels; links are not written."""
    for document in documents:
        try:
            file.write(_encoder.encode(_row(document)) + b"\n")
        except (TypeError, ValueError, RecursionError) as error:
            problem = f"document {document.id!r} cannot be written: {error}"
            raise InputError(f"{problem}. Keep only JSON values in its meta.") from error


def looks_like(path: Path, head: bytes) -> bool:
    """Objects with a text, labels and an evaluation span, or labels with entity ids."""
    keys = first_keys(head)
    return {"text", "labels"} <= keys and ("evaluation_span" in keys or b'"entity_id"' in head)


# Reading


def _document(article: _Article, fields: dict[str, Any], place: Place) -> Document:
    id, text = str(article.id), article.text
    gold = tuple(_gold(label, index, id, text, place) for index, label in enumerate(article.labels))
    meta = {"title": article.title} if article.title else {}
    if article.evaluation_span not in (None, (0, len(text))):
        meta["evaluation_span"] = _evaluation_span(article, place)
    return Document(id, text, gold=gold, meta={**meta, **other_fields(fields, _Article)})


def _evaluation_span(article: _Article, place: Place) -> Any:
    assert article.evaluation_span is not None
    start, end = article.evaluation_span
    if not 0 <= start <= end <= len(article.text):
        problem = f"field evaluation_span: {start}-{end} does not lie in the text of {len(article.text)} characters"
        raise place.error(problem, "Give offsets of characters, or leave the field out")
    return [start, end]


def _gold(fields: dict[str, Any], index: int, document: str, text: str, place: Place) -> GoldLink:
    label = converted(fields, _Label, f"labels[{index}]", place)
    span = checked_span(text, *label.span, None, f"labels[{index}]", document, place)
    entities = (label.entity_id,) if label.entity_id and _QID.fullmatch(label.entity_id) else ()
    implied = _is_implied(label.parent, label.type)
    meta = _meta(label, index, fields, is_nil=not entities, implied=implied)
    return GoldLink(span, entities, optional=label.optional or implied, meta=meta)


def _is_implied(parent: Any, type: Any) -> bool:
    """Whether a label is optional without saying so.

    A parent and its children are one thing to link, and the parent stands for it: no child is a miss. A date
    or a quantity is none either.
    """
    return parent is not None or (isinstance(type, str) and not OPTIONAL_TYPES.isdisjoint(type.split("|")))


def _meta(label: _Label, index: int, fields: dict[str, Any], *, is_nil: bool, implied: bool) -> dict[str, Any]:
    """All that a label says beside its span and entity, so that it can be written as it was."""
    meta: dict[str, Any] = {"title": label.name, "type": label.type, "id": index if label.id is None else label.id}
    if "parent" in fields:
        meta["parent"] = label.parent
    if is_nil and label.entity_id != NIL:
        meta["entity_id"] = label.entity_id
    if "optional" in fields and (implied or not label.optional):
        meta["optional"] = label.optional
    return {**meta, **other_fields(fields, _Label)}


# Writing


def _row(document: Document) -> dict[str, Any]:
    meta = dict(document.meta)
    row = {
        "id": int(document.id) if _WHOLE_NUMBER.fullmatch(document.id) else document.id,
        "title": _first(meta.pop("title", None), ""),
        "text": document.text,
        "evaluation_span": meta.pop("evaluation_span", [0, len(document.text)]),
        "labels": [_label(gold, index, document.id) for index, gold in enumerate(document.gold)],
    }
    try:
        msgspec.convert(row, _Article)
    except msgspec.ValidationError as error:
        problem, field = _fault(error)
        raise InputError(f"document {document.id!r}, field meta.{field}: {problem}. Correct it.") from error
    return {**row, **{key: value for key, value in meta.items() if key not in row}}


def _label(gold: GoldLink, index: int, document: str) -> dict[str, Any]:
    meta = dict(gold.meta)
    label: dict[str, Any] = {
        "id": meta.pop("id", index),
        "span": [gold.span.start, gold.span.end],
        "entity_id": meta.pop("entity_id", NIL) if gold.is_nil else _written_entity(gold, document),
        "name": _first(meta.pop("title", None), NIL_NAME if gold.is_nil else ""),
        "type": _first(meta.pop("type", None), gold.nil_type or NO_TYPE),
    }
    label |= {key: value for key, value in meta.items() if key not in label}
    if gold.optional and not _is_implied(label.get("parent"), label["type"]):
        label["optional"] = True
    _check(label, gold, document)
    return label


def _first(value: Any, default: str) -> Any:
    return default if value is None else value


def _check(label: dict[str, Any], gold: GoldLink, document: str) -> None:
    """Raise for a label that could not be read again, because of what stands in the gold's meta."""
    try:
        msgspec.convert(label, _Label)
    except msgspec.ValidationError as error:
        problem, field = _fault(error)
        raise wrong_meta(document, gold, _META_NAMES.get(field, field), problem) from error


def _fault(error: msgspec.ValidationError) -> tuple[str, str]:
    """What is wrong, and with which field."""
    problem, _, path = str(error).partition(" - at `$.")
    return problem, path.rstrip("`")


def _written_entity(gold: GoldLink, document: str) -> str:
    if len(gold.entities) == 1 and _QID.fullmatch(gold.entities[0]):
        return gold.entities[0]
    where = f"document {document!r}: the gold at {gold.span.start}-{gold.span.end}"
    if len(gold.entities) > 1:
        raise InputError(
            f"{where} has {len(gold.entities)} entities, and a label of ELEVANT one. Choose one of them."
        )
    raise InputError(
        f"{where} has the entity {gold.entities[0]!r}, but ELEVANT takes only Wikidata ids such as Q90. "
        "Replace the ids by those of Wikidata first."
    )
