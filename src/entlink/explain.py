"""Why a span was linked, and why one was not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink.documents import Candidate, Document, Link, Mention, Record, Span
from entlink.kb.folding import key_of
from entlink.mentions.dictionary import DictionaryDetector, Reason, Verdict

if TYPE_CHECKING:
    from entlink.linker import Linker

OUTCOMES = ("linked", "nil", "not in the dictionary", "rejected", "lost to an overlap", "filtered out")


class SpanExplanation(Record, frozen=True):
    """What became of one span: an outcome, the reason in words, and the evidence behind it."""

    span: Span
    text: str
    outcome: str
    reason: str
    detection: float | None = None
    lost_to: Span | None = None
    link: Link | None = None
    candidates: tuple[Candidate, ...] = ()


class Explanation(Record, frozen=True):
    """All that can be said about the names of a text."""

    document: Document
    spans: tuple[SpanExplanation, ...]

    def at(self, span: Span) -> SpanExplanation | None:
        """The explanation of exactly this span."""
        return next((one for one in self.spans if one.span == span), None)


def explain(linker: Linker, document: Document, span: Span | None = None) -> Explanation:
    """Explain every name found in a document, or one span of it."""
    linked = linker.link(document)
    links = {link.mention.span: link for link in linked.links}
    told: dict[Span, SpanExplanation] = {}
    if isinstance(linker.detector, DictionaryDetector):

        def tell(place: Span, verdict: Verdict, lost_to: Span | None) -> None:
            if verdict.reason:
                told[place] = _rejected(linker, document, place, verdict, lost_to)
            elif place not in links:
                told[place] = _filtered(linker, document, place, verdict)

        linker.detector.explain(document.text, tell)
    for place, link in links.items():
        told[place] = _decided(document, place, link)
    if span is not None:
        one = told.get(span) or _unknown(linker, document, span, links)
        return Explanation(linked, (one,))
    return Explanation(linked, tuple(told[place] for place in sorted(told, key=lambda s: (s.start, s.end))))


def _decided(document: Document, span: Span, link: Link) -> SpanExplanation:
    if link.entity is not None:
        reason = _why_linked(link)
        outcome = "linked"
    else:
        best = f"the best candidate scores {link.candidates[0].score:.3f}" if link.candidates else "no candidate"
        outcome, reason = "nil", f"{best}, too little for a link"
    return SpanExplanation(
        span,
        document.text[span.start : span.end],
        outcome,
        reason,
        link.mention.score,
        None,
        link,
        link.candidates,
    )


def _why_linked(link: Link) -> str:
    best = link.candidates[0] if link.candidates else None
    if best is not None and best.evidence.get("pinned"):
        return "pinned by a rule"
    others = len(link.candidates) - 1
    against = f"the best of {others + 1} candidates" if others > 0 else "the only candidate"
    return f"{against}, score {link.score:.3f}"


def _rejected(
    linker: Linker, document: Document, span: Span, verdict: Verdict, lost_to: Span | None
) -> SpanExplanation:
    text = document.text[span.start : span.end]
    assert verdict.reason is not None
    outcome = "lost to an overlap" if verdict.reason is Reason.LOST else "rejected"
    reason = verdict.reason.value
    if lost_to is not None:
        reason = f"{reason}, {document.text[lost_to.start : lost_to.end]!r}"
    elif verdict.value is not None:
        reason = f"{reason} ({verdict.value:.3g})"
    mention = Mention(span, text)
    candidates = tuple(linker.candidates(document, [mention])[0])
    return SpanExplanation(span, text, outcome, reason, verdict.score, lost_to, None, candidates)


def _filtered(linker: Linker, document: Document, span: Span, verdict: Verdict) -> SpanExplanation:
    text = document.text[span.start : span.end]
    candidates = tuple(linker.candidates(document, [Mention(span, text)])[0])
    reason = "found, but no entity of the wanted types and score bears the name"
    return SpanExplanation(span, text, "filtered out", reason, verdict.score, None, None, candidates)


def _unknown(linker: Linker, document: Document, span: Span, links: dict[Span, Link]) -> SpanExplanation:
    """A span no detector told of."""
    text = document.text[span.start : span.end]
    over = next((place for place in links if place.overlaps(span)), None)
    candidates = tuple(linker.candidates(document, [Mention(span, text)])[0])
    if linker.kb.meaning(text).entries:
        if over is not None:
            winner = document.text[over.start : over.end]
            return SpanExplanation(
                span, text, "lost to an overlap", f"{winner!r} is linked there", None, over, None, candidates
            )
        reason = "a name, but filtered out by type or score, or not standing between word ends"
        return SpanExplanation(span, text, "filtered out", reason, None, None, None, candidates)
    near = ", ".join(sorted({one.title or one.entity for one in candidates})[:3])
    reason = f"no name folds to {key_of(text)!r}" + (f"; nearest by spelling: {near}" if near else "")
    return SpanExplanation(span, text, "not in the dictionary", reason, None, None, None, candidates)
