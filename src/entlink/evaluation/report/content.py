"""All that a report says, before it is written as a page, as LaTeX or as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from entlink.evaluation.report import loss_tables, score_tables
from entlink.evaluation.report.differences import Paired, against_first
from entlink.evaluation.report.loss_tables import Slices
from entlink.evaluation.report.runs import Run, named_runs, why_apart
from entlink.evaluation.report.table import Table
from entlink.evaluation.results import Evaluation
from entlink.io.progress import Progress


class Report(NamedTuple):
    """The runs, how they differ, and the tables by name. `apart` says why the runs cannot be compared."""

    title: str
    command: str
    runs: list[Run]
    apart: list[str]
    pairs: list[Paired]
    slices: Slices
    tables: Mapping[str, Table]

    @property
    def first(self) -> Evaluation:
        return self.runs[0].evaluation


def gather(
    evaluations: Sequence[Evaluation], *, title: str | None, command: str, progress: Progress | None = None
) -> Report:
    """What is to be said of the evaluations."""
    runs = named_runs(evaluations)
    apart, pairs, slices = why_apart(runs), against_first(runs, progress), Slices(runs)
    tables = {table.name: table for table in _tables(runs, pairs, slices, is_comparable=not apart) if table}
    return Report(title or _title(runs), command, runs, apart, pairs, slices, tables)


def _tables(
    runs: Sequence[Run], pairs: Sequence[Paired], slices: Slices, *, is_comparable: bool
) -> list[Table | None]:
    return [
        score_tables.scores_table(runs, is_comparable=is_comparable),
        score_tables.conventions_table(runs, is_comparable=is_comparable),
        score_tables.nil_table(runs),
        score_tables.nil_types_table(runs),
        score_tables.accuracy_table(runs),
        score_tables.candidates_table(runs),
        score_tables.ranking_table(runs),
        score_tables.differences_table(pairs),
        loss_tables.recall_table(slices),
        *(loss_tables.slice_table(slices, name) for name in slices.values),
        loss_tables.causes_table(runs),
        loss_tables.ceilings_table(runs),
        loss_tables.wrong_table(runs),
        loss_tables.saliency_table(runs),
        loss_tables.coverage_table(runs),
        loss_tables.leakage_table(runs),
    ]


def _title(runs: Sequence[Run]) -> str:
    what = runs[0].name if len(runs) == 1 else f"{len(runs)} runs"
    golds = {run.evaluation.gold.name for run in runs if run.evaluation.gold}
    return f"{what} on {golds.pop()}" if len(golds) == 1 else f"Evaluation of {what}"
