"""From places to accuracy: by snapshot, and as means in and out of the snapshot a model was trained on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from entlink.evaluation.intervals.resampling import differences, intervals
from entlink.evaluation.scoring.counts import Counts
from entlink.evaluation.scoring.tally import Column
from entlink.studies.time.asked import Mark
from entlink.studies.time.categories import CONTINUAL, NEW
from entlink.studies.time.results import (
    DROP,
    IN,
    OUT,
    UNTRAINED,
    Cell,
    Estimate,
    MatrixRow,
    Mean,
    Setting,
    TimeOptions,
)

Ranks: TypeAlias = Mapping[str, Sequence[int]]  # by the snapshot that is asked about
Marks: TypeAlias = Mapping[str, Sequence[Mark]]
_RECALL = 1  # the place of recall among the measures
# By target, and then by K: how many of its mentions are right, and how many there are.
_Sums: TypeAlias = dict[str, tuple[dict[int, int], int]]


def is_hit(rank: int, k: int) -> bool:
    """Whether a target is among the first K."""
    return 0 < rank <= k


def matrix_rows(system: str, train: str | None, ranks: Ranks, marks: Marks, ks: Sequence[int]) -> Iterator[MatrixRow]:
    """Accuracy on continual and on new entities of each snapshot."""
    for entities in (CONTINUAL, NEW):
        cells = []
        for test, found in ranks.items():
            own = [rank for rank, mark in zip(found, marks[test], strict=True) if mark.entities == entities]
            at = {k: sum(is_hit(rank, k) for rank in own) / len(own) for k in ks} if own else None
            cells.append(Cell(test, len(own), at))
        yield MatrixRow(system, train, entities, cells)


class Means:
    """Means over the mentions of all snapshots, by category; chance is drawn over targets."""

    def __init__(self, marks: Marks, categories: Sequence[str], options: TimeOptions) -> None:
        self._marks, self._options = marks, options
        self._categories = [CONTINUAL, NEW, *categories]

    def of_trained(self, system: str, trained: Mapping[str, Ranks]) -> Iterator[Mean]:
        """Each mention by the model of its own snapshot, and by those of all others; and how far these are apart."""
        others = len(trained) - 1
        for category in self._categories:
            inside = self._sums(category, lambda test, place, k: is_hit(trained[test][test][place], k))
            if not inside:
                continue
            yield self._mean(system, category, IN, inside, 1)
            if not others:
                continue
            outside = self._sums(
                category,
                lambda test, place, k: sum(
                    is_hit(ranks[test][place], k) for train, ranks in trained.items() if train != test
                ),
            )
            yield self._mean(system, category, OUT, outside, others)
            yield self._drop(system, category, inside, outside, others)

    def of_untrained(self, system: str, ranks: Ranks) -> Iterator[Mean]:
        """Each mention once."""
        for category in self._categories:
            sums = self._sums(category, lambda test, place, k: is_hit(ranks[test][place], k))
            if sums:
                yield self._mean(system, category, UNTRAINED, sums, 1)

    def _sums(self, category: str, right: Callable[[str, int, int], int]) -> _Sums:
        found: dict[str, tuple[dict[int, int], int]] = {}
        for test, marks in self._marks.items():
            for place, mark in enumerate(marks):
                if category in (mark.category, mark.entities):
                    counted, mentions = found.get(mark.target, (dict.fromkeys(self._options.ks, 0), 0))
                    for k in counted:
                        counted[k] += right(test, place, k)
                    found[mark.target] = counted, mentions + 1
        return found

    def _mean(self, system: str, category: str, setting: Setting, sums: _Sums, times: int) -> Mean:
        at = {k: estimate(_column(sums, k, times), self._options) for k in self._options.ks}
        return Mean(system, category, setting, sum(count for _, count in sums.values()), len(sums), at)

    def _drop(self, system: str, category: str, inside: _Sums, outside: _Sums, others: int) -> Mean:
        at = {
            k: difference(_column(outside, k, others), _column(inside, k, others, others), self._options)
            for k in self._options.ks
        }
        return Mean(system, category, DROP, sum(count for _, count in inside.values()), len(inside), at)


def by_target(marks: Sequence[Mark], ranks: Sequence[int], entities: str, k: int) -> Column:
    """How many mentions of each target are right."""
    found: dict[str, list[int]] = {}
    for mark, rank in zip(marks, ranks, strict=True):
        if mark.entities == entities:
            sums = found.setdefault(mark.target, [0, 0])
            sums[0] += is_hit(rank, k)
            sums[1] += 1
    column = Column()
    for right, count in found.values():
        column.add(Counts(right, count, count))
    return column


def _column(sums: _Sums, k: int, times: int, each: int = 1) -> Column:
    """What is right of `times` answers to each mention; what is counted once weighs `each`."""
    column = Column()
    for counted, mentions in sums.values():
        column.add(Counts(counted[k] * each, mentions * times, mentions * times))
    return column


def estimate(column: Column, options: TimeOptions) -> Estimate:
    """The mean, with its interval if any is wanted."""
    value = column.total().recall
    if not options.rounds:
        return Estimate(value)
    drawn = intervals(column, rounds=options.rounds, seed=options.seed, level=options.level)
    return Estimate(value, drawn.recall)


def difference(a: Column, b: Column, options: TimeOptions) -> Estimate:
    """How much the second is above the first, on the same mentions."""
    value = b.total().recall - a.total().recall
    if not options.rounds:
        return Estimate(value)
    drawn = differences(a, b, rounds=options.rounds, seed=options.seed, level=options.level)[_RECALL]
    return Estimate(value, drawn.interval, drawn.p)
