"""Scores of rankers: precision over the mentions answered, recall over all, recall among the first five."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from entlink.documents import Candidate
from entlink.evaluation.intervals.resampling import Interval, differences, intervals
from entlink.evaluation.scoring.counts import Counts
from entlink.evaluation.scoring.tally import Column
from entlink.studies.pictures.results import R_AT, Compared, Mean, PictureOptions, Scores
from entlink.studies.pictures.sets import Asked


class Outcome(NamedTuple):
    """What became of a mention: the entity that was said, and the place of the right one, from 0, if it is listed."""

    said: str | None
    rank: int | None

    @property
    def is_right(self) -> bool:
        return self.rank == 0


NO_ANSWER = Outcome(None, None)
Run = list[Outcome]  # of all mentions, by one trained model


def outcomes(asked: Sequence[Asked], lists: Sequence[Sequence[Candidate]], scores: Sequence[Sequence[float]]) -> Run:
    """What became of each mention; a ranker has no answer where it gives no scores."""
    return [_outcome(one.right, own, values) for one, own, values in zip(asked, lists, scores, strict=True)]


def _outcome(right: frozenset[str], candidates: Sequence[Candidate], scores: Sequence[float]) -> Outcome:
    """Wrong candidates that tie with the right one count before it: a tie is no merit."""
    if not scores:
        return NO_ANSWER
    ranked = sorted(zip(candidates, scores, strict=True), key=lambda pair: (-pair[1], pair[0].entity in right))
    rank = next((place for place, (one, _) in enumerate(ranked) if one.entity in right), None)
    return Outcome(ranked[0][0].entity, rank)


def scores_of(
    asked: Sequence[Asked], runs: Sequence[Run], options: PictureOptions, *, has_lists: bool = True
) -> Scores:
    """The means over runs; the interval is of F1 and draws documents, of all runs together."""
    columns = [column_of(asked, run) for run in runs]
    totals = [column.total() for column in columns]
    answered = fmean(sum(one.said is not None for one in run) for run in runs)
    f1 = mean_of([total.f1 for total in totals])
    if options.rounds and asked:
        drawn = intervals(_together(columns), rounds=options.rounds, seed=options.seed, level=options.level)
        f1 = Mean(f1.value, f1.deviation, drawn.f1)
    at = [sum(one.rank is not None and one.rank < R_AT for one in run) / max(1, len(run)) for run in runs]
    return Scores(
        len(asked),
        answered,
        f1,
        mean_of([total.precision for total in totals]),
        mean_of([total.recall for total in totals]),
        mean_of(at) if has_lists else None,
    )


def mean_of(values: Sequence[float]) -> Mean:
    """A mean with its deviation, if there are several values."""
    return Mean(fmean(values), stdev(values) if len(values) > 1 else None)


def column_of(asked: Sequence[Asked], run: Run) -> Column:
    """Right, answered and wanted of each caption, captions in the order in which they come first."""
    found: dict[str, Counts] = {}
    for one, outcome in zip(asked, run, strict=True):
        right, said, gold = found.get(one.document.id, Counts(0, 0, 0))
        found[one.document.id] = Counts(right + outcome.is_right, said + (outcome.said is not None), gold + 1)
    column = Column()
    for counts in found.values():
        column.add(counts)
    return column


def _together(columns: Sequence[Column]) -> Column:
    """The runs of each document added up: what is drawn are documents, and all runs are on the same ones."""
    column = Column()
    for rows in zip(*columns, strict=True):
        column.add(Counts(*(sum(values) for values in zip(*rows, strict=True))))
    return column


def f1_of(asked: Sequence[Asked], runs: Sequence[Run]) -> float:
    """The mean F1 of some runs."""
    return fmean(column_of(asked, run).total().f1 for run in runs)


def some_of(asked: Sequence[Asked], runs: Sequence[Run], places: Iterable[int]) -> tuple[list[Asked], list[Run]]:
    """Some of the mentions and what became of them."""
    kept = list(places)
    return [asked[at] for at in kept], [[run[at] for at in kept] for run in runs]


def compared(
    condition: str,
    asked: Sequence[Asked],
    first: tuple[str, Sequence[Run]],
    other: tuple[str, Sequence[Run]],
    options: PictureOptions,
) -> Compared:
    """The difference of two rankers' F1 over the same captions, all their runs added up."""
    ours, theirs = (_weighed(asked, runs, max(len(first[1]), len(other[1]))) for _, runs in (first, other))
    found = differences(ours, theirs, rounds=max(options.rounds, 1), seed=options.seed, level=options.level)
    f1 = next(one for one in found if one.measure == "f1")
    interval = Interval(f1.interval.low, f1.interval.high, options.level)
    return Compared(condition, first[0], other[0], len(asked), f1.difference, interval, f1.p)


def _weighed(asked: Sequence[Asked], runs: Sequence[Run], times: int) -> Column:
    """All runs together; those of what was trained once count as often as those of what it is compared with."""
    wanted = list(runs) * times if len(runs) == 1 else list(runs)
    return _together([column_of(asked, run) for run in wanted])
