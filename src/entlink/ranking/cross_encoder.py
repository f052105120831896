"""Ranking by a cross-encoder, which reads a mention and a candidate at once."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from entlink.documents import Candidate
from entlink.evidence.cross_encoder import CrossScores, PairScorer
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase


class CrossEncoderRanker:
    """Orders the first `top` candidates of a mention by what a cross-encoder makes of them.

    Its score stands in the evidence as `cross`; the score of a candidate is its share by a softmax. Those after the
    first `top`, and entities that are gone, come last in the order they had, and score 0. `model` is the name or the
    folder of a cross-encoder, or an object.
    """

    def __init__(self, kb: KnowledgeBase, *, model: str | PairScorer, top: int = 10) -> None:
        self.kb, self.top = kb, top
        self._scores = CrossScores(kb, model, top)

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        scores = self._scores.of(shortlists)
        return [_ranked(one.candidates, own) for one, own in zip(shortlists, scores, strict=True)]


def _ranked(candidates: Sequence[Candidate], scores: Sequence[float | None]) -> Sequence[Candidate]:
    first = [(score, one) for score, one in zip(scores, candidates, strict=False) if score is not None]
    first.sort(key=lambda pair: -pair[0])
    scored = {one.entity for _, one in first}
    powers = [exp(score - first[0][0]) for score, _ in first]
    total = sum(powers)
    ranked = [
        Candidate(one.entity, power / total, {**one.evidence, "cross": score}, one.title)
        for power, (score, one) in zip(powers, first, strict=True)
    ]
    rest = (one for one in candidates if one.entity not in scored)
    return [*ranked, *(Candidate(one.entity, 0.0, one.evidence, one.title) for one in rest)]
