"""NIL by a threshold on the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from entlink.documents import Candidate, Link
from entlink.errors import ConfigError
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.nil.by_type import NO_TYPES, Limit, Share, limit_for

THRESHOLD = 0.05
PINNED = "pinned"  # evidence of a rule: whatever else is known, the user has decided


class ThresholdNil:
    """NIL when there is no candidate, or the best one scores below `threshold`; typed as the mention is.

    What a rule has pinned is linked whatever it scores.
    `types` has thresholds for entities of some types, the lowest of which holds; it needs a knowledge base to look
    types up in. Scores are as the ranker gives them: no probabilities.
    """

    def __init__(
        self,
        threshold: float = THRESHOLD,
        *,
        types: Mapping[str, float] = NO_TYPES,
        kb: KnowledgeBase | None = None,
    ) -> None:
        if types and kb is None:
            raise ConfigError("thresholds for types need the knowledge base: ThresholdNil(…, types=…, kb=kb)")
        self.threshold, self.types, self.kb = threshold, types, kb

    def decide(self, shortlists: Sequence[Shortlist]) -> list[Link]:
        threshold = self.threshold
        links = []
        for _, mention, candidates in shortlists:
            best = candidates[0] if candidates else None
            shown = tuple(candidates)
            if self.types and best is not None:
                threshold = self.limit(best).threshold
            # By position: naming the fields would cost a third more, and this runs for every mention.
            if best is not None and (best.score >= threshold or best.evidence.get(PINNED)):
                links.append(Link(mention, best.entity, best.score, False, None, best.title, shown))
            else:
                score = 1.0 - best.score if best else 1.0
                links.append(Link(mention, None, score, False, mention.type, None, shown))
        return links

    def limit(self, best: Candidate) -> Limit:
        """The threshold that holds for a candidate."""
        types = self.kb.types(best.entity) if self.kb is not None and self.types else ()
        return limit_for(types, self.types, self.threshold)

    def why_nil(self, link: Link) -> str:
        """Why a mention with candidates became NIL."""
        best = link.candidates[0]
        return (
            f"the best candidate scores {best.score:.3f}, too little for a link: the threshold is {self.limit(best)}"
        )


def threshold_nil(
    kb: KnowledgeBase, threshold: Share = THRESHOLD, types: Mapping[str, Share] = NO_TYPES
) -> ThresholdNil:
    """The policy as a configuration names it."""
    return ThresholdNil(threshold, types=types, kb=kb)
