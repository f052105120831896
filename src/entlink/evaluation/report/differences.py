"""The first run against each other one: by how much they differ, or why that cannot be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from entlink.errors import InputError
from entlink.evaluation.intervals.comparing import Comparison, compare
from entlink.evaluation.report.runs import Run, same_gold
from entlink.io.progress import Progress

_ROUNDS, _FEWEST_ROUNDS = 10_000, 1_000
DIFFERENT_GOLD = "the gold is not the same file, or not the same documents"


class Paired(NamedTuple):
    """A run against the first: their comparison, or why there is none."""

    first: Run
    other: Run
    comparison: Comparison | None
    problem: str = ""


def against_first(runs: Sequence[Run], progress: Progress | None = None) -> list[Paired]:
    """Each run but the first, compared with it. The more runs, the fewer rounds: the time stays about the same."""
    rounds = max(_FEWEST_ROUNDS, _ROUNDS // max(1, len(runs) - 1))
    found = []
    for number, run in enumerate(runs[1:], 1):
        if progress is not None:
            progress("comparing", number, len(runs))
        found.append(_paired(runs[0], run, rounds))
    return found


def _paired(first: Run, other: Run, rounds: int) -> Paired:
    if not same_gold(first.evaluation, other.evaluation):
        return Paired(first, other, None, DIFFERENT_GOLD)
    intervals = first.evaluation.el.micro.intervals
    level = intervals.f1.level if intervals else 0.95
    try:
        found = compare(first.evaluation, other.evaluation, rounds=rounds, level=level)
    except InputError as error:
        return Paired(first, other, None, str(error))
    return Paired(first, other, found)
