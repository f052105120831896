"""Ranking by one transparent sum: each kind of evidence times its weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import exp, isfinite
from typing import TYPE_CHECKING

from entlink.documents import Candidate
from entlink.errors import ConfigError, MissingExtraError, MissingModelError
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.ranking.popularity import Popularity
from entlink.ranking.spelling import are_initials, likeness

if TYPE_CHECKING:
    from entlink.ranking.coherence import Coherence

# Fitted on the development mentions of Schools Wikipedia, with links and without, and rounded.
DEFAULT_WEIGHTS: Mapping[str, float] = {
    "alias": 2.5,
    "dense": 12.0,
    "bm25": 2.5,
    "count": 0.5,
    "spelling": 1.5,
    "initials": 3.0,
    "popularity": 0.25,
    "coherence": 3.0,
}
_BIAS = 11.0


class CombinationRanker:
    """Orders candidates by Σ weight · evidence; every term, and the sum, stand in a candidate's evidence.

    The score tells how good a candidate is, and how much better than the others: the logistic of its sum less a bias,
    times its share among the candidates by a softmax of their sums. It is no probability until it is calibrated.

    Evidence that is not there counts nothing: without an encoder, links or texts the order is worse, never wrong
    in form. The bias is less then, by the share of the weights that no candidate has evidence for: without an encoder
    a good candidate still scores well. `weights` replaces some of the default weights; 0 leaves a feature out.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        weights: Mapping[str, float] | None = None,
        bias: float = _BIAS,
        encoder: str = "minilm",
    ) -> None:
        if not isfinite(bias):
            raise ConfigError(f"bias = {bias} does not fit: it is a number, and a larger one makes more names NIL")
        self.kb, self.bias = kb, bias
        self.weights = {**DEFAULT_WEIGHTS, **_known(weights or {})}
        self._popularity = Popularity(kb)
        self._coherence = self._make_coherence(encoder) if self.weights["coherence"] else None

    def _make_coherence(self, encoder: str) -> Coherence | None:
        """None where there is no encoder: whoever wanted one for retrieval has been told."""
        from entlink.ranking.coherence import Coherence

        try:
            from entlink.encoders.dual import load_dual
            from entlink.kb.vector_store import EntityVectors

            return Coherence(self.kb, EntityVectors(self.kb, load_dual(encoder)))
        except (MissingModelError, MissingExtraError):
            return None

    def knowledge_base_changed(self) -> None:
        self._popularity.forget()

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        lists = [self._scored(shortlist.mention.text, shortlist.candidates) for shortlist in shortlists]
        if self._coherence is None:
            return [self._finished(candidates) for candidates in lists]
        numbers = groupby(range(len(lists)), key=lambda number: id(shortlists[number].document))
        return [one for _, group in numbers for one in self._coherent([lists[number] for number in group])]

    def _scored(self, surface: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """With the evidence that a mention and a candidate have by themselves, and its sum, best first."""
        scored = []
        for one in candidates:
            evidence = {**one.evidence, **self._own_evidence(surface, one)}
            scored.append(Candidate(one.entity, self._sum(evidence), evidence, one.title))
        return sorted(scored, key=lambda one: -one.score)

    def _own_evidence(self, surface: str, candidate: Candidate) -> dict[str, float]:
        title, given = candidate.title or "", candidate.evidence
        # Retrievers that are asked in turn do not sign what they find; of a near spelling, P(e|m) is another name's.
        prior = {"alias": given["prior"]} if "prior" in given and not given.keys() & {"alias", "edit"} else {}
        return {
            **prior,
            "spelling": likeness(surface, title),
            "initials": float(are_initials(surface, title)),
            "popularity": self._popularity.of(candidate.entity, title),
        }

    def _coherent(self, lists: Sequence[Sequence[Candidate]]) -> list[Sequence[Candidate]]:
        assert self._coherence is not None
        finished = []
        for candidates, values in zip(lists, self._coherence.of(lists), strict=True):
            with_it = [
                Candidate(
                    one.entity,
                    one.score + self.weights["coherence"] * value,
                    {**one.evidence, "coherence": value},
                    one.title,
                )
                for one, value in zip(candidates, values, strict=True)
            ]
            finished.append(self._finished(sorted(with_it, key=lambda one: -one.score)))
        return finished

    def _sum(self, evidence: Mapping[str, float]) -> float:
        return sum(weight * evidence.get(name, 0.0) for name, weight in self.weights.items() if name != "coherence")

    def _finished(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        if not candidates:
            return candidates
        powers = [exp(one.score - candidates[0].score) for one in candidates]  # the first has the largest sum
        total = sum(powers)
        bias = self._bias_of(candidates)
        return [
            Candidate(
                one.entity,
                _logistic(one.score - bias) * power / total,
                {**one.evidence, "sum": one.score},
                one.title,
            )
            for one, power in zip(candidates, powers, strict=True)
        ]

    def _bias_of(self, candidates: Sequence[Candidate]) -> float:
        """The share of the bias that the evidence at hand can make up for."""
        there = set().union(*(one.evidence for one in candidates))
        weights = {name: weight for name, weight in self.weights.items() if weight > 0}
        at_hand = sum(weight for name, weight in weights.items() if name in there)
        return self.bias * at_hand / sum(weights.values()) if weights else self.bias


def _known(weights: Mapping[str, float]) -> Mapping[str, float]:
    for name, weight in weights.items():
        if name not in DEFAULT_WEIGHTS:
            raise ConfigError(f"no feature {name!r} to weigh; there are {', '.join(DEFAULT_WEIGHTS)}")
        if not isfinite(weight):
            raise ConfigError(f"the weight of {name!r} is {weight}. Give a number")
    return weights


def _logistic(number: float) -> float:
    return 1.0 / (1.0 + exp(-min(max(number, -500.0), 500.0)))
