"""Explanations for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from entlink.formats.documents.lines import SCORE_DECIMALS
from entlink.linking.explain import Explanation, SpanExplanation
from entlink_cli.terminal.output import columns, named

if TYPE_CHECKING:
    from entlink.documents import Candidate, Document, Span

_CANDIDATES_SHOWN = 5


def explanation_lines(explanation: Explanation) -> list[str]:
    """What became of each name, with the evidence."""
    lines = [line for one in explanation.spans for line in _span_lines(one, explanation.document)]
    return lines or ["no name of the knowledge base stands in it"]


def _span_lines(one: SpanExplanation, document: Document) -> list[str]:
    target = (
        f" → {named(one.link.title or one.link.entity, one.link.entity)}"
        if one.link and one.link.entity is not None
        else ""
    )
    lines = [f"{one.text!r} at {_where(one.span, document)}: {one.outcome}{target}", f"  {one.reason}"]
    if one.detection is not None:
        lines.append(f"  as a mention it scores {one.detection:.3f}")
    rows = [_candidate_row(candidate) for candidate in one.candidates[:_CANDIDATES_SHOWN]]
    more = len(one.candidates) - _CANDIDATES_SHOWN
    return [*lines, *columns(rows, "  "), *([f"  and {more} more candidates"] if more > 0 else [])]


def _where(span: Span, document: Document) -> str:
    start, turn = _place(span.start, document)
    end, end_turn = _place(span.end, document)
    if turn is None:
        return f"{start}:{end}"
    return (
        f"{start}:{end} of turn {turn}" if turn == end_turn else f"{start} of turn {turn} to {end} of turn {end_turn}"
    )


def _candidate_row(candidate: Candidate) -> tuple[str, ...]:
    evidence = ", ".join(f"{name} {number:.3g}" for name, number in candidate.evidence.items())
    return (f"{candidate.score:.3f}", candidate.entity, candidate.title or "", evidence)


def encode_explanation(explanation: Explanation) -> bytes:
    """An explanation as one line of JSON; offsets are as in the document format."""
    document = explanation.document
    spans = [_as_json(one, document) for one in explanation.spans]
    return msgspec.json.encode({"id": document.id, "spans": spans})


def _as_json(one: SpanExplanation, document: Document) -> dict[str, Any]:
    link = one.link
    return {
        **_offsets(one.span, document),
        "text": one.text,
        "outcome": one.outcome,
        "reason": one.reason,
        "detection": _rounded(one.detection),
        "lost_to": None if one.lost_to is None else _offsets(one.lost_to, document),
        "entity": link.entity if link else None,
        "title": link.title if link else None,
        "score": _rounded(link.score) if link else None,
        "candidates": [
            {
                "entity": candidate.entity,
                "title": candidate.title,
                "score": _rounded(candidate.score),
                "evidence": dict(candidate.evidence),
            }
            for candidate in one.candidates
        ],
    }


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, SCORE_DECIMALS)


def _offsets(span: Span, document: Document) -> dict[str, int]:
    """`end_turn` is told only of a span that reaches into another turn than it begins in."""
    start, turn = _place(span.start, document)
    end, end_turn = _place(span.end, document)
    place = {"start": start, "end": end}
    if turn is None or end_turn is None:
        return place
    return {"turn": turn, **place, **({"end_turn": end_turn} if end_turn != turn else {})}


def _place(offset: int, document: Document) -> tuple[int, int | None]:
    """An offset in the turn that holds it, with that turn's number; without turns, in the text."""
    for number, turn in reversed(list(enumerate(document.turn_spans))):
        if turn.start <= offset:
            return offset - turn.start, number
    return offset, None
