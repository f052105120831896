"""When a mention means no entity of the knowledge base."""

from __future__ import annotations

from collections.abc import Sequence

from entlink.documents import Link
from entlink.interfaces import Shortlist


class ThresholdNil:
    """NIL when there is no candidate, or the best one scores below `threshold`; typed as the mention is."""

    def __init__(self, threshold: float = 0.05) -> None:
        self.threshold = threshold

    def decide(self, shortlists: Sequence[Shortlist]) -> list[Link]:
        threshold = self.threshold
        links = []
        for _, mention, candidates in shortlists:
            best = candidates[0] if candidates else None
            shown = tuple(candidates)
            # By position: naming the fields would cost a third more, and this runs for every mention.
            if best is not None and best.score >= threshold:
                links.append(Link(mention, best.entity, best.score, False, None, best.title, shown))
            else:
                score = 1.0 - best.score if best else 1.0
                links.append(Link(mention, None, score, False, mention.type, None, shown))
        return links
