"""How good probabilities and the decisions by them are; every mention counts what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from entlink.errors import InputError

BINS = 10
_STEPS = 100  # thresholds that are tried, from 0 to 1
_NEAR = 2  # steps on both sides by which a curve is smoothed


class Judged(NamedTuple):
    """A mention with a probability of its best candidate: whether that is right, and whether NIL would be."""

    probability: float
    right: bool
    nil: bool
    importance: float = 1.0
    types: tuple[str, ...] = ()


class Bin(msgspec.Struct, frozen=True):
    """Mentions of like probability: their mean, how many of them were right, and their share of all."""

    probability: float
    right: float
    share: float


class Scores(msgspec.Struct, frozen=True):
    """Expected calibration error and Brier score of the probabilities; what decisions by the threshold come to.

    `accuracy` is over all mentions, NIL included; precision and recall are of the links, and of NIL.
    """

    ece: float
    brier: float
    accuracy: float
    precision: float
    recall: float
    nil_precision: float
    nil_recall: float
    nil_f1: float


def reliability(mentions: Iterable[Judged]) -> list[Bin]:
    """The mentions in ten bins of equal width, those without any left out."""
    sums = [[0.0, 0.0, 0.0] for _ in range(BINS)]
    for one in mentions:
        place = sums[min(int(one.probability * BINS), BINS - 1)]
        place[0] += one.importance
        place[1] += one.importance * one.probability
        place[2] += one.importance * one.right
    total = sum(place[0] for place in sums)
    return [Bin(chance / weight, right / weight, weight / total) for weight, chance, right in sums if weight]


def calibration_error(bins: Iterable[Bin]) -> float:
    """The mean distance between a bin's probability and its share of right ones (ECE)."""
    return sum(one.share * abs(one.probability - one.right) for one in bins)


def brier_score(mentions: Sequence[Judged]) -> float:
    """The mean squared distance between probability and outcome."""
    total = sum(one.importance for one in mentions)
    return sum(one.importance * (one.probability - one.right) ** 2 for one in mentions) / total


def scores(mentions: Sequence[Judged], linked: Sequence[bool]) -> Scores:
    """The scores of probabilities and decisions."""
    total = found = linked_weight = known = nil = said_nil = nil_right = 0.0
    for one, is_link in zip(mentions, linked, strict=True):
        weight = one.importance
        total += weight
        known += 0.0 if one.nil else weight
        nil += weight if one.nil else 0.0
        if is_link:
            linked_weight += weight
            found += weight * one.right
        else:
            said_nil += weight
            nil_right += weight * one.nil
    precision, recall = _ratio(nil_right, said_nil), _ratio(nil_right, nil)
    return Scores(
        ece=calibration_error(reliability(mentions)),
        brier=brier_score(mentions),
        accuracy=(found + nil_right) / total,
        precision=_ratio(found, linked_weight),
        recall=_ratio(found, known),
        nil_precision=precision,
        nil_recall=recall,
        nil_f1=_ratio(2 * precision * recall, precision + recall),
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


# Thresholds


def best_threshold(mentions: Sequence[Judged], around: Callable[[int], float] = lambda step: 0.0) -> float:
    """The threshold with the most right decisions, NIL included, on a curve that is smoothed a little.

    `around` is added to the curve at each step: what is known beside these mentions.
    """
    curve = [gain + around(step) for step, gain in enumerate(accuracies(mentions))]
    smooth = [_mean(curve[max(0, at - _NEAR) : at + _NEAR + 1]) for at in range(len(curve))]
    most = max(smooth) - 1e-12
    best = [at for at, value in enumerate(smooth) if value >= most]
    return best[len(best) // 2] / _STEPS


def accuracies(mentions: Sequence[Judged]) -> list[float]:
    """The summed importance of what is decided rightly at each threshold from 0 to 1."""
    changes = [0.0] * (_STEPS + 2)
    for one in mentions:
        changes[0] += one.importance * one.right
        # The first step at which the mention is NIL.
        changes[_first_nil(one.probability)] += one.importance * (one.nil - one.right)
    sums, running = [], 0.0
    for change in changes[: _STEPS + 1]:
        running += change
        sums.append(running)
    return sums


def _first_nil(probability: float) -> int:
    step = int(probability * _STEPS)
    return step if probability < step / _STEPS else step + 1


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def threshold_for_precision(mentions: Sequence[Judged], wanted: float, fewest: int = 20) -> float:
    """The lowest threshold from which on so many of the links are right; it must leave `fewest` links to tell."""
    linked = right = 0.0
    count = 0
    reached: list[tuple[float, float]] = []
    ordered = sorted(mentions, key=lambda one: -one.probability)
    for probability, group in groupby(ordered, key=lambda one: one.probability):
        for one in group:
            linked += one.importance
            right += one.importance * one.right
            count += 1
        if count >= fewest:
            reached.append((right / linked, probability))
    fits = [probability for precision, probability in reached if precision >= wanted]
    if not fits:
        best, at = max(reached, default=(0.0, 0.0))
        raise InputError(
            f"no threshold makes {wanted:g} of the links right: at most {best:.3f} are, at {at:.3f}. Ask for less"
        )
    return min(fits)
