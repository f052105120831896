"""Mentions by a joint model, which scores every span of a text in one reading of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import msgspec

from entlink.documents import Document, Mention, Span
from entlink.errors import ConfigError, MissingExtraError
from entlink.interfaces import Judgement, Reason, Verdict
from entlink.kb.knowledge_base import KnowledgeBase

try:
    import numpy
except ImportError as problem:
    raise MissingExtraError("the detector joint", "retrieval") from problem

from entlink.encoders.joint.model import JointModel, Reading, load_joint
from entlink.encoders.joint.spans import apart
from entlink.encoders.joint.tokens import Piece, pieces

if TYPE_CHECKING:
    from entlink.kb.indexes.vectors.span_entities import SpanEntities

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Search = Literal["auto", "index", "never"]
_BELOW = "below the threshold of the joint model"
_WORTH_TELLING = 0.01  # the least chance of a span that an explanation lists


class Found(NamedTuple):
    """A span of a text: the chance that it is a mention, and that times the chance of its likeliest entity.

    Without entities to look at, the two are one, and no entity is told.
    """

    start: int
    end: int
    chance: float
    joint: float
    entity: int | None = None  # its key


class JointDetector:
    """Spans that a joint model takes for mentions, scored by the chance that each is one.

    `threshold` is the least chance: lower finds more, higher is surer. Without one it is what was best on the texts
    held out in training. With `by` "joint" the chance of the likeliest entity is a factor, too, as in ELQ: the
    threshold is then on the product (the sum of the logarithms), and a span that means nothing known is left out. Of
    spans that overlap the best stays. Entities are those that have the name, and the nearest `limit` where there is
    an index over vectors to `search`. `model` is the folder of the model or an object; `encoder` says where the
    encoder of entities is if it was moved.
    """

    needs = "the extra retrieval and a model of entlink train joint"

    def __init__(
        self,
        kb: KnowledgeBase,
        model: str | Path | JointModel,
        *,
        threshold: Share | None = None,
        by: Literal["mention", "joint"] = "mention",
        encoder: str | None = None,
        search: Search = "auto",
        limit: int = 10,
    ) -> None:
        self.kb, self.model = kb, model if isinstance(model, JointModel) else load_joint(model)
        settings = self.model.settings
        own = settings.threshold if by == "mention" else settings.joint_threshold
        self.threshold, self.by = own if threshold is None else threshold, by
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"threshold = {threshold} does not fit: it is a chance, from 0 to 1")
        self._types: frozenset[str] = frozenset()
        self._entities: SpanEntities | None = None
        if by == "joint":
            from entlink.kb.indexes.vectors.span_entities import SpanEntities

            self._entities = SpanEntities(kb, self.model.dual(encoder), limit=limit, search=search)

    def keep_to_types(self, types: frozenset[str]) -> None:
        self._types = types

    def knowledge_base_changed(self) -> None:
        if self._entities is not None:
            self._entities.forget()

    def detect(self, documents: Sequence[Document]) -> list[list[Mention]]:
        """The mentions of each document; of one with turns, each turn is read after those before it."""
        parts = [pieces(document) for document in documents]
        found = self._detected([piece for own in parts for piece in own])
        return [[mention for _ in own for mention in next(found)] for own in parts]

    def detect_last_turns(self, documents: Sequence[Document]) -> list[list[Mention]]:
        """The mentions of the last turn of each conversation, which is read after those before it."""
        return list(self._detected([pieces(document)[-1] for document in documents]))

    def spans(self, texts: Sequence[Piece], least: float = 0.0) -> Iterator[list[Found]]:
        """Of each text all spans whose chance is at least `least`, those that overlap others included."""
        for piece, reading in zip(texts, self.model.readings(texts), strict=True):
            yield self._found(piece, reading, least)

    def explain(self, document: Document, span: Span | None = None) -> list[Judgement]:
        """A judgement of each span that may be a mention, and of `span`."""
        told: dict[tuple[int, int], Judgement] = {}
        texts = pieces(document)
        least = min(self.threshold, _WORTH_TELLING)
        for piece, reading in zip(texts, self.model.readings(texts), strict=True):
            shown = self._found(piece, reading, least, span)
            over = [one for one in shown if self._is_over(one)]
            for one in shown:
                score = self._score(one)
                verdict = Verdict(one.chance, None if self._is_over(one) else _BELOW, score, self.threshold)
                told[one[:2]] = Judgement(Span(*one[:2]), verdict)
            for number, winner in apart([(one.start, one.end) for one in over], map(self._score, over)):
                if winner is not None:
                    verdict = Verdict(over[number].chance, Reason.LOST)
                    told[over[number][:2]] = Judgement(Span(*over[number][:2]), verdict, Span(*over[winner][:2]))
        return [told[place] for place in sorted(told)]

    def _detected(self, texts: Sequence[Piece]) -> Iterator[list[Mention]]:
        for piece, found in zip(texts, self.spans(texts, self.threshold), strict=True):
            over = [one for one in found if self._is_over(one)]
            places = [(one.start, one.end) for one in over]
            kept = [over[number] for number, winner in apart(places, map(self._score, over)) if winner is None]
            yield [
                Mention(Span(one.start, one.end), piece.text[one.start : one.end], None, one.chance)
                for one in sorted(kept, key=lambda one: one.start)
            ]

    def _is_over(self, one: Found) -> bool:
        return self._score(one) >= self.threshold and (self._entities is None or one.joint > 0)

    def _score(self, one: Found) -> float:
        return one.chance if self._entities is None else one.joint

    def _found(self, piece: Piece, reading: Reading, least: float, also: Span | None = None) -> list[Found]:
        """The spans of a chance of at least `least`, and the one asked for, if the model scores such a span."""
        spans, scores = reading.scored()
        sure = self.model.chances(scores)
        wanted = sure >= least
        if also is not None and (place := reading.piece.place(also)) is not None:
            wanted |= (spans == place).all(axis=1)
        spans, sure = spans[wanted], sure[wanted]
        places = [_trimmed(piece.text, *reading.characters(*span)) for span in spans.tolist()]
        likeliest: list[tuple[int | None, float]] = [(None, 1.0)] * len(spans)
        if self._entities is not None and len(spans):
            surfaces = [piece.text[start:end] for start, end in places]
            meant = self._entities.of(surfaces, reading.vectors(spans), self._types)
            likeliest = [self._likeliest(own) for own in meant]
        return [
            Found(start, end, chance, chance * share, entity)
            for (start, end), chance, (entity, share) in zip(places, sure.tolist(), likeliest, strict=True)
            if start < end
        ]

    def _likeliest(self, meant: Sequence[tuple[int, float]]) -> tuple[int | None, float]:
        """The most similar, which comes first, and its chance among all."""
        if not meant:
            return None, 0.0
        similar = numpy.array([one for _, one in meant])
        powers = numpy.exp(self.model.settings.scale * (similar - similar[0]))
        return meant[0][0], float(1 / powers.sum())


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Less white space at the ends, which some tokenizers take for part of a word."""
    surface = text[start:end]
    start += len(surface) - len(surface.lstrip())
    return start, start + len(surface.strip())
