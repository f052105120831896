"""The numbers as CSV, a number a line with nothing rounded: for whoever wants to make their own tables and plots."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from entlink.evaluation.intervals.resampling import MEASURES
from entlink.evaluation.report.content import Report
from entlink.evaluation.report.differences import Paired
from entlink.evaluation.report.loss_tables import CEILINGS, shares_of
from entlink.evaluation.report.runs import Run
from entlink.evaluation.results import TASKS, Macro, Micro, Ranking
from entlink.evaluation.scoring.blame import STAGE_OF

Value = str | int | float | None
SCORES = (
    "run", "task", "convention", "average", "measure", "value", "low", "high", "correct", "predicted", "gold",
)  # fmt: skip
SLICES = (
    "run", "slice", "value", "gold", "documents", "md_recall", "el_recall", "low", "high", "precision", "f1",
    "candidate_recall",
)  # fmt: skip
BLAME = ("run", "kind", "stage", "cause", "count", "share")
DIFFERENCES = ("a", "b", "task", "measure", "a_value", "b_value", "difference", "low", "high", "p")


def spreadsheets(report: Report) -> dict[str, str]:
    """CSV files by what comes after the report's own name; each is there, if only with its head."""
    runs = report.runs
    return {
        "": _csv(SCORES, (row for run in runs for row in _scores(run))),
        "-slices": _csv(SLICES, (row for run in runs for row in _slices(run))),
        "-blame": _csv(BLAME, (row for run in runs for row in _blame(run))),
        "-differences": _csv(DIFFERENCES, _differences(report.pairs)),
    }


def _csv(head: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return out.getvalue()


def _scores(run: Run) -> Iterator[Sequence[Value]]:
    evaluation = run.evaluation
    for name in TASKS:
        task = evaluation.task(name)
        yield from _measures((run.name, name, task.convention), task.micro)
        yield from _measures((run.name, name, task.convention), task.macro)
    for rule, tasks in evaluation.conventions.items():
        if rule != evaluation.convention.name:
            for name, task in tasks.items():
                yield from _measures((run.name, name, rule), task.micro)
                yield from _measures((run.name, name, rule), task.macro)
    for name, micro in (("nil", evaluation.nil), ("nil_typed", evaluation.nil_typed)):
        yield from _measures((run.name, name, evaluation.convention.matching), micro)
    if evaluation.coverage is not None:
        yield from _measures((run.name, "el_covered", evaluation.coverage.convention), evaluation.coverage.el)
    for measure, value in _ranking(evaluation.ranking).items():
        yield run.name, "ranking", evaluation.convention.matching, "micro", measure, value, *[None] * 5


def _measures(names: tuple[str, str, str], scores: Micro | Macro) -> Iterator[Sequence[Value]]:
    average, counts = _average(scores)
    for measure in MEASURES:
        interval = getattr(scores.intervals, measure) if scores.intervals else None
        ends = (interval.low, interval.high) if interval else (None, None)
        yield *names, average, measure, getattr(scores, measure), *ends, *counts


def _average(scores: Micro | Macro) -> tuple[str, Sequence[Value]]:
    if isinstance(scores, Micro):
        return "micro", (scores.correct, scores.predicted, scores.gold)
    return f"macro over {scores.over}", (None, None, None)


def _ranking(ranking: Ranking) -> Mapping[str, Value]:
    found: dict[str, Value] = {
        "accuracy_in_kb": ranking.accuracy_in_kb,
        "accuracy": ranking.accuracy,
        "accuracy_typed_nil": ranking.accuracy_typed_nil,
        **{f"recall@{k}": share for k, share in ranking.recall_at.items()},
        **{f"accuracy@{k}": share for k, share in ranking.accuracy_at.items()},
    }
    if ranking.mrr is not None:
        found["mrr"] = ranking.mrr
    if (blink := ranking.blink) is not None:
        found |= {
            "blink_retriever_accuracy": blink.retriever_accuracy,
            f"blink_recall@{blink.k}": blink.recall,
            "blink_normalised": blink.normalised,
            "blink_unnormalised": blink.unnormalised,
        }
    return found


def _slices(run: Run) -> Iterator[Sequence[Value]]:
    for one in run.evaluation.slices:
        ends = (one.intervals.recall.low, one.intervals.recall.high) if one.intervals else (None, None)
        facts = (one.slice, one.value, one.gold, one.documents, one.md_recall, one.el_recall)
        yield run.name, *facts, *ends, one.precision, one.f1, one.candidate_recall


def _blame(run: Run) -> Iterator[Sequence[Value]]:
    """Misses as shares of gold, wrong answers as shares of the wrong ones, and ceilings."""
    blame = run.evaluation.blame
    for cause, part in shares_of(blame, blame.misses).items():
        yield run.name, "miss", STAGE_OF.get(cause, ""), cause, part.number, part.share
    total = sum(blame.wrong.values())
    for reason, count in blame.wrong.items():
        yield run.name, "wrong", "", reason, count, count / total
    for stage in CEILINGS:
        yield run.name, "ceiling", stage, "", None, getattr(blame.ceilings, stage)


def _differences(pairs: Iterable[Paired]) -> Iterator[Sequence[Value]]:
    for pair in pairs:
        if pair.comparison is None:
            continue
        for task, found in pair.comparison.tasks.items():
            for one in found:
                ends = (one.interval.low, one.interval.high)
                yield pair.first.name, pair.other.name, task, one.measure, one.a, one.b, one.difference, *ends, one.p
