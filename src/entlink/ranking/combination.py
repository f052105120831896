"""Ranking by one transparent sum: each kind of evidence times its weight."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import exp, isfinite

from entlink.documents import Candidate
from entlink.errors import ConfigError
from entlink.interfaces import Shortlist

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
_COMPANY = "company"  # the number of the evidence called co-occurrence
_EXPECTED = "expected"  # what is spoken of often co-occurs by chance: that much of it says nothing
OF_COMPANY = (_COMPANY, _EXPECTED)  # nothing for most names, so that the bias does not reckon with them
_OF_PICTURES = (
    "pictures",
    "pictured",
    "alike",
)  # nothing for most documents, likewise
_BORNE = "borne"
_UNRECKONED = (*OF_COMPANY, *_OF_PICTURES)
_CROSS = "cross"
_RECENT = "recent"  # what a conversation remembers of an entity, from 0 to 1; the bias does not reckon with it
_NUMBERED = re.compile(r"-\d+$")  # of the second retriever of a name and those after it
_NEAR = 0.84  # from here on a name is taken for a misspelling: "dens" is .89 of "dense"


class CombinationRanker:
    """Orders candidates by Σ weight · evidence; every term, and the sum, are in a candidate's evidence.

    The score tells how good a candidate is, and how much better than the others: the logistic of its sum less a bias,
    times its share among the candidates by a softmax of their sums. It is no probability until it is calibrated.

    Evidence that is not there counts nothing: without an encoder, links or texts the order is worse, never wrong
    in form. The bias is less then, by the share of the weights that no candidate has evidence for: without an encoder
    a good candidate still scores well. `weights` replaces some of the default weights; 0 leaves a feature out. Any
    evidence can be weighed by its name, such as that of a second retriever `dense-2`, or `cross`, the score of a
    cross-encoder: candidates that have none have the lowest of their list.

    `recent` weighs what a conversation linked lately, which is evidence of that name. Without a conversation there is
    none. The knowledge base is not looked at.
    """

    def __init__(
        self,
        kb: object = None,
        *,
        weights: Mapping[str, float] | None = None,
        bias: float = _BIAS,
        recent: float = 2.0,
    ) -> None:
        if not isfinite(recent):
            raise ConfigError(
                f"recent = {recent} does not fit: it is a number, 0 to leave out what was linked lately"
            )
        if not isfinite(bias):
            raise ConfigError(f"bias = {bias} does not fit: it is a number, and a larger one makes more names NIL")
        self.bias, self.recent = bias, recent
        self.weights: dict[str, float] = {**DEFAULT_WEIGHTS, **_checked(weights or {})}

    @property
    def wanted_evidence(self) -> tuple[str, ...]:
        """The kinds of evidence behind its weights."""
        weighed = {
            "spelling": ("spelling", "initials"),
            "popularity": ("popularity", _EXPECTED),
            "co-occurrence": (_COMPANY,),
            "coherence": ("coherence",),
        }
        return tuple(kind for kind, names in weighed.items() if any(self.weights[name] for name in names))

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        terms = [(name, weight) for name, weight in (*self.weights.items(), (_RECENT, self.recent)) if weight]
        positive = {name: weight for name, weight in self.weights.items() if weight > 0 and name not in _UNRECKONED}
        return [self._ranked(one.candidates, terms, positive) for one in shortlists]

    def _ranked(
        self, candidates: Sequence[Candidate], terms: Sequence[tuple[str, float]], positive: Mapping[str, float]
    ) -> Sequence[Candidate]:
        if not candidates:
            return candidates
        told = self._derived([dict(one.evidence) for one in candidates])
        bias = self._bias_among(told, positive)
        sums = [sum([weight * own[name] for name, weight in terms if name in own], 0.0) for own in told]
        most = max(sums)
        powers = [exp(one - most) for one in sums]
        total = sum(powers)
        ranked = []
        for place in sorted(range(len(sums)), key=lambda place: -sums[place]):
            one, own = candidates[place], told[place]
            own["sum"] = sums[place]
            score = _logistic(sums[place] - bias) * powers[place] / total
            ranked.append(Candidate(one.entity, score, own, one.title))
        return ranked

    def _derived(self, told: list[dict[str, float]]) -> list[dict[str, float]]:
        """With what follows from other evidence."""
        for own in told:
            # Retrievers that are asked in turn do not sign what they find; of a near spelling, P(e|m) is another's.
            if "prior" in own and "alias" not in own and "edit" not in own:
                own["alias"] = own["prior"]
            if _BORNE in self.weights:
                own[_BORNE] = _is_borne(own)
        if self.weights[_EXPECTED] and _COMPANY in told[0]:
            is_expected = any(own.get(_COMPANY) for own in told)
            for own in told:
                own[_EXPECTED] = own.get("popularity", 0.0) if is_expected else 0.0
        if self.weights.get(_CROSS):
            scores = [own[_CROSS] for own in told if _CROSS in own]
            for own in told if scores else ():
                own.setdefault(_CROSS, min(scores))
        return told

    def _bias_among(self, told: Sequence[Mapping[str, float]], positive: Mapping[str, float]) -> float:
        """The share of the bias that the evidence at hand can make up for."""
        if not positive:
            return self.bias
        first, *others = told  # which mostly has all there is
        at_hand = sum(
            [weight for name, weight in positive.items() if name in first or any(name in own for own in others)]
        )
        return self.bias * at_hand / sum(positive.values())


def _is_borne(evidence: Mapping[str, float]) -> float:
    """1 if the mention is a name of the candidate: one of small P(e|m) is still likelier than one that never is."""
    return float("tier" in evidence and evidence.get("alias", evidence.get("prior", 0.0)) > 0)


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
                "retrievers and evidence give under names of their own"
            )
        if not isfinite(weight):
            raise ConfigError(f"the weight of {name!r} is {weight}. Give a number")
    return weights


def _logistic(number: float) -> float:
    return 1.0 / (1.0 + exp(-min(max(number, -500.0), 500.0)))
