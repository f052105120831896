"""Why a span was linked, and why one was not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Literal, Protocol, get_args, runtime_checkable

import msgspec

from entlink.documents import Candidate, Document, Link, Mention, Record, Span
from entlink.interfaces import Explainer, Judgement, Reason, Settling, Verdict
from entlink.linking.conversation.personal.gold_phrases import PERSONAL
from entlink.linking.conversation.personal.said import SAID_BEFORE
from entlink.text.folding import key_of
from entlink.text.spans import check_mentions

if TYPE_CHECKING:
    from entlink.linking.linker import Linker

Outcome = Literal["linked", "nil", "not in the dictionary", "rejected", "lost to an overlap", "filtered out"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

_NEAREST_SHOWN = 3
_OTHER_TURN = "its turn is of none of the speakers that are linked"


class SpanExplanation(Record, frozen=True):
    """What became of one span: an outcome, the reason in words, and the evidence behind it."""

    span: Span
    text: str
    outcome: Outcome
    reason: str
    detection: float | None = None
    lost_to: Span | None = None
    link: Link | None = None
    candidates: tuple[Candidate, ...] = ()


@runtime_checkable
class TellsWhyNil(Protocol):
    """A NIL policy that can tell its reasons."""

    def why_nil(self, link: Link) -> str:
        """Why a mention with candidates became NIL."""


class Explanation(Record, frozen=True):
    """All that can be said about the names of a text."""

    document: Document
    spans: tuple[SpanExplanation, ...]

    def at(self, span: Span) -> SpanExplanation | None:
        """The explanation of exactly this span."""
        return next((one for one in self.spans if one.span == span), None)


def explain(linker: Linker, document: Document, span: Span | None = None) -> Explanation:
    """Explain every name found in a document, or one span of it, which must lie in its text."""
    if span is not None:
        check_mentions(Document(document.id, document.text, mentions=(Mention(span, ""),)))
    return explain_linked(linker, linker.link(document), span)


def explain_linked(
    linker: Linker, linked: Document, span: Span | None = None, *, speakers: Iterable[str] | None = None
) -> Explanation:
    """The same of a document that was linked before, and is not linked again; `speakers` are those who were."""
    document = msgspec.structs.replace(linked, links=())
    is_wanted = _wanted_places(document, linker.conversations.speakers if speakers is None else speakers)
    if span is not None and not is_wanted(span):
        return Explanation(linked, (_left(linker, document, span, "filtered out", _OTHER_TURN),))
    told = {link.mention.span: _decided(linker, document, link) for link in linked.links}
    for judgement in _judgements(linker, document, span):
        if judgement.span not in told and span in (None, judgement.span) and is_wanted(judgement.span):
            told[judgement.span] = _judged(linker, document, judgement)
    if isinstance(linker.nil, Settling):
        for one in _not_kept(linker, linker.nil, document, linked.links):
            if one.span not in told and span in (None, one.span) and is_wanted(one.span):
                told[one.span] = one
    if span is not None:
        return Explanation(linked, (told.get(span) or _untold(linker, linked, span),))
    return Explanation(linked, tuple(told[place] for place in sorted(told, key=lambda s: (s.start, s.end))))


def _wanted_places(document: Document, speakers: Iterable[str]) -> Callable[[Span], bool]:
    """What tells whether a span stands in a turn whose speaker is linked."""
    if not document.turns:
        return lambda span: True
    from entlink.linking.conversation.turns import wanted_turns

    turns = wanted_turns(document, speakers)
    return lambda span: turns is None or any(turn.overlaps(span) for turn in turns)


def _judgements(linker: Linker, document: Document, span: Span | None) -> Iterable[Judgement]:
    return linker.detector.explain(document, span) if isinstance(linker.detector, Explainer) else ()


# What the linker decided


def _decided(linker: Linker, document: Document, link: Link) -> SpanExplanation:
    span = link.mention.span
    text = document.text[span.start : span.end]
    outcome: Outcome = "nil" if link.is_nil else "linked"
    reason = _why_nil(linker, link) if link.is_nil else _why_linked(link)
    return SpanExplanation(span, text, outcome, reason, link.mention.score, None, link, link.candidates)


def _why_linked(link: Link) -> str:
    best = link.candidates[0] if link.candidates else None
    if best is not None and best.evidence.get("pinned"):
        return "pinned by a rule"
    others = len(link.candidates) - 1
    if best is not None and link.mention.type == PERSONAL:
        when = int(best.evidence.get(SAID_BEFORE, 0))
        said = f"{when} turn{'s' if when > 1 else ''} before" if when else "in the same turn"
        return f"what the speaker named {said}, score {link.score:.3f}"
    against = f"the best of {others + 1} candidates" if others > 0 else "the only candidate"
    return f"{against}, {'right with probability' if link.calibrated else 'score'} {link.score:.3f}"


def _why_nil(linker: Linker, link: Link) -> str:
    if link.candidates and isinstance(linker.nil, TellsWhyNil):
        return linker.nil.why_nil(link)
    if link.candidates:
        return f"the best candidate scores {link.candidates[0].score:.3f}, too little for a link"
    meaning = linker.kb.meaning(link.mention.text)
    if meaning.blocked:
        return Reason.BLOCKED
    if meaning.entries and linker.types:
        return f"no candidate: {Reason.WRONG_TYPE}"
    return "no candidate: no name is written so or nearly so"


# What the detector left alone


def _judged(linker: Linker, document: Document, judgement: Judgement) -> SpanExplanation:
    span, verdict, lost_to = judgement
    if verdict.reason is None:
        reason = "found, but no entity of the wanted types and score has the name"
        return _left(linker, document, span, "filtered out", reason, verdict.score)
    reason = _in_words(linker, verdict)
    if lost_to is not None:
        winner = document.text[lost_to.start : lost_to.end]
        return _left(linker, document, span, "lost to an overlap", f"{reason}, {winner!r}", verdict.score, lost_to)
    outcome: Outcome = "filtered out" if verdict.reason == Reason.WRONG_TYPE else "rejected"
    return _left(linker, document, span, outcome, reason, verdict.score)


def _not_kept(linker: Linker, nil: Settling, document: Document, kept: Iterable[Link]) -> Iterator[SpanExplanation]:
    """The proposals that the NIL policy did not take for links."""
    for link in linker.proposals(document):
        span, text = link.mention.span, link.mention.text
        if link.entity is None:
            continue
        over = next((one.mention.span for one in kept if one.mention.span.overlaps(span)), None)
        outcome: Outcome = "filtered out"
        reason = "no entity of the wanted types has the name"
        if over is not None:
            outcome, reason = "lost to an overlap", f"{Reason.LOST}, {document.text[over.start : over.end]!r}"
        elif nil.is_hopeless(text, link.candidates):
            outcome, reason = "rejected", "a name that is hardly ever a link, whatever is around it"
        elif link.score < nil.threshold:
            outcome, reason = (
                "rejected",
                f"a link with probability {link.score:.3f} only, threshold {nil.threshold:.3g}",
            )
        yield SpanExplanation(span, text, outcome, reason, None, over, None, link.candidates)


def _in_words(linker: Linker, verdict: Verdict) -> str:
    if verdict.reason == Reason.NO_MEANING and linker.kb.date is not None:
        return f"no entity had the name on {linker.kb.date}"
    if verdict.value is None:
        return str(verdict.reason)
    limit = "" if verdict.threshold is None else f", threshold {verdict.threshold:.3g}"
    return f"{verdict.reason} ({verdict.value:.3g}{limit})"


def _untold(linker: Linker, linked: Document, span: Span) -> SpanExplanation:
    """A span that was asked for and of which no detector told."""
    text = linked.text[span.start : span.end]
    meaning = linker.kb.meaning(text)
    if meaning.blocked:
        return _judged(linker, linked, Judgement(span, Verdict(0.0, Reason.BLOCKED)))
    over = next((link.mention.span for link in linked.links if link.mention.span.overlaps(span)), None)
    if meaning.entries and over is not None:
        return _judged(linker, linked, Judgement(span, Verdict(0.0, Reason.LOST), over))
    if meaning.entries:
        return _left(linker, linked, span, "rejected", "a name, but the detector did not take it for a mention")
    if linker.kb.forms(text):
        return _judged(linker, linked, Judgement(span, Verdict(0.0, Reason.NO_MEANING)))
    near = _nearest(_candidates(linker, linked, span))
    reason = f"no name folds to {key_of(text)!r}" + (f"; nearest by spelling: {near}" if near else "")
    return _left(linker, linked, span, "not in the dictionary", reason)


def _nearest(candidates: Iterable[Candidate]) -> str:
    """Titles of those that are near by spelling; others were found by words or vectors."""
    near = {one.title or one.entity for one in candidates if "edit" in one.evidence}
    return ", ".join(sorted(near)[:_NEAREST_SHOWN])


def _left(
    linker: Linker,
    document: Document,
    span: Span,
    outcome: Outcome,
    reason: str,
    detection: float | None = None,
    lost_to: Span | None = None,
) -> SpanExplanation:
    text = document.text[span.start : span.end]
    candidates = _candidates(linker, document, span)
    return SpanExplanation(span, text, outcome, reason, detection, lost_to, None, candidates)


def _candidates(linker: Linker, document: Document, span: Span) -> tuple[Candidate, ...]:
    mention = Mention(span, document.text[span.start : span.end])
    return tuple(linker.candidates(document, [mention])[0])
