"""Ranking by a cross-encoder, which reads a mention and a candidate at once."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from entlink.documents import Candidate
from entlink.interfaces import Shortlist

_CROSS = "cross"


class CrossEncoderRanker:
    """Orders candidates by the evidence `cross`, which the evidence stage `cross-encoder` gives the first of them.

    The score of a candidate is its share by a softmax. Those without that evidence come last in the order they had,
    and score 0.
    """

    needs = "the evidence cross-encoder"

    needed_evidence = ("cross-encoder",)

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        return [_ranked(one.candidates) for one in shortlists]


def _ranked(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    first = sorted((one for one in candidates if _CROSS in one.evidence), key=lambda one: -one.evidence[_CROSS])
    powers = [exp(one.evidence[_CROSS] - first[0].evidence[_CROSS]) for one in first]
    total = sum(powers)
    ranked = [
        Candidate(one.entity, power / total, one.evidence, one.title)
        for power, one in zip(powers, first, strict=True)
    ]
    rest = (one for one in candidates if _CROSS not in one.evidence)
    return [*ranked, *(Candidate(one.entity, 0.0, one.evidence, one.title) for one in rest)]
