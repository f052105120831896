"""Mentions by a model that learnt from texts with gold which spans are linked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from entlink.documents import Document, Mention, Span
from entlink.errors import ConfigError
from entlink.interfaces import Judgement, Reason, Verdict
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.mentions.dictionary import DictionaryDetector
from entlink.mentions.proposals import Proposal

_AT_ONCE = 32  # texts


class LearnedDetector:
    """Takes the spans that a trained model finds likelier than `threshold`, the likeliest of those that overlap.

    `model` is a folder that `entlink train detector` made. Without a threshold it is the one with the best F1 on
    texts that were held out; `precision` or `recall` instead choose the one that had as much there. Names that are
    blocked are left out, and pinned ones taken, whatever the model says. A document that the model learnt from, by
    its id, is judged as if it had not.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        model: str | Path,
        threshold: float | None = None,
        precision: float | None = None,
        recall: float | None = None,
    ) -> None:
        from entlink.encoders.extras import require_retrieval

        require_retrieval("the detector learned")
        from entlink.mentions.span_model import read_model
        from entlink.mentions.span_rows import SpanReader, token_encoder

        if sum(one is not None for one in (threshold, precision, recall)) > 1:
            raise ConfigError("the detector learned takes one of threshold, precision and recall, not several")
        self.kb = kb
        self._model = read_model(Path(model))
        card = self._model.card
        encoder = token_encoder(card.encoder) if card.encoder else None
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
        found = []
        for start in range(0, len(documents), _AT_ONCE):
            found += [
                self._mentions(document, scored)
                for document, scored in self._scored(documents[start : start + _AT_ONCE])
            ]
        return found

    def explain(self, document: Document, span: Span | None = None) -> list[Judgement]:
        """What became of the spans that were taken, or lost to one that was; and of `span`."""
        [(_, scored)] = self._scored([document])
        taken = {one.span for one in self._mentions(document, scored)}
        told = []
        for start, end, score in sorted(scored):
            own = Span(start, end)
            if own in taken:
                told.append(Judgement(own, Verdict(score)))
            elif score >= self.threshold:
                winner = next((one for one in taken if one.overlaps(own)), None)
                told.append(Judgement(own, Verdict(score, Reason.LOST if winner else Reason.BLOCKED), winner))
            elif own == span:
                told.append(Judgement(own, Verdict(score, Reason.UNLIKELY, score, self.threshold)))
        return told

    def _scored(self, documents: Sequence[Document]) -> list[tuple[Document, list[tuple[int, int, float]]]]:
        """The spans of each document, and how likely each is a mention."""
        found = []
        card = self._model.card
        seen = [card.seen_elsewhere(document.id) for document in documents]
        read = self._reader.read([document.text for document in documents], seen)
        for document, rows in zip(documents, read, strict=True):
            scores = self._model.probabilities(rows.values, document.id).tolist() if rows.spans else []
            spans = [
                (one.start, one.end, 1.0 if one.is_name and self._is_pinned(document.text, one) else score)
                for one, score in zip(rows.spans, scores, strict=True)
            ]
            found.append((document, spans))
        return found

    def _is_pinned(self, text: str, span: Proposal) -> bool:
        return self.kb.meaning(text[span.start : span.end]).pinned

    def _mentions(self, document: Document, scored: Sequence[tuple[int, int, float]]) -> list[Mention]:
        text = document.text
        likely = [
            (start, end, score)
            for start, end, score in scored
            if score >= self.threshold and not self.kb.meaning(text[start:end]).blocked
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


def make_learned(kb: KnowledgeBase, *, model: str | Path | None = None, **settings: float) -> object:
    """The learned detector; without a model, the dictionary and its P(link|m)."""
    if model is not None:
        return LearnedDetector(kb, model=model, **settings)
    return DictionaryDetector(kb, **settings)  # type: ignore[arg-type]
