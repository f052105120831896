"""NIL by what gold taught: how likely a span is to be linked at all, and to its best candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from entlink.documents import Candidate, Link, Mention
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.nil.by_type import NO_TYPES, Limit, Share, limit_for
from entlink.nil.calibrated import logistic
from entlink.nil.measures import measure
from entlink.nil.threshold import PINNED

MENTION, SCORE = "mention", "score"
_SUREST = 1e-4


class JudgedNil:
    """P(the link is right) is the logistic of bias + Σ weight · measure; below `threshold` the mention is NIL.

    The measures are those of the best candidate, its evidence among them, and `mention`, the detector's own score;
    that and the ranker's score count as logarithms of odds. Unlike probabilities that were fitted without gold, these
    are about what a linker finds in texts by itself, where a span may be no mention at all. `entlink tune --only nil`
    fits the weights. `types` has thresholds of some types.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        weights: Mapping[str, float],
        bias: float,
        threshold: Share = 0.5,
        types: Mapping[str, Share] = NO_TYPES,
    ) -> None:
        self.kb, self.weights, self.bias = kb, dict(weights), bias
        self.threshold, self.types = threshold, types

    def decide(self, shortlists: Sequence[Shortlist]) -> list[Link]:
        return [self._decided(mention, tuple(candidates)) for _, mention, candidates in shortlists]

    def _decided(self, mention: Mention, candidates: tuple[Candidate, ...]) -> Link:
        if not candidates:
            return Link(mention, None, 1.0, True, mention.type)
        best = candidates[0]
        probability = self.probability(mention, candidates)
        if best.evidence.get(PINNED) or probability >= self.limit(best).threshold:
            return Link(mention, best.entity, probability, True, None, best.title, candidates)
        return Link(mention, None, 1.0 - probability, True, mention.type, None, candidates)

    def probability(self, mention: Mention, candidates: Sequence[Candidate]) -> float:
        """How likely a link of the mention to the first candidate is right; 1 where a rule says so."""
        if candidates[0].evidence.get(PINNED):
            return 1.0
        told = sum(weight * measured(name, mention, candidates) for name, weight in self.weights.items())
        return logistic(self.bias + told)

    def limit(self, best: Candidate) -> Limit:
        """The threshold that holds for a candidate."""
        return limit_for(self.kb.types(best.entity) if self.types else (), self.types, self.threshold)

    def why_nil(self, link: Link) -> str:
        """Why a mention with candidates became NIL."""
        found = self.probability(link.mention, link.candidates)
        return (
            f"a link to the best candidate is right with probability {found:.3f}, too little for a link: the "
            f"threshold is {self.limit(link.candidates[0])}"
        )


def measured(name: str, mention: Mention, candidates: Sequence[Candidate]) -> float:
    """One measure of a mention and its candidates, of which there is at least one."""
    if name == MENTION:
        return 0.0 if mention.score is None else _odds(mention.score)
    found = measure(name, candidates)
    return _odds(found) if name == SCORE else found


def _odds(share: float) -> float:
    within = min(max(share, _SUREST), 1 - _SUREST)
    return log(within / (1 - within))
