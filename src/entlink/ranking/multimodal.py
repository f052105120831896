"""Ranking by a multimodal model, which compares text and picture of a mention with those of each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING

from entlink.documents import Candidate
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.ranking.priors import priors

if TYPE_CHECKING:
    from entlink.documents import Entity
    from entlink.encoders.multimodal.inputs import IdVectors
    from entlink.encoders.multimodal.settings import Input
    from entlink.interfaces import Vectors

_NOTHING: AbstractSet[Input] = frozenset()


class MultimodalRanker:
    """Orders candidates by a model of `entlink train multimodal`; the score of each is its share by a softmax.

    A picture or a text that is not there is no error: the model has learnt to go without. `pictures` is the folder of
    the entities' pictures, if it is another than in training; `fetch` takes pictures that are addresses. `without`
    leaves out inputs such as "mention-picture"; `prior` false leaves out P(e|m), and `masked` hides the names.
    A model that reads vectors of entities takes those of the knowledge base, or `vectors`. Candidates that are gone
    from the knowledge base come last and score 0.
    """

    needs = "the extra images and a model of entlink train multimodal"

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        model: str | Path,
        pictures: str | None = None,
        fetch: bool = False,
        without: Sequence[Input] = (),
        prior: bool = True,
        masked: bool = False,
        vectors: IdVectors | None = None,
    ) -> None:
        from entlink.encoders.multimodal.model import checked_inputs, load_multimodal, reads_vectors
        from entlink.kb.indexes.vectors.store import EntityVectors

        self.kb = kb
        if vectors is None and reads_vectors(model):
            from entlink.kb.indexes.entity_vectors.dual import WordAndEntityVectors

            vectors = WordAndEntityVectors(kb)
        self.model = load_multimodal(model, pictures=pictures, fetch=fetch, vectors=vectors)
        self.without, self.prior, self.masked = frozenset(without), prior, masked
        checked_inputs(self.without)
        self._vectors = None if self.model.together else EntityVectors(kb, self.model)

    def knowledge_base_changed(self) -> None:
        if self._vectors is not None:
            self._vectors.forget()

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        scored = self.scores(shortlists, self.without, prior=self.prior, masked=self.masked)
        return [_ranked(one.candidates, scores) for one, scores in zip(shortlists, scored, strict=True)]

    def scores(
        self,
        shortlists: Sequence[Shortlist],
        without: AbstractSet[Input] = _NOTHING,
        prior: bool = True,
        *,
        masked: bool = False,
    ) -> list[list[float]]:
        """For each shortlist a score for each of its candidates; minus infinity for one that is gone.

        `without` leaves out inputs that the model was trained with, `prior` false P(e|m), and `masked` hides names.
        """
        entities = {one.entity: self.kb.get(one.entity) for each in shortlists for one in each.candidates}
        known = {id: entity for id, entity in entities.items() if entity is not None}
        prior = prior and not masked  # the name that is hidden is what P(e|m) is of
        scored = self._scored(shortlists, known, without, prior=prior, masked=masked)
        return [
            [next(scores) if one.entity in known else float("-inf") for one in each.candidates]
            for each, scores in zip(shortlists, map(iter, scored), strict=True)
        ]

    def _scored(
        self,
        shortlists: Sequence[Shortlist],
        known: dict[str, Entity],
        without: AbstractSet[Input],
        *,
        prior: bool,
        masked: bool,
    ) -> list[list[float]]:
        """The scores of the candidates that are known."""
        from entlink.encoders.multimodal.model import Question

        questions = []
        for document, mention, candidates in shortlists:
            there = [one for one in candidates if one.entity in known]
            chances = priors(self.kb, mention.text, there) if prior else [0.0] * len(there)
            questions.append(Question(document, mention, [known[one.entity] for one in there], chances))
        if self._vectors is None or any(one.startswith("entity") for one in without):
            return self.model.scores(questions, without, prior=prior, masked=masked)
        vectors = dict(zip(known, self._kept(list(known)), strict=True))
        mentions = self.model.encode_mentions(
            [(one.document, one.mention) for one in questions], without, masked=masked
        )
        return [
            self.model.compare(row, _stacked([vectors[entity.id] for entity in one.entities], row), one.priors)
            for row, one in zip(mentions, questions, strict=True)
        ]

    def _kept(self, ids: Sequence[str]) -> Vectors:
        """The vectors of entities, each encoded once."""
        assert self._vectors is not None
        keys = [key for id in ids if (key := self.kb.key(id)) is not None]
        return self._vectors.of(keys)


def _stacked(rows: Sequence[Vectors], like: Vectors) -> Vectors:
    import numpy

    return numpy.stack(rows) if rows else numpy.zeros((0, len(like)), numpy.float32)


def _ranked(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
    """By score, best first; the share of each by a softmax."""
    best = max(scores, default=0.0)
    powers = [exp(score - best) if score > float("-inf") else 0.0 for score in scores]
    whole = sum(powers) or 1.0
    order = sorted(range(len(candidates)), key=lambda at: -scores[at])
    return [_scored(candidates[at], scores[at], powers[at] / whole) for at in order]


def _scored(candidate: Candidate, score: float, share: float) -> Candidate:
    evidence = {**candidate.evidence, "multimodal": score} if score > float("-inf") else candidate.evidence
    return Candidate(candidate.entity, share, evidence, candidate.title)
