"""How good the answers of a probe are: pure functions of what was right, with intervals over seeds and rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from entlink.evaluation.intervals.resampling import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.evaluation.probes.inputs import Integers

    Floats = NDArray[Any]

ROUNDS, LEVEL = 1000, 0.95


def accuracy(right: Floats) -> float:
    """The share of rows that are right; a row may be right in part, where answers are tied."""
    return float(right.mean())


def micro_f1(counts: Floats) -> float:
    """F1 over all labels of all rows; each row has how many were right, how many were said, how many there are."""
    right, said, gold = counts.sum(axis=0)
    return float(2 * right / (said + gold)) if said + gold else 0.0


def macro_f1(counts: Floats) -> float:
    """F1 of the mean precision of the rows where anything was said, and the mean recall."""
    right, said, gold = counts.T
    precision = float((right[said > 0] / said[said > 0]).mean()) if (said > 0).any() else 0.0
    recall = float((right / gold).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def best_threshold(shares: Floats, right: Floats, gold: Floats) -> float:
    """The threshold whose micro F1 is highest: labels at it or above are said. `gold` counts unseen labels, too."""
    order = numpy.argsort(-shares, axis=None)
    sorted_shares = shares.reshape(-1)[order]
    hits = numpy.cumsum(right.reshape(-1)[order])
    said = numpy.arange(1, len(order) + 1)
    scores = 2 * hits / (said + gold.sum())
    is_last = numpy.append(sorted_shares[1:] < sorted_shares[:-1], True)  # equal shares are said together
    places = numpy.flatnonzero(is_last)
    return float(sorted_shares[places[numpy.argmax(scores[places])]])


def label_counts(shares: Floats, threshold: float, right: Floats, gold: Floats) -> Floats:
    """For each row how many labels were right, how many were said, how many there are."""
    said = shares >= threshold
    return numpy.stack([(said & (right > 0)).sum(axis=1), said.sum(axis=1), gold], axis=1).astype(numpy.float64)


def chosen_right(scores: Floats, starts: Integers, gold: Integers) -> Floats:
    """For each mention, whether its gold scores highest; of several that score highest, its share."""
    sizes = numpy.diff(numpy.append(starts, len(scores)))
    top = numpy.maximum.reduceat(scores, starts)
    is_top = scores >= numpy.repeat(top, sizes)
    ties = numpy.add.reduceat(is_top.astype(numpy.int64), starts)
    found: Floats = is_top[gold] / ties
    return found


def cosines(first: Floats, second: Floats) -> Floats:
    """The cosine of each row with its other; 0 where one is all zeros."""
    first, second = first.astype(numpy.float64), second.astype(numpy.float64)
    lengths = numpy.linalg.norm(first, axis=1) * numpy.linalg.norm(second, axis=1)
    found: Floats = (first * second).sum(axis=1) / numpy.where(lengths > 0, lengths, 1)
    return found


def spearman(said: Floats, gold: Floats) -> float | None:
    """Spearman's rank correlation, ties with their mean rank; None where one side is all the same."""
    first, second = _ranks(said), _ranks(gold)
    first, second = first - first.mean(), second - second.mean()
    norm = numpy.sqrt((first**2).sum() * (second**2).sum())
    return float((first * second).sum() / norm) if norm > 0 else None


def _ranks(values: Floats) -> Floats:
    _, places, counts = numpy.unique(values, return_inverse=True, return_counts=True)
    ends = numpy.cumsum(counts)
    mean: Floats = (ends - (counts - 1) / 2)[places]
    return mean


def by_head(said: Floats, gold: Floats, heads: Sequence[str]) -> dict[str, float]:
    """Spearman's correlation within the pairs of each head; heads without an order of their own are left out."""
    found = {}
    for head in dict.fromkeys(heads):
        own = numpy.array([one == head for one in heads])
        value = spearman(said[own], gold[own])
        if value is not None:
            found[head] = value
    return found


class Outcome(NamedTuple):
    """What one model got of each row, and the score of any resample of rows."""

    rows: Floats
    score: Callable[[Floats], float]


def interval(outcomes: Sequence[Outcome], *, rounds: int = ROUNDS, seed: int = 0, level: float = LEVEL) -> Interval:
    """Where the score falls when a model is drawn among those of the seeds, and rows are drawn again.

    All outcomes are of the same rows.
    """
    random = numpy.random.default_rng(seed)
    size = len(outcomes[0].rows)
    drawn = []
    for number in range(rounds):
        rows, score = outcomes[number % len(outcomes)]
        drawn.append(score(rows[random.integers(size, size=size)]))
    low, high = numpy.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level)
