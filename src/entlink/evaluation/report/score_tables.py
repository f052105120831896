"""Tables of scores: the tasks, conventions side by side, NIL, accuracy, candidates, differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from entlink.evaluation.intervals.resampling import MEASURES, Intervals
from entlink.evaluation.report.differences import Paired
from entlink.evaluation.report.runs import Run
from entlink.evaluation.report.table import Cell, Chance, Gap, Group, Row, Score, Table, marked
from entlink.evaluation.results import Micro, Task

TASKS: Mapping[str, str] = {
    "md": "MD: mentions",
    "md_linked": "MD: mentions with an entity",
    "ed": "ED: entities of a document or turn",
    "el": "EL: mentions with the right entity",
}
_SCORES = ("precision", "recall", "F1")
_COUNTS = ("correct", "predicted", "gold")


def score(value: float, intervals: Intervals | None, measure: str) -> Score:
    """A score with the interval of its measure."""
    return Score(value, getattr(intervals, measure) if intervals else None)


def micro_scores(micro: Micro) -> list[Score]:
    """Precision, recall and F1."""
    return [score(getattr(micro, measure), micro.intervals, measure) for measure in MEASURES]


def by_run(
    runs: Sequence[Run],
    parts: Mapping[str, Callable[[Run], Sequence[Cell] | None]],
    *,
    is_comparable: bool = False,
) -> list[Group]:
    """A group for each part with a row a run; of one run, a row for each part. What a run lacks is left out."""
    groups = []
    for title, cells in parts.items():
        rows = [(run.label, list(found)) for run in runs if (found := cells(run)) is not None]
        if is_comparable:
            _mark(rows)
        groups.append(Group(title, [(name, *found) for name, found in rows]))
    groups = [group for group in groups if group.rows]
    if len(runs) > 1:
        return groups
    return [Group("", [(group.title, *row[1:]) for group in groups for row in group.rows])]


def _mark(rows: list[tuple[str, list[Cell]]]) -> None:
    """Mark the best score of each column."""
    for place in range(len(rows[0][1]) if rows else 0):
        column = [cells[place] for _, cells in rows]
        scores = [cell for cell in column if isinstance(cell, Score)]
        if len(scores) == len(column):
            for (_, cells), best in zip(rows, marked(scores), strict=True):
                cells[place] = best


def head(runs: Sequence[Run], part: str) -> str:
    """The heading of the first column of what `by_run` makes: of one run, what its rows are."""
    return "run" if len(runs) > 1 else part


def scores_table(runs: Sequence[Run], *, is_comparable: bool) -> Table:
    """Every task, micro and macro."""

    def cells(name: str) -> Callable[[Run], list[Cell]]:
        return lambda run: _task_cells(run.evaluation.task(name))

    groups = by_run(
        runs, {title: cells(name) for name, title in TASKS.items()}, is_comparable=is_comparable and len(runs) > 1
    )
    return Table(
        "scores",
        "All tasks",
        (head(runs, "task"), *_SCORES, "F1", *_COUNTS),
        groups,
        (("", 1), ("micro", 3), (_macro_name(runs), 1), ("counts", 3)),
    )


def _task_cells(task: Task) -> list[Cell]:
    macro = score(task.macro.f1, task.macro.intervals, "f1")
    return [*micro_scores(task.micro), macro, *_counts(task.micro)]


def _counts(micro: Micro) -> list[int]:
    return [micro.correct, micro.predicted, micro.gold]


def _macro_name(runs: Sequence[Run]) -> str:
    """What macro scores are means over, where all runs agree."""
    names = {(run.evaluation.el.macro.over, run.evaluation.el.macro.groups) for run in runs}
    if len(names) > 1:
        return "macro"
    ((over, groups),) = names
    return f"macro by {over} ({groups:,})"


def conventions_table(runs: Sequence[Run], *, is_comparable: bool) -> Table | None:
    """ED and EL by each convention."""
    names = dict.fromkeys(name for run in runs for name in run.evaluation.conventions)
    if not names:
        return None

    def cells(name: str) -> Callable[[Run], list[Cell] | None]:
        def found(run: Run) -> list[Cell] | None:
            tasks = run.evaluation.conventions.get(name)
            return None if tasks is None else [*micro_scores(tasks["ed"].micro), *micro_scores(tasks["el"].micro)]

        return found

    groups = by_run(runs, {name: cells(name) for name in names}, is_comparable=is_comparable and len(runs) > 1)
    columns = (head(runs, "convention"), *_SCORES, *_SCORES)
    bands = (("", 1), ("ED, micro", 3), ("EL, micro", 3))
    return Table("conventions", "ED and EL by convention", columns, groups, bands)


def nil_table(runs: Sequence[Run]) -> Table | None:
    """How well NIL is said; nothing where nobody says it and it is nowhere gold."""
    if not any(run.evaluation.nil.gold or run.evaluation.nil.predicted for run in runs):
        return None
    parts: dict[str, Callable[[Run], list[Cell]]] = {
        "NIL": lambda run: _nil_cells(run.evaluation.nil),
        "NIL of the right type": lambda run: _nil_cells(run.evaluation.nil_typed),
    }
    groups = by_run(runs, parts)
    return Table("nil", "NIL", (head(runs, "answer"), *_SCORES, *_COUNTS), groups)


def nil_types_table(runs: Sequence[Run]) -> Table | None:
    """What was said of NIL gold, by its type: the right type, another one, an entity, or nothing."""
    by_type = [run.evaluation.nil_types for run in runs]
    said = dict.fromkeys(answer for types in by_type for row in types.values() for answer in row)
    if not said:
        return None
    groups = [
        Group(run.label if len(runs) > 1 else "", [(wanted, *map(row.get, said)) for wanted, row in types.items()])
        for run, types in zip(runs, by_type, strict=True)
    ]
    return Table("nil types", "What was said of NIL, by gold's type", ("gold", *said), groups)


def _nil_cells(micro: Micro) -> list[Cell]:
    """Nothing asked and nothing answered is no score to show."""
    scores = micro_scores(micro) if micro.gold or micro.predicted else [None] * len(_SCORES)
    return [*scores, *_counts(micro)]


def accuracy_table(runs: Sequence[Run]) -> Table:
    """Accuracy over gold mentions."""
    rows: list[Row] = [
        (run.label, one.accuracy_in_kb, one.accuracy, one.accuracy_typed_nil, one.in_kb, one.mentions)
        for run in runs
        for one in (run.evaluation.ranking,)
    ]
    columns = ("run", "of entities", "with NIL", "with NIL of the right type", "entities", "gold mentions")
    return Table(
        "accuracy",
        "Accuracy over gold mentions",
        columns,
        [Group("", rows)],
        (("", 1), ("accuracy", 3), ("counts", 2)),
    )


def candidates_table(runs: Sequence[Run]) -> Table | None:
    """Recall and accuracy among the first K candidates."""
    places = sorted({k for run in runs for k in run.evaluation.ranking.recall_at})
    if not places:
        return None

    def at(shares: Mapping[int, float]) -> list[Cell] | None:
        return [shares.get(k) for k in places] if shares else None

    parts: dict[str, Callable[[Run], list[Cell] | None]] = {
        "recall@K": lambda run: at(run.evaluation.ranking.recall_at),
        "accuracy@K": lambda run: at(run.evaluation.ranking.accuracy_at),
    }
    groups = by_run(runs, parts)
    columns = (head(runs, "measure"), *map(str, places))
    return Table("candidates", "Candidates: among the first K", columns, groups, (("", 1), ("K", len(places))))


def ranking_table(runs: Sequence[Run]) -> Table | None:
    """MRR, and the four columns of BLINK's tables."""
    rows: list[Row] = []
    for run in runs:
        if (blink := run.evaluation.ranking.blink) is not None:
            shares = (blink.retriever_accuracy, blink.recall, blink.normalised, blink.unnormalised)
            rows.append((run.label, run.evaluation.ranking.mrr, *shares, blink.k, blink.mentions))
    if not rows:
        return None
    columns = ("run", "MRR", "retriever accuracy", "recall@K", "normalised", "unnormalised", "K", "entities")
    bands = (("", 2), ("as in BLINK's tables", 4), ("", 2))
    return Table("ranking", "Ranking", columns, [Group("", rows)], bands)


def differences_table(pairs: Sequence[Paired]) -> Table | None:
    """Each run against the first, task by task."""
    found = [pair for pair in pairs if pair.comparison is not None]
    if not found:
        return None
    groups = [Group(title, list(_difference_rows(found, name))) for name, title in TASKS.items()]
    columns = ("run", *(word for _ in MEASURES for word in ("difference", "p")), "better", "worse", "equal")
    bands = (("", 1), *((name, 2) for name in _SCORES), ("documents", 3))
    return Table("differences", f"Differences from {found[0].first.label}", columns, groups, bands)


def _difference_rows(pairs: Iterable[Paired], task: str) -> Iterable[Row]:
    for pair in pairs:
        if pair.comparison is not None:
            cells: list[Cell] = []
            for one in pair.comparison.tasks[task]:
                cells += [Gap(one.difference, one.interval), Chance(one.p)]
            balance = pair.comparison.balance[task]
            yield pair.other.label, *cells, balance.b_better, balance.a_better, balance.equal
