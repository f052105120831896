"""Evidence as plain scores."""

from __future__ import annotations

from collections.abc import Sequence

from entlink.interfaces import Evidence, Shortlist


def scores_of(evidence: Evidence, shortlists: Sequence[Shortlist]) -> list[list[float]]:
    """The first number of each candidate."""
    return [[numbers[evidence.gives[0]] for numbers in each] for each in evidence.gather(shortlists)]
