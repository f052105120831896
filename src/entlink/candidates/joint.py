"""Candidates by the vectors that a joint model gives spans, from the same reading in which it found them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from entlink.documents import Candidate
from entlink.errors import DamagedError, MissingExtraError
from entlink.interfaces import Question, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

try:
    import numpy
except ImportError as problem:
    raise MissingExtraError("the retriever joint", "retrieval") from problem

from entlink.encoders.joint.model import JointModel, load_joint
from entlink.encoders.joint.tokens import piece_at, pieces
from entlink.kb.indexes.vectors.span_entities import SpanEntities

if TYPE_CHECKING:
    from entlink.documents import Document, Mention
    from entlink.interfaces import Vectors

Search = Literal["auto", "index", "never"]
EVIDENCE = "joint"


class JointRetriever:
    """Entities that have the name, and the nearest where there is an index over vectors, by a joint model.

    The score, and the evidence `joint`, is the similarity of the mention's vector and the entity's. What the detector
    `joint` of the same model has read is not read again. `model` is the folder of the model or an object; `encoder`
    says where the encoder of entities is if it was moved; at most `limit` are found by name and as many by vector.
    """

    needs = "the extra retrieval and a model of entlink train joint"
    gives = (EVIDENCE,)

    def __init__(
        self,
        kb: KnowledgeBase,
        model: str | Path | JointModel,
        *,
        limit: int = 10,
        search: Search = "auto",
        encoder: str | None = None,
    ) -> None:
        self.kb, self.model = kb, model if isinstance(model, JointModel) else load_joint(model)
        self._entities = SpanEntities(kb, self.model.dual(encoder), limit=limit, search=search)
        self._types: frozenset[str] = frozenset()

    def keep_to_types(self, types: frozenset[str]) -> None:
        self._types = types

    def knowledge_base_changed(self) -> None:
        self._entities.forget()

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        """The candidates of each mention, most similar first."""
        asked = [(question.document, mention) for question in questions for mention in question.mentions]
        vectors = self._vectors(asked)
        found = iter(self._entities.of([mention.text for _, mention in asked], vectors, self._types))
        return [[self._candidates(next(found), mention) for mention in question.mentions] for question in questions]

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        """How like each candidate is to its mention; 0 for an entity that is gone."""
        vectors = self._vectors([(one.document, one.mention) for one in shortlists])
        keys = [[self.kb.key(candidate.entity) for candidate in one.candidates] for one in shortlists]
        known = [[key for key in own if key is not None] for own in keys]
        found = self._entities.similarities(known, vectors)
        return [
            [{EVIDENCE: 0.0 if key is None else next(scores)} for key in own]
            for own, scores in zip(keys, map(iter, found), strict=True)
        ]

    def _candidates(self, found: Sequence[tuple[int, float]], mention: Mention) -> list[Candidate]:
        pinned = {"pinned": 1.0} if found and self.kb.meaning(mention.text).pinned else {}
        candidates = []
        for key, similarity in found:
            try:
                id, title = self.kb.head(key)
            except DamagedError:
                continue  # another process removed it just now
            candidates.append(Candidate(id, similarity, {EVIDENCE: similarity, **pinned}, title))
        return candidates

    def _vectors(self, asked: Sequence[tuple[Document, Mention]]) -> Vectors:
        """A row a mention; each text that they stand in is read once."""
        parts = {id(document): pieces(document) for document, _ in asked}
        places = [piece_at(parts[id(document)], mention.span) for document, mention in asked]
        rows: dict[tuple[int, int], list[int]] = {}
        for row, (document, _) in enumerate(asked):
            rows.setdefault((id(document), places[row].start), []).append(row)
        texts = [places[own[0]] for own in rows.values()]
        vectors = numpy.zeros((len(asked), self.model.dimension), numpy.float32)
        for own, reading in zip(rows.values(), self.model.readings(texts), strict=True):
            vectors[own] = reading.vectors_of([asked[row][1].span for row in own])
        return vectors
