"""Tables of what was lost: slices, causes of misses, ceilings, wrong answers, coverage, leaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from entlink.evaluation.report.runs import Run
from entlink.evaluation.report.score_tables import by_run, head, micro_scores, score
from entlink.evaluation.report.table import Amount, Cell, Group, Part, Row, Table, without_empty
from entlink.evaluation.results import Blame, Slice
from entlink.evaluation.scoring.blame import STAGE_OF

CEILINGS = ("coverage", "detection", "candidates", "ranking", "final")
# In the order of the pipeline, which is also the order of their colours.
STAGES = tuple(dict.fromkeys(STAGE_OF.values()))


class Slices:
    """The slices of all runs, by run, name and value."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs
        self._found = {(run.name, one.slice, one.value): one for run in runs for one in run.evaluation.slices}
        self.values: dict[str, list[str]] = {}
        for _, name, value in self._found:
            known = self.values.setdefault(name, [])
            if value not in known:
                known.append(value)

    def of(self, run: Run, name: str, value: str) -> Slice | None:
        """A value of a slice, if the run has it."""
        return self._found.get((run.name, name, value))


def slice_table(slices: Slices, name: str) -> Table:
    """All that is known of a slice's values; columns that are empty throughout are left out."""

    def cells(value: str) -> Callable[[Run], list[Cell] | None]:
        def row(run: Run) -> list[Cell] | None:
            one = slices.of(run, name, value)
            return None if one is None else _slice_cells(one)

        return row

    groups = by_run(slices.runs, {value: cells(value) for value in slices.values[name]})
    columns = ("gold", "documents", "MD recall", "EL recall", "EL precision", "EL F1", "candidates' recall")
    return without_empty(Table(f"slice-{name}", f"Slice: {name}", (head(slices.runs, "value"), *columns), groups))


def _slice_cells(one: Slice) -> list[Cell]:
    intervals = one.intervals
    precision = None if one.precision is None else score(one.precision, intervals, "precision")
    f1 = None if one.f1 is None else score(one.f1, intervals, "f1")
    recall = score(one.el_recall, intervals, "recall")
    return [one.gold, one.documents, one.md_recall, recall, precision, f1, one.candidate_recall]


def recall_table(slices: Slices) -> Table | None:
    """Recall by every slice, a column a run: what the heat map shows. Of one run, all that is a recall."""
    if not slices.values:
        return None
    names = [run.label for run in slices.runs]
    groups = [
        Group(name, [_recall_row(slices, name, value) for value in slices.values[name]]) for name in slices.values
    ]
    if len(names) > 1:
        return Table("recall", "EL recall by slice", ("value", "gold", *names), groups)
    return without_empty(Table("recall", "Recall by slice", ("value", "gold", "MD", "candidates", "EL"), groups))


def _recall_row(slices: Slices, name: str, value: str) -> Row:
    found = [slices.of(run, name, value) for run in slices.runs]
    gold = max(one.gold for one in found if one is not None)
    return (value, gold, *(_recalls(found[0]) if len(found) == 1 else (one and one.el_recall for one in found)))


def _recalls(one: Slice | None) -> Row:
    return () if one is None else (one.md_recall, one.candidate_recall, one.el_recall)


def shares_of(blame: Blame, counts: Mapping[str, int]) -> dict[str, Part]:
    """Counts of misses with their share of all gold, which the final ceiling tells."""
    lost, total = 1.0 - blame.ceilings.final, sum(blame.misses.values())
    return {name: Part(count, lost * count / total if total else 0.0) for name, count in counts.items()}


def _matrix(
    runs: Sequence[Run],
    first: tuple[str, ...],
    names: Mapping[str, tuple[str, ...]],
    counts: Sequence[Mapping[str, Part]],
) -> tuple[tuple[str, ...], list[Group]]:
    """A row for each name that any run counts, a column a run."""
    rows: list[Row] = [
        (name, *facts, *(one.get(name, Part(0, 0.0)) for one in counts))
        for name, facts in names.items()
        if any(name in one for one in counts)
    ]
    return (*first, *(run.label for run in runs)), [Group("", rows)]


def causes_table(runs: Sequence[Run]) -> Table | None:
    """Misses by cause, with the stage that each is laid to."""
    counts = [shares_of(run.evaluation.blame, run.evaluation.blame.misses) for run in runs]
    if not any(counts):
        return None
    known = dict.fromkeys([*STAGE_OF, *(cause for one in counts for cause in one)])
    names = {cause: (STAGE_OF.get(cause, ""),) for cause in known}
    columns, groups = _matrix(runs, ("cause", "stage"), names, counts)
    return Table("causes", "Misses by cause", columns, groups)


def wrong_table(runs: Sequence[Run]) -> Table | None:
    """Wrong answers by reason, with their share of all wrong ones."""
    counts = []
    for run in runs:
        wrong = run.evaluation.blame.wrong
        total = sum(wrong.values())
        counts.append({reason: Part(count, count / total if total else 0.0) for reason, count in wrong.items()})
    if not any(counts):
        return None
    names: dict[str, tuple[str, ...]] = {reason: () for one in counts for reason in one}
    columns, groups = _matrix(runs, ("reason",), names, counts)
    return Table("wrong", "Wrong answers by reason", columns, groups)


def ceilings_table(runs: Sequence[Run]) -> Table:
    """What recall would be if every later stage were perfect."""
    rows: list[Row] = [
        (run.label, *(getattr(run.evaluation.blame.ceilings, stage) for stage in CEILINGS)) for run in runs
    ]
    return Table("ceilings", "Ceilings", ("run", *CEILINGS), [Group("", rows)])


def saliency_table(runs: Sequence[Run]) -> Table:
    """How much is predicted against how much there is."""
    rows: list[Row] = [
        (
            run.label,
            Amount(one.predicted_per_document),
            Amount(one.gold_per_document),
            None if one.ratio is None else Amount(one.ratio),
            one.outside,
        )
        for run in runs
        for one in (run.evaluation.saliency,)
    ]
    columns = ("run", "predicted", "gold", "predicted ÷ gold", "left out")
    return Table("spans", "Spans a document", columns, [Group("", rows)], (("", 1), ("spans a document", 2), ("", 2)))


def coverage_table(runs: Sequence[Run]) -> Table | None:
    """How much of the gold the knowledge base knows, and EL over that part."""
    rows: list[Row] = [
        (
            run.label,
            one.kb,
            one.links,
            Part(one.covered_links, one.covered_links / one.links if one.links else 0.0),
            one.entities,
            Part(one.covered_entities, one.covered_entities / one.entities if one.entities else 0.0),
            *micro_scores(one.el),
        )
        for run in runs
        if (one := run.evaluation.coverage) is not None
    ]
    if not rows:
        return None
    columns = ("run", "knowledge base", "links", "known", "entities", "known", "precision", "recall", "F1")
    bands = (("", 2), ("gold links", 2), ("gold entities", 2), ("EL over the known part", 3))
    return Table("coverage", "Coverage of the gold", columns, [Group("", rows)], bands)


def leakage_table(runs: Sequence[Run]) -> Table | None:
    """What the test shares with training data and the knowledge base."""
    rows: list[Row] = [
        (
            run.label,
            one.documents,
            one.same_ids,
            one.same_texts,
            one.with_passages_of_training,
            one.with_passages_of_kb,
            one.answers,
        )
        for run in runs
        if (one := run.evaluation.leakage) is not None
    ]
    if not rows:
        return None
    columns = ("run", "documents", "same id", "same text", "training", "knowledge base", "answers seen in training")
    bands = (("", 2), ("in training too", 2), ("share a passage with", 2), ("", 1))
    return Table("leakage", "Leaks", columns, [Group("", rows)], bands)
