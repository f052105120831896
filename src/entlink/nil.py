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
        links = []
        for _, mention, candidates in shortlists:
            best = candidates[0] if candidates else None
            if best is not None and best.score >= self.threshold:
                links.append(Link(mention, best.entity, best.score, title=best.title, candidates=tuple(candidates)))
            else:
                score = 1.0 - best.score if best else 1.0
                links.append(Link(mention, None, score, nil_type=mention.type, candidates=tuple(candidates)))
        return links
