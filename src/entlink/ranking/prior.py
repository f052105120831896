"""Ranking by the score the retrievers gave."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from operator import attrgetter

from entlink.documents import Candidate
from entlink.errors import ConfigError
from entlink.interfaces import Shortlist

_score = attrgetter("score")
_RECENT = "recent"  # what a conversation remembers of an entity, from 0 to 1


class PriorRanker:
    """Best retrieval score first; ties keep the order in which they were retrieved.

    In a conversation, what was linked lately has better chances: `recent` times the evidence of that name is added to
    its score, and the scores of a mention are divided by 1 plus all that was added, so that shares stay shares.
    """

    def __init__(self, *, recent: float = 1.0) -> None:
        if not (isfinite(recent) and recent >= 0):
            raise ConfigError(f"recent = {recent} does not fit: it is a weight, from 0 (left out) upwards")
        self.recent = recent

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        return [self._ranked(candidates) for _, _, candidates in shortlists]

    def _ranked(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        if self.recent and any(_RECENT in one.evidence for one in candidates):
            candidates = self._with_recent(candidates)
        return candidates if len(candidates) < 2 else sorted(candidates, key=_score, reverse=True)

    def _with_recent(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        added = [self.recent * one.evidence.get(_RECENT, 0.0) for one in candidates]
        whole = 1.0 + sum(added)
        return [
            Candidate(one.entity, (one.score + more) / whole, one.evidence, one.title)
            for one, more in zip(candidates, added, strict=True)
        ]
