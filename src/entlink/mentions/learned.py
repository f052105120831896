"""Mentions by a model that learnt from texts with gold which spans are linked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from entlink.documents import Document, Mention, Span
from entlink.errors import ConfigError
from entlink.interfaces import Judgement, Reason, Verdict
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.mentions.dictionary import DictionaryDetector
from entlink.mentions.proposals import Proposal

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Scored(NamedTuple):
    """A span by its characters, how likely it is a mention, and whether it is a name."""

    start: int
    end: int
    score: float
    is_name: bool


class LearnedDetector:
    """Takes the spans that a trained model finds likelier than `threshold`, the likeliest of those that overlap.

    `model` is a folder that `entlink train detector` made. Without a threshold it is the one with the best F1 on
    texts that were held out; `precision` or `recall` instead choose the one that had as much there. Names that are
    blocked are left out, and pinned ones taken, whatever the model says. A text that the model learnt from is
    judged as if it had not.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        model: str | Path,
        threshold: Share | None = None,
        precision: Share | None = None,
        recall: Share | None = None,
    ) -> None:
        from entlink.encoders.extras import require_retrieval

        require_retrieval("the detector learned")
        from entlink.encoders.loading import load_token_encoder
        from entlink.mentions.span_model import read_model
        from entlink.mentions.span_rows import SpanReader

        if sum(one is not None for one in (threshold, precision, recall)) > 1:
            raise ConfigError("the detector learned takes one of threshold, precision and recall, not several")
        self.kb = kb
        self._model = read_model(Path(model))
        card = self._model.card
        encoder = load_token_encoder(card.encoder) if card.encoder else None
        if encoder is not None and encoder.identity != card.identity:
            raise ConfigError(
                f"{model}: it was trained with the encoder {card.identity!r}, and {card.encoder!r} is now "
                f"{encoder.identity!r}. Train it anew"
            )
        self.threshold = card.chosen(precision, recall) if threshold is None else threshold
        self._reader = SpanReader(kb, encoder)

    def knowledge_base_changed(self) -> None:
        self._reader.knowledge_base_changed()

    def detect(self, documents: Sequence[Document]) -> list[list[Mention]]:
        return [
            self._mentions(document.text, scored)
            for document, scored in zip(documents, self._scored(documents), strict=True)
        ]

    def explain(self, document: Document, span: Span | None = None) -> list[Judgement]:
        """What became of the names, and of all spans over the threshold; of `span` too, if it is short enough."""
        [scored] = self._scored([document])
        taken = self._mentions(document.text, scored)
        starts = [one.span.start for one in taken]
        told = []
        for one in scored:
            if one.is_name or one.score >= self.threshold or Span(one.start, one.end) == span:
                near = taken[max(0, bisect_right(starts, one.start) - 1) : bisect_left(starts, one.end)]
                told.append(self._judged(document.text, one, near))
        return told

    def _judged(self, text: str, one: Scored, near: Sequence[Mention]) -> Judgement:
        """What to say of a span; `near` are the mentions that may overlap it."""
        own = Span(one.start, one.end)
        if any(mention.span == own for mention in near):
            return Judgement(own, Verdict(one.score))
        if self.kb.meaning(text[one.start : one.end]).blocked:
            return Judgement(own, Verdict(one.score, Reason.BLOCKED))
        if one.score < self.threshold:
            return Judgement(own, Verdict(one.score, Reason.UNLIKELY, one.score, self.threshold))
        winner = max(
            (mention for mention in near if mention.span.overlaps(own)), key=lambda mention: mention.score or 0.0
        )
        return Judgement(own, Verdict(one.score, Reason.LOST), winner.span)

    def _scored(self, documents: Sequence[Document]) -> Iterator[list[Scored]]:
        """The spans of each document, and how likely each is a mention."""
        card = self._model.card
        whose = [card.whose(document.text) for document in documents]
        read = self._reader.read([document.text for document in documents], [*map(card.seen_elsewhere, whose)])
        for document, learnt, rows in zip(documents, whose, read, strict=True):
            scores = (score for part in rows.parts() for score in self._model.probabilities(part, learnt).tolist())
            yield [
                Scored(one.start, one.end, 1.0 if self._is_pinned(document.text, one) else score, one.is_name)
                for one, score in zip(rows.spans, scores, strict=True)
            ]

    def _is_pinned(self, text: str, span: Proposal) -> bool:
        return span.is_name and self.kb.meaning(text[span.start : span.end]).pinned

    def _mentions(self, text: str, scored: Sequence[Scored]) -> list[Mention]:
        likely = [
            (one.start, one.end, one.score)
            for one in scored
            if one.score >= self.threshold and not self.kb.meaning(text[one.start : one.end]).blocked
        ]
        return [Mention(Span(start, end), text[start:end], None, score) for start, end, score in likeliest(likely)]


def likeliest(spans: Sequence[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """The likeliest spans of which none overlaps another, by start; of equals, the longer and then the earlier."""
    kept: list[tuple[int, int, float]] = []
    taken: set[int] = set()
    for start, end, score in sorted(spans, key=lambda one: (-one[2], one[0] - one[1], one[0])):
        places = range(start, end)
        if taken.isdisjoint(places):
            taken.update(places)
            kept.append((start, end, score))
    return sorted(kept)


def make_learned(
    kb: KnowledgeBase,
    *,
    model: str | Path | None = None,
    threshold: Share | None = None,
    precision: Share | None = None,
    recall: Share | None = None,
) -> LearnedDetector | DictionaryDetector:
    """The learned detector; without a model, the dictionary, and the threshold is one of P(link|m)."""
    if model is not None:
        return LearnedDetector(kb, model=model, threshold=threshold, precision=precision, recall=recall)
    if precision is not None or recall is not None:
        raise ConfigError(
            "the detector learned has no model, and without one it does not know which threshold gives that "
            "precision or recall. Train one with `entlink train detector`, or give a threshold"
        )
    return DictionaryDetector(kb) if threshold is None else DictionaryDetector(kb, min_link_probability=threshold)
