"""Types in decisions on NIL: the threshold that holds for a candidate, and the type of what is not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, NamedTuple

from msgspec import Meta

from entlink.documents import Candidate, Mention
from entlink.kb.knowledge_base import KnowledgeBase

Share = Annotated[float, Meta(ge=0, le=1)]
NO_TYPES: Mapping[str, float] = MappingProxyType({})
_NEAREST = 5
_MAJORITY = 0.5


class Limit(NamedTuple):
    """A threshold and the type it is of; None is all that have none of their own."""

    threshold: float
    type: str | None = None

    def __str__(self) -> str:
        return f"{self.threshold:.3f}" + ("" if self.type is None else f", that of type {self.type!r}")


def limit_for(types: Sequence[str], thresholds: Mapping[str, float], otherwise: float) -> Limit:
    """The lowest threshold of an entity's types; the general one where none of them has its own."""
    own = [Limit(thresholds[name], name) for name in types if name in thresholds]
    return min(own, default=Limit(otherwise))


def nil_type(kb: KnowledgeBase, mention: Mention, candidates: Sequence[Candidate]) -> str | None:
    """The mention's own type; else the one that more than half of the nearest candidates have, by score.

    Of several types that do, the one with most; of equals, the one that the best candidate names first.
    """
    if mention.type is not None:
        return mention.type
    weights: dict[str, float] = {}
    total = 0.0
    for one in candidates[:_NEAREST]:
        total += one.score
        for name in kb.types(one.entity):
            weights[name] = weights.get(name, 0.0) + one.score
    best = max(weights, key=lambda name: weights[name], default=None)
    return best if best is not None and weights[best] > _MAJORITY * total else None
