"""What is measured of ranked candidates to tell how likely the best of them is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp

from entlink.documents import Candidate
from entlink.kb.names.tiers import Tier

WIDEST_LEAD = 8.0  # of sums: a candidate that is ahead by more is ahead by far
_LOOSEST = float(max(Tier))


def measure(name: str, candidates: Sequence[Candidate]) -> float:
    """One measure of a list that is not empty, best first; evidence that the best candidate lacks is 0."""
    derived = DERIVED.get(name)
    return derived(candidates) if derived else candidates[0].evidence.get(name, 0.0)


def score(candidates: Sequence[Candidate]) -> float:
    """The score of the best."""
    return candidates[0].score


def lead(candidates: Sequence[Candidate]) -> float:
    """How far the best is ahead of the second: of its sum where the ranker adds up evidence, else of its score."""
    best = candidates[0]
    second = candidates[1] if len(candidates) > 1 else None
    if "sum" not in best.evidence:
        return best.score - (second.score if second else 0.0)
    if second is None:
        return WIDEST_LEAD
    return min(WIDEST_LEAD, best.evidence["sum"] - second.evidence.get("sum", 0.0))


def share_of_name(candidates: Sequence[Candidate]) -> float:
    """The best's share among those with the mention as a name, if it does; 1 where no other does.

    By a softmax where the ranker adds up evidence, else of the scores.
    """
    best = candidates[0]
    namesakes = [one for one in candidates if "tier" in one.evidence]
    if "tier" not in best.evidence or len(namesakes) < 2:
        return 1.0
    if "sum" in best.evidence:
        own = best.evidence["sum"]
        return 1.0 / sum(exp(min(0.0, one.evidence.get("sum", own) - own)) for one in namesakes)
    total = sum(one.score for one in namesakes)
    return best.score / total if total > 0 else 1.0 / len(namesakes)


def named(candidates: Sequence[Candidate]) -> float:
    """How nearly the mention is written as a name of the best: 1 exactly so, less for looser tiers, 0 not so."""
    tier = candidates[0].evidence.get("tier")
    return 0.0 if tier is None else 1.0 - tier / (2 * _LOOSEST)


DERIVED = {"score": score, "lead": lead, "named": named}


def measures(names: Sequence[str], candidates: Sequence[Candidate]) -> Mapping[str, float]:
    """Several measures by name."""
    return {name: measure(name, candidates) for name in names}
