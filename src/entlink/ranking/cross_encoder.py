"""Ranking by a cross-encoder, which reads a mention and a candidate at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, tanh
from typing import Literal

from entlink.documents import Candidate
from entlink.interfaces import Shortlist

_CROSS = "cross"


class CrossEncoderRanker:
    """Orders candidates by the evidence `cross`, which the evidence stage `cross-encoder` gives the first of them.

    The score of a candidate is its share by a softmax, or, with `score` "probability", how likely the pair is right
    by itself: that is for a model with the loss `binary`. Those without that evidence come last in the order they
    had, and score 0.
    """

    needs = "the evidence cross-encoder"

    needed_evidence = ("cross-encoder",)

    def __init__(self, *, score: Literal["share", "probability"] = "share") -> None:
        self.score = score

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        scored = _shares if self.score == "share" else _probabilities
        return [_ranked(one.candidates, scored) for one in shortlists]


def _shares(sums: Sequence[float]) -> list[float]:
    """By a softmax; the largest comes first."""
    powers = [exp(one - sums[0]) for one in sums]
    total = sum(powers)
    return [power / total for power in powers]


def _probabilities(sums: Sequence[float]) -> list[float]:
    return [(1 + tanh(one / 2)) / 2 for one in sums]  # the logistic, which does not overflow so


def _ranked(candidates: Sequence[Candidate], scored: Callable[[Sequence[float]], list[float]]) -> Sequence[Candidate]:
    first = sorted((one for one in candidates if _CROSS in one.evidence), key=lambda one: -one.evidence[_CROSS])
    scores = scored([one.evidence[_CROSS] for one in first])
    ranked = [Candidate(one.entity, score, one.evidence, one.title) for score, one in zip(scores, first, strict=True)]
    rest = (one for one in candidates if _CROSS not in one.evidence)
    return [*ranked, *(Candidate(one.entity, 0.0, one.evidence, one.title) for one in rest)]
