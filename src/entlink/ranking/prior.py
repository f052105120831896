"""Ranking by the score the retrievers gave."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from entlink.documents import Candidate
from entlink.interfaces import Shortlist

_score = attrgetter("score")


class PriorRanker:
    """Best retrieval score first; ties keep the order in which they were retrieved."""

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        return [
            candidates if len(candidates) < 2 else sorted(candidates, key=_score, reverse=True)
            for _, _, candidates in shortlists
        ]
