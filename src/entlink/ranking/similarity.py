"""Ranking by how common a meaning of the name is, times how like the entity is to the mention."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Literal

from entlink.documents import Candidate
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.ranking.priors import priors


class SimilarityRanker:
    """Orders candidates by P(e|m) · similarity, `times` other evidence if some is named.

    P(e|m) is the evidence `alias` or `prior`, or what the knowledge base says where a candidate has neither. The
    similarity is the `evidence` of that name, such as the cosine of the retriever `dense`. Where no candidate of a
    mention has that evidence, P(e|m) alone is the score. `times` names scores of types, such as `fine-types`. What is
    below 0 counts as 0; with `negative` "keep" all are multiplied as they are, and two below 0 make one above.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        evidence: str = "dense",
        times: Sequence[str] = (),
        negative: Literal["zero", "keep"] = "zero",
    ) -> None:
        self.kb, self.evidence, self.times, self.negative = kb, evidence, tuple(times), negative

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        return [self._ranked(mention.text, candidates) for _, mention, candidates in shortlists]

    def _ranked(self, surface: str, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        told = priors(self.kb, surface, candidates)
        is_told = any(self.evidence in one.evidence for one in candidates)
        scored = []
        for prior, one in zip(told, candidates, strict=True):
            similarity = one.evidence.get(self.evidence, 0.0) if is_told else 1.0
            factors = [similarity, *(one.evidence.get(name, 0.0) for name in self.times if is_told)]
            score = prior * prod(factors if self.negative == "keep" else (max(0.0, factor) for factor in factors))
            # Of those that score 0, the more similar comes first, then the more common.
            scored.append(((-score, -similarity, -prior), Candidate(one.entity, score, one.evidence, one.title)))
        return [one for _, one in sorted(scored, key=lambda pair: pair[0])]
