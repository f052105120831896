"""Spans of ReFinED as JSON: its own fields, as `dataclasses.asdict` gives them, beside their text.

ReFinED itself writes no file. What is read is an object a text:

    {"text": "England won.", "spans": [{"text": "England", "start": 0, "ln": 7, "predicted_entity": {"wikidata_entity_id": "Q47762", "wikipedia_entity_title": "England national football team"}, "entity_linking_model_confidence_score": 0.92, "coarse_mention_type": "ORG"}]}

`length` may stand for `ln`. Candidates are `top_k_predicted_entities`, or else `candidate_entities`: pairs of an
entity (an object, or its id alone) and a score. Spans that are dates or numbers (`coarse_type` other than MENTION)
are not linked by ReFinED, and are left out. No entity, or `Q-1`, is NIL.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Candidate, Document, Link, Mention
from entlink.formats.foreign import id_of, read_items, rows_of
from entlink.formats.offset_units import checked_span
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import Place
from entlink.text.titles import spaced

_NIL = "Q-1"


class RefinedEntity(msgspec.Struct):
    """An entity by its Wikidata id, its Wikipedia title, or both."""

    wikidata_entity_id: str | None = None
    wikipedia_entity_title: str | None = None
    human_readable_name: str | None = None

    @property
    def id(self) -> str | None:
        """The Wikidata id, or else the title; None is NIL."""
        qid = None if self.wikidata_entity_id == _NIL else self.wikidata_entity_id
        return qid or spaced(self.wikipedia_entity_title or "") or None

    @property
    def title(self) -> str | None:
        return spaced(self.wikipedia_entity_title or "") or self.human_readable_name or None


Scored = tuple[RefinedEntity | str, float]


class RefinedSpan(msgspec.Struct):
    """A mention with what ReFinED says of it."""

    start: int
    text: str | None = None
    ln: int | None = None
    length: int | None = None
    predicted_entity: RefinedEntity | None = None
    entity_linking_model_confidence_score: float | None = None
    top_k_predicted_entities: list[Scored] | None = None
    candidate_entities: list[Scored] | None = None
    predicted_entity_types: list[tuple[str, str, float]] | None = None
    coarse_type: str | None = None
    coarse_mention_type: str | None = None


class RefinedDoc(msgspec.Struct):
    """A text with its spans."""

    text: str
    spans: list[RefinedSpan] | None
    doc_id: str | int | None = None
    id: str | int | None = None


_decoder = msgspec.json.Decoder(RefinedDoc)
_OWN = {"ln", "predicted_entity", "entity_linking_model_confidence_score"}


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a text: one a line, or all in one list."""
    return read_items(source, _decoder, _document, on_error, on_problem)


def looks_like(path: Path, head: bytes) -> bool:
    """Objects with a text and spans that have fields of ReFinED."""
    return any(map(_is_refined, rows_of(head)))


def _is_refined(row: dict[str, Any]) -> bool:
    spans = row.get("spans")
    if not isinstance(row.get("text"), str) or not isinstance(spans, list):
        return False
    return any(isinstance(span, dict) and _OWN & span.keys() for span in spans)


def _document(row: RefinedDoc, place: Place) -> Document:
    id = id_of(row.doc_id if row.id is None else row.id, place)
    spans = [(f"spans[{index}]", span) for index, span in enumerate(row.spans or ())]
    linked = [(field, span) for field, span in spans if span.coarse_type in (None, "MENTION")]
    return Document(id, row.text, links=tuple(_link(span, field, row.text, id, place) for field, span in linked))


def _link(one: RefinedSpan, field: str, text: str, id: str, place: Place) -> Link:
    length = one.length if one.ln is None else one.ln
    if length is None:
        raise place.error(f"field {field} has neither ln nor length", "Give its length in characters")
    if one.text and one.start >= 0 and text.startswith(one.text, one.start):
        length = len(one.text)  # spans that were given to ReFinED keep whatever length they were given
    span = checked_span(text, one.start, one.start + length, one.text, field, id, place)
    types = [type for _, type, _ in one.predicted_entity_types or ()]
    type = one.coarse_mention_type or (types[0] if types else None)
    mention = Mention(span, text[span.start : span.end], type)
    entity = one.predicted_entity or RefinedEntity()
    score = one.entity_linking_model_confidence_score
    candidates = tuple(_candidates(one.top_k_predicted_entities or one.candidate_entities or []))
    nil_type = type if entity.id is None else None
    return Link(
        mention,
        entity.id,
        1.0 if score is None else score,
        nil_type=nil_type,
        title=entity.title if entity.id else None,
        candidates=candidates,
    )


def _candidates(scored: list[Scored]) -> Iterator[Candidate]:
    for entity, score in scored:
        one = RefinedEntity(entity) if isinstance(entity, str) else entity
        if one.id is not None:
            yield Candidate(one.id, score, title=one.title)
