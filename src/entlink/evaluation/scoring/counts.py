"""Counts and the scores made of them: precision, recall and F1, micro and macro."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum
from typing import NamedTuple


class Counts(NamedTuple):
    """How many answers were right, how many were given, and how many were wanted."""

    correct: int = 0
    predicted: int = 0
    gold: int = 0

    @property
    def precision(self) -> float:
        return share(self.correct, self.predicted, self.gold)

    @property
    def recall(self) -> float:
        return share(self.correct, self.gold, self.predicted)

    @property
    def f1(self) -> float:
        return share(2 * self.correct, self.predicted + self.gold, 0)

    @property
    def scores(self) -> Scores:
        return Scores(self.precision, self.recall, self.f1)


NOTHING = Counts(0, 0, 0)


class Scores(NamedTuple):
    """Three shares from 0 to 1."""

    precision: float
    recall: float
    f1: float


def share(part: int, whole: int, other: int) -> float:
    """part ÷ whole. Nothing asked and nothing answered is perfect; otherwise a share of nothing is 0."""
    if whole:
        return part / whole
    return 0.0 if other else 1.0


def micro(counts: Iterable[Counts]) -> Counts:
    """All counts added up, as of one large document."""
    correct = predicted = gold = 0
    for one in counts:
        correct += one[0]
        predicted += one[1]
        gold += one[2]
    return Counts(correct, predicted, gold)


def macro(groups: Iterable[Counts]) -> Scores:
    """The mean of each score over groups (domains, or documents): a small group counts as much as a large one.

    F1 is the mean of the groups' F1s, not the F1 of the means.
    """
    scores = [group.scores for group in groups]
    if not scores:
        return Scores(0.0, 0.0, 0.0)
    size = len(scores)
    return Scores(
        fsum(one.precision for one in scores) / size,  # exact, so that the order of groups changes no digit
        fsum(one.recall for one in scores) / size,
        fsum(one.f1 for one in scores) / size,
    )
