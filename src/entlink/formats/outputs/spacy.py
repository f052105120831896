"""What spaCy's `Doc.to_json` gives, with knowledge base ids.

spaCy writes the `kb_id` of spans in span groups (`doc.spans`), but leaves it out of `ents`. So the links are the
`ents` where they have a `kb_id`, because someone has put it in, and the spans of all groups otherwise:

    {"text": "Ann met Bob.", "ents": [{"start": 0, "end": 3, "label": "PERSON", "kb_id": "Q1"}], "tokens": […]}

An empty `kb_id`, or `NIL`, is NIL. spaCy's offsets count characters, as ours do, and it gives no scores: all are 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document, Link, Mention
from entlink.formats.foreign import id_of, read_items, rows_of
from entlink.formats.offset_units import checked_span
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import Place


class SpacySpan(msgspec.Struct):
    """A span of a document."""

    start: int
    end: int
    label: str = ""
    kb_id: str | None = None


class SpacyDoc(msgspec.Struct):
    """What is read of a document."""

    text: str
    id: str | int | None = None
    ents: list[SpacySpan] = []
    spans: dict[str, list[SpacySpan]] = {}


_decoder = msgspec.json.Decoder(SpacyDoc)
_ENT = {"start", "end", "label"}


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document for each `Doc`: one a line, or all in one list."""
    return read_items(source, _decoder, _document, on_error, on_problem)


def looks_like(path: Path, head: bytes) -> bool:
    """Objects with a text and spaCy's lists of entities and tokens; also without the ids that the links need.

    Else entlink's own format would take them for texts without links, and nobody would learn what is missing.
    """
    rows = rows_of(head)
    return bool(rows) and _has_entities(rows[0]) and any(_is_spacy(row) for row in rows if _has_entities(row))


def _has_entities(row: dict[str, Any]) -> bool:
    """A text and entities, but not the lists of entlink's own documents, which may have any key beside them."""
    is_own = "gold" in row or "links" in row
    return isinstance(row.get("text"), str) and isinstance(row.get("ents"), list) and not is_own


def _is_spacy(row: dict[str, Any]) -> bool:
    ents = [ent for ent in row["ents"] if isinstance(ent, dict)]
    return isinstance(row.get("tokens"), list) or any("kb_id" in ent or ent.keys() >= _ENT for ent in ents)


def _document(row: SpacyDoc, place: Place) -> Document:
    id = id_of(row.id, place)
    named = {f"ents[{index}]": span for index, span in enumerate(row.ents) if span.kb_id is not None}
    if not named:
        named = {f"spans.{key}[{at}]": span for key, spans in row.spans.items() for at, span in enumerate(spans)}
    if row.ents and not named:
        problem = "its entities have no kb_id, which spaCy leaves out of ents"
        raise place.error(problem, 'Put it in, or make a span group: doc.spans["links"] = list(doc.ents)')
    links = tuple(_link(span, field, row.text, id, place) for field, span in named.items())
    return Document(id, row.text, links=links)


def _link(one: SpacySpan, field: str, text: str, id: str, place: Place) -> Link:
    span = checked_span(text, one.start, one.end, None, field, id, place)
    type = one.label or None
    mention = Mention(span, text[span.start : span.end], type)
    if one.kb_id in (None, "", "NIL"):
        return Link(mention, None, 1.0, nil_type=type)
    return Link(mention, one.kb_id, 1.0)
