"""P(e|m) of candidates: as a retriever gave it, or as the knowledge base has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from entlink.documents import Candidate
    from entlink.kb.knowledge_base import KnowledgeBase

_PRIORS = ("alias", "prior")


def priors(kb: KnowledgeBase, surface: str, candidates: Sequence[Candidate]) -> list[float]:
    """P(e|m) of each candidate; 0 where the name is not one of its own."""
    found = [_prior(one) for one in candidates]
    if None not in found:
        return [prior for prior in found if prior is not None]
    named = {name.entity: name.probability for name in kb.aliases(surface)}
    return [
        named.get(one.entity, 0.0) if prior is None else prior for prior, one in zip(found, candidates, strict=True)
    ]


def _prior(candidate: Candidate) -> float | None:
    """P(e|m) as a retriever told it; that of a near spelling is of another name."""
    told = candidate.evidence
    name = next((name for name in _PRIORS if name in told and not (name == "prior" and "edit" in told)), None)
    return None if name is None else told[name]
