"""BLINK's JSON lines, a mention a row, and the rows of its sister ELQ, a text each.

| of a BLINK row | becomes |
|---|---|
| `context_left`, `mention`, `context_right` | the text, with a space where a context brings none of its own |
| `label_id`, or else `label` | the gold entity; -1 and `unknown` are no label, and what begins with NIL is NIL |
| `label_title`, `Wikipedia_title`, or else `label` | the gold's `meta["title"]` |
| `id`, or else `query_id` | the document's id |
| any other key | the document's `meta` |

A row that BLINK's own tagger made says with `start_pos` that its contexts stand as they are. So does a row that
is written here, and reading it gives the very text back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from entlink.documents import Document, GoldLink, Mention, Span
from entlink.formats.foreign import converted, id_of, read_items, rows_of
from entlink.formats.offset_units import checked_span
from entlink.formats.writing import as_gold, text_of, unwritable
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.folding import is_spaceless
from entlink.text.spans import Place, check_mentions

Id = str | int | None
Rows = dict[str, Any]

NIL = "NIL"
UNLABELLED = "unknown"
NO_ID = -1
CONTEXTS = ("context_left", "mention", "context_right")
_UNLABELLED: Rows = {"label": UNLABELLED, "label_id": NO_ID}
_KNOWN = {*CONTEXTS, "id", "query_id", "label", "label_id", "label_title", "Wikipedia_title", "start_pos", "end_pos"}


class BlinkRow(msgspec.Struct):
    """A mention between its contexts, as BLINK's data and its input have it."""

    context_left: str
    mention: str
    context_right: str
    id: Id = None
    query_id: Id = None
    label: Id = None
    label_id: Id = None
    label_title: str | None = None
    Wikipedia_title: str | None = None
    start_pos: int | None = None
    end_pos: int | None = None


class ElqRow(msgspec.Struct):
    """A text with its mentions, as ELQ's data has it; the lists run side by side."""

    text: str
    mentions: list[tuple[int, int]]
    id: Id = None
    label_id: list[Id] | None = None
    entity: list[str | None] | None = None
    wikidata_id: list[str | None] | None = None


_OF_OTHERS = {"predictions", "target_page_id"}  # of BLINK's answers, and of TempEL
_decoder = msgspec.json.Decoder(dict[str, Any])
_encoder = msgspec.json.Encoder()


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a row."""
    return read_items(source, _decoder, _document, on_error, on_problem)


def looks_like(path: Path, head: bytes) -> bool:
    """Rows with a mention and its contexts but no predictions, or ELQ's with lists that run side by side."""
    return any(_is_blink(row) or _is_elq(row) for row in rows_of(head)[:1])


def write(documents: Iterable[Document], file: BinaryIO, *, lower: bool = False) -> None:
    """A row a mention: `lower` writes its contexts in lower case, as BLINK's own data has them.

    NIL, which BLINK does not know, is the label `NIL` with the id -1. Mentions of a document that has neither gold
    nor links are written without a label, as BLINK takes them.
    """
    for document in as_gold(documents):
        text = text_of(document, "BLINK")
        check_mentions(document)
        labelled = [(gold.span, _label(gold, document)) for gold in document.gold]
        found = labelled or [(mention.span, _UNLABELLED) for mention in document.mentions or ()]
        for index, (span, label) in enumerate(found):
            id = document.id if len(found) == 1 else f"{document.id}:{index}"
            file.write(_line({"id": id, **label, **_contexts(text, span, lower)}, document))


# Reading


def text_and_span(row: BlinkRow, place: Place) -> tuple[str, Span]:
    """The text of a mention between its contexts, and where the mention stands in it."""
    if not row.mention:
        raise place.error("field mention is empty", "Leave the row out")
    left, right = row.context_left, row.context_right
    if row.start_pos != len(left):
        left += _gap(left, row.mention)
        right = _gap(row.mention, right) + right
    return left + row.mention + right, Span(len(left), len(left) + len(row.mention))


def _gap(before: str, after: str) -> str:
    """A space where two parts of a text meet without one; scripts that write no spaces need none."""
    if not before or not after or before[-1].isspace() or after[0].isspace():
        return ""
    return "" if is_spaceless(before[-1]) or is_spaceless(after[0]) else " "


def _document(values: Rows, place: Place) -> Document:
    if "text" in values and "context_left" not in values:
        return _elq_document(converted(values, ElqRow, place), place)
    row = converted(values, BlinkRow, place)
    text, span = text_and_span(row, place)
    meta = {key: value for key, value in values.items() if key not in _KNOWN}
    id = id_of(row.query_id if row.id is None else row.id, place)
    label = _given(row.label_id) or _given(row.label)
    if label is None:
        return Document(id, text, mentions=(Mention(span, row.mention),), meta=meta)
    entities = () if label.startswith(NIL) else (label,)
    return Document(id, text, gold=(GoldLink(span, entities, meta=_gold_meta(row) if entities else {}),), meta=meta)


def _given(label: Id) -> str | None:
    """The label, unless it is one of those that say that there is none."""
    return None if label in (None, "", NO_ID, str(NO_ID), UNLABELLED) else str(label)


def _gold_meta(row: BlinkRow) -> dict[str, str]:
    """Where there is a title beside it, the label is a description."""
    title, label = row.label_title or row.Wikipedia_title, _given(row.label)
    if title is not None:
        return {"title": title} if label is None else {"title": title, "description": label}
    return {} if label in (None, _given(row.label_id)) else {"title": str(label)}


def _elq_document(row: ElqRow, place: Place) -> Document:
    id = id_of(row.id, place)
    lists = {"label_id": row.label_id, "entity": row.entity, "wikidata_id": row.wikidata_id}
    for name, values in lists.items():
        if values is not None and len(values) != len(row.mentions):
            problem = f"field {name} has {len(values)} values for {len(row.mentions)} mentions"
            raise place.error(problem, "Give one for each mention")
    gold = []
    for index, (start, end) in enumerate(row.mentions):
        span = checked_span(row.text, start, end, None, f"mentions[{index}]", id, place)
        title = _given(_at(row.entity, index))
        label = _given(_at(row.wikidata_id, index)) or _given(_at(row.label_id, index)) or title
        gold.append(GoldLink(span, () if label is None else (label,), meta={} if title is None else {"title": title}))
    return Document(id, row.text, gold=tuple(gold))


def _at(values: list[Any] | None, index: int) -> Any:
    return None if values is None else values[index]


def _is_blink(row: Rows) -> bool:
    return all(isinstance(row.get(key), str) for key in CONTEXTS) and not _OF_OTHERS & row.keys()


def _is_elq(row: Rows) -> bool:
    lists = (row.get("mentions"), row.get("label_id", row.get("wikidata_id")))
    return isinstance(row.get("text"), str) and all(isinstance(value, list) for value in lists)


# Writing


def _label(gold: GoldLink, document: Document) -> Rows:
    if gold.is_nil:
        return {"label": NIL, "label_id": NO_ID}
    entity = gold.entities[0]
    if _given(entity) is None or entity.startswith(NIL):
        problem = f"the entity {entity!r} would be read as none"
        raise unwritable(document, "BLINK", problem, "Give it another id")
    # BLINK's own ids are numbers, and it does not take them as text.
    is_number = re.fullmatch("0|[1-9][0-9]{,17}", entity) is not None
    title = gold.meta.get("title")
    return {"label": entity if title is None else title, "label_id": int(entity) if is_number else entity}


def _contexts(text: str, span: Span, lower: bool) -> Rows:
    parts = [text[: span.start], text[span.start : span.end], text[span.end :]]
    if lower:
        parts = [part.lower() for part in parts]
    start = len(parts[0])
    return {**dict(zip(CONTEXTS, parts, strict=True)), "start_pos": start, "end_pos": start + len(parts[1])}


def _line(row: Rows, document: Document) -> bytes:
    try:
        return _encoder.encode(row) + b"\n"
    except UnicodeEncodeError as error:
        problem, hint = "it holds half of a surrogate pair", "Read its source with the right encoding"
        raise unwritable(document, "BLINK", problem, hint) from error
