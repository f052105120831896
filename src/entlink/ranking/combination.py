"""Ranking by one transparent sum: each kind of evidence times its weight."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from math import exp, isfinite
from typing import TYPE_CHECKING

from entlink.documents import Candidate, Document
from entlink.errors import ConfigError, MissingExtraError, MissingModelError
from entlink.evidence.cooccurrence import CompanyEvidence
from entlink.evidence.cross_encoder import CrossScores, PairScorer
from entlink.evidence.popularity import Popularity
from entlink.evidence.spelling import are_initials, likeness
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from entlink.evidence.coherence import Coherence

# Fitted on the development mentions of Schools Wikipedia, with links and without, and rounded.
DEFAULT_WEIGHTS: Mapping[str, float] = {
    "alias": 2.5,
    "dense": 12.0,
    "bm25": 2.5,
    "count": 0.5,
    "spelling": 1.5,
    "initials": 3.0,
    "popularity": 0.25,
    "company": 0.2,
    "expected": 0.0,
    "coherence": 3.0,
}
_BIAS = 11.0
_COMPANY = "company"
_EXPECTED = "expected"  # what is spoken of often has company by chance: that much of it says nothing
OF_COMPANY = (_COMPANY, _EXPECTED)  # nothing for most names, so that the bias does not reckon with them
_BORNE = "borne"
_CROSS = "cross"
_RECENT = "recent"  # what a conversation remembers of an entity, from 0 to 1; the bias does not reckon with it
_CROSS_WEIGHT = 1.0  # of the scores of a cross-encoder, which are the logarithms of chances
_NUMBERED = re.compile(r"-\d+$")  # of the second retriever of a name and those after it
_NEAR = 0.84  # from here on a name is taken for a misspelling: "dens" is .89 of "dense"


class CombinationRanker:
    """Orders candidates by Σ weight · evidence; every term, and the sum, stand in a candidate's evidence.

    The score tells how good a candidate is, and how much better than the others: the logistic of its sum less a bias,
    times its share among the candidates by a softmax of their sums. It is no probability until it is calibrated.

    Evidence that is not there counts nothing: without an encoder, links or texts the order is worse, never wrong
    in form. The bias is less then, by the share of the weights that no candidate has evidence for: without an encoder
    a good candidate still scores well. `weights` replaces some of the default weights; 0 leaves a feature out. Any
    evidence that a retriever gives can be weighed by its name, such as that of a second retriever `dense-2`.

    `cross` is the name or folder of a cross-encoder, or an object. It scores the `top` candidates of each mention
    that are best by all other evidence; those after them have the lowest `cross` of their list.

    `recent` weighs what a conversation linked lately, which is evidence of that name; what earlier turns were linked
    to has its part in the coherence, too. Without a conversation there is neither.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        weights: Mapping[str, float] | None = None,
        bias: float = _BIAS,
        encoder: str = "minilm",
        cross: str | PairScorer | None = None,
        top: int = 10,
        recent: float = 2.0,
    ) -> None:
        if not isfinite(recent):
            raise ConfigError(
                f"recent = {recent} does not fit: it is a number, 0 to leave out what was linked lately"
            )
        if not isfinite(bias):
            raise ConfigError(f"bias = {bias} does not fit: it is a number, and a larger one makes more names NIL")
        self.kb, self.bias, self.recent = kb, bias, recent
        own = {} if cross is None else {_CROSS: _CROSS_WEIGHT}
        self.weights = {**DEFAULT_WEIGHTS, **own, **_checked(weights or {})}
        self._tells_bearers = _BORNE in self.weights
        self._popularity = Popularity(kb)
        self._company = CompanyEvidence(kb) if self.weights[_COMPANY] else None
        self._coherence = self._make_coherence(encoder) if self.weights["coherence"] else None
        self._cross = self._make_cross(cross, top) if cross is not None and self.weights[_CROSS] else None
        # What is added when the rest is summed, since it depends on the order.
        self._later = {"coherence"} if self._cross is None else {"coherence", _CROSS}

    def _make_coherence(self, encoder: str) -> Coherence | None:
        """None where there is no encoder: whoever wanted one for retrieval has been told."""
        from entlink.evidence.coherence import Coherence

        try:
            from entlink.encoders.dual import load_dual
            from entlink.kb.indexes.vectors.store import EntityVectors

            return Coherence(self.kb, EntityVectors(self.kb, load_dual(encoder)))
        except (MissingModelError, MissingExtraError):
            return None

    def _make_cross(self, cross: str | PairScorer, top: int) -> CrossScores | None:
        """None with a warning where the model is not there: the order is worse without it, and not wrong."""
        try:
            return CrossScores(self.kb, cross, top)
        except (MissingModelError, MissingExtraError) as problem:
            import logging

            logging.getLogger(__name__).warning("ranking goes on without a cross-encoder: %s", problem)
            return None

    def knowledge_base_changed(self) -> None:
        self._popularity.forget()
        if self._company is not None:
            self._company.forget()

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        lists = [self._scored(shortlist.mention.text, shortlist.candidates) for shortlist in shortlists]
        if self._coherence is not None:
            numbers = groupby(range(len(lists)), key=lambda number: id(shortlists[number].document))
            lists = [one for _, group in numbers for one in self._coherent(shortlists, lists, list(group))]
        if self._cross is not None:
            lists = self._crossed(self._cross, shortlists, lists)
        return [self._finished(candidates) for candidates in lists]

    def _scored(self, surface: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """With the evidence that a mention and a candidate have by themselves, and its sum, best first."""
        scored = []
        company = None if self._company is None else self._company.of(surface, candidates)
        is_expected = company is not None and any(company)
        for number, one in enumerate(candidates):
            evidence = {**one.evidence, **self._own_evidence(surface, one)}
            if company is not None:
                evidence[_COMPANY] = company[number]
                if self.weights[_EXPECTED]:
                    evidence[_EXPECTED] = evidence["popularity"] if is_expected else 0.0
            scored.append(Candidate(one.entity, self._sum(evidence), evidence, one.title))
        return sorted(scored, key=lambda one: -one.score)

    def _own_evidence(self, surface: str, candidate: Candidate) -> dict[str, float]:
        title, given = candidate.title or "", candidate.evidence
        # Retrievers that are asked in turn do not sign what they find; of a near spelling, P(e|m) is another name's.
        prior = {"alias": given["prior"]} if "prior" in given and not given.keys() & {"alias", "edit"} else {}
        borne = {_BORNE: _is_borne(given)} if self._tells_bearers else {}
        return {
            **prior,
            **borne,
            "spelling": likeness(surface, title),
            "initials": float(are_initials(surface, title)),
            "popularity": self._popularity.of(candidate.entity, title),
        }

    def _coherent(
        self, shortlists: Sequence[Shortlist], lists: Sequence[list[Candidate]], group: Sequence[int]
    ) -> list[list[Candidate]]:
        """The lists of one document's mentions, whose numbers are the group."""
        assert self._coherence is not None
        own = [lists[number] for number in group]
        told = self._coherence.of(own, _earlier(shortlists[group[0]].document))
        return [self._with("coherence", one, values) for one, values in zip(own, told, strict=True)]

    def _crossed(
        self, cross: CrossScores, shortlists: Sequence[Shortlist], lists: Sequence[list[Candidate]]
    ) -> list[list[Candidate]]:
        """With the scores of the cross-encoder, which is asked once for all mentions."""
        asked = [Shortlist(one.document, one.mention, found) for one, found in zip(shortlists, lists, strict=True)]
        crossed = []
        for candidates, scores in zip(lists, cross.of(asked), strict=True):
            lowest = min((score for score in scores if score is not None), default=None)
            if lowest is None:  # nothing could be scored
                crossed.append(candidates)
                continue
            values = [lowest if score is None else score for score in scores]
            values += [lowest] * (len(candidates) - len(values))
            crossed.append(self._with(_CROSS, candidates, values))
        return crossed

    def _with(self, name: str, candidates: Sequence[Candidate], values: Sequence[float]) -> list[Candidate]:
        """With one more kind of evidence, and the sum it makes, best first."""
        weight = self.weights[name]
        told = [
            Candidate(one.entity, one.score + weight * value, {**one.evidence, name: value}, one.title)
            for one, value in zip(candidates, values, strict=True)
        ]
        return sorted(told, key=lambda one: -one.score)

    def _sum(self, evidence: Mapping[str, float]) -> float:
        known = sum(
            weight * evidence.get(name, 0.0) for name, weight in self.weights.items() if name not in self._later
        )
        return known + self.recent * evidence[_RECENT] if _RECENT in evidence else known

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
        weights = {name: weight for name, weight in self.weights.items() if weight > 0 and name not in OF_COMPANY}
        at_hand = sum(weight for name, weight in weights.items() if name in there)
        return self.bias * at_hand / sum(weights.values()) if weights else self.bias


def _is_borne(evidence: Mapping[str, float]) -> float:
    """1 if the mention is a name of the candidate: one of small P(e|m) is still likelier than one that never is."""
    return float("tier" in evidence and evidence.get("alias", evidence.get("prior", 0.0)) > 0)


def _earlier(document: Document) -> list[str]:
    """What the turns before the last were linked to, where a conversation says so."""
    if not document.turns or not document.links:
        return []
    end = document.turn_spans[-1].start
    return [link.entity for link in document.links if link.entity is not None and link.mention.span.end <= end]


def _checked(weights: Mapping[str, float]) -> Mapping[str, float]:
    """The weights, if they are numbers, and of no name that is one of ours misspelt."""
    from difflib import get_close_matches

    known = [*DEFAULT_WEIGHTS, _BORNE, _CROSS]
    if _RECENT in weights:
        raise ConfigError("what was linked lately is weighed by a setting of its own: recent = 2.0")
    for name, weight in weights.items():
        near = get_close_matches(name, known, 1, _NEAR) if name not in known and not _NUMBERED.search(name) else []
        if near:
            raise ConfigError(
                f"no feature {name!r} to weigh; did you mean {near[0]!r}? There are {', '.join(known)}, and what "
                "retrievers give under names of their own"
            )
        if not isfinite(weight):
            raise ConfigError(f"the weight of {name!r} is {weight}. Give a number")
    return weights


def _logistic(number: float) -> float:
    return 1.0 / (1.0 + exp(-min(max(number, -500.0), 500.0)))
