"""The study of time as tables for people, and as figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import TypeAlias

from entlink.datasets.temporal.rows import snapshot_folder
from entlink.evaluation.published import PublishedFigure
from entlink.evaluation.report.table import Amount, Cell, Gap, Group, Row, Score, Shade, Table, signed, words
from entlink.studies.time.categories import CONTINUAL, NEW
from entlink.studies.time.results import DROP, IN, OUT, UNTRAINED, Emerging, Estimate, MatrixRow, Mean, TimeStudy
from entlink.studies.writing import PUBLISHED, Line, table_of

OTHER_DATA = "published: TempEL, BERT-large, among all of Wikipedia"
MENTIONS = "mentions"
ADDED, REBUILT = "added", "rebuilt"
_SYSTEM, _DONE = "system", "what was done"
_ACCURACY = "accuracy@"
Matrix: TypeAlias = dict[str, dict[str, float]]  # by the snapshot trained on, and the one asked about


def time_tables(study: TimeStudy) -> list[Table]:
    """For a terminal: the smallest and the largest K only; the page and the figures have all."""
    ks = study.options.ks
    ends = tuple(dict.fromkeys((ks[0], ks[-1])))
    matrices = [matrix_table(study, k, entities) for k in ends for entities in (CONTINUAL, NEW)]
    return [
        snapshots_table(study),
        *(one for one in matrices if one.rows),
        _means_in_words(study, ends),
        *([_emerging_in_words(study, ends)] if study.emerging else []),
    ]


def all_tables(study: TimeStudy) -> list[Table]:
    """Every table that is ours."""
    matrices = [matrix_table(study, k, entities) for k in study.options.ks for entities in (CONTINUAL, NEW)]
    return [one for one in (snapshots_table(study), means_table(study), *matrices, emerging_table(study)) if one.rows]


def snapshots_table(study: TimeStudy) -> Table:
    """What is asked, and what was trained."""
    trained = {one.date: one for one in study.trainings}
    rows: list[Row] = []
    for one in study.snapshots:
        made = trained.get(one.date)
        steps = (made.steps, made.best, round(made.seconds)) if made else (None, None, None)
        rows.append(
            (label(one.date), one.entities, one.train, one.validation, one.continual, one.new, one.missing, *steps)
        )
    columns = ("snapshot", "entities", "train", "validation", "test: continual", "new", "without their target")
    more = ("steps", "right, held out", "seconds")
    return table_of("snapshots", "Snapshots, and the training on each", (*columns, *more), Group("", rows))


def label(date: str) -> str:
    """A snapshot as tables call it."""
    return snapshot_folder(date)


# Train and test


def matrix_table(study: TimeStudy, k: int, entities: str) -> Table:
    """Accuracy@K on each snapshot, by the snapshot trained on: coloured against that one; no row without mentions."""
    dates = [one.date for one in study.snapshots]
    rows = [one for one in study.rows if one.entities == entities and any(cell.mentions for cell in one.cells)]
    ours: list[Row] = [_matrix_row(one, k) for one in rows if one.train is not None]
    others: list[Row] = [(one.system, *_values(one, k)) for one in rows if one.train is None]
    asked = next(([cell.mentions for cell in one.cells] for one in rows), [])
    groups = [
        Group("bi-encoder, by the snapshot it was trained on", ours),
        Group("not trained on a snapshot", others),
        Group("", [(MENTIONS, *asked)] if asked else []),
    ]
    title = f"Accuracy@{k} on {entities} entities"
    return table_of(f"accuracy@{k} {entities}", title, ("trained on \\ asked about", *map(label, dates)), *groups)


def _values(row: MatrixRow, k: int) -> list[float | None]:
    return [cell.accuracy_at[k] if cell.accuracy_at else None for cell in row.cells]


def _matrix_row(row: MatrixRow, k: int) -> Row:
    values = _values(row, k)
    own = next((value for cell, value in zip(row.cells, values, strict=True) if cell.test == row.train), None)
    return (label(row.train or ""), *shaded(values, own))


def shaded(values: Sequence[float | None], own: float | None) -> list[Cell]:
    """A row against one of its own values: the farthest from it has the full colour, as in the paper."""
    if own is None:
        return list(values)
    most = max((abs(value - own) for value in values if value is not None), default=0.0)
    return [value if value is None else Shade(value, (value - own) / most if most else 0.0) for value in values]


def published_matrix(study: TimeStudy, k: int, entities: str) -> Table | None:
    """The table of the paper, coloured the same way; None where the paper has no such K."""
    found = matrix_of(study.published, k, entities)
    if not found:
        return None
    tests = list(dict.fromkeys(test for row in found.values() for test in row))
    rows: list[Row] = [
        (train, *shaded([row.get(test) for test in tests], row.get(train))) for train, row in found.items()
    ]
    number = next(one.table for one in study.published if one.where.get("metric") == f"{_ACCURACY}{k}")
    title = f"Table {number} of the paper: accuracy@{k} on {entities} entities"
    return table_of(f"published {k} {entities}", title, ("trained on \\ asked about", *tests), Group("", rows))


def matrix_of(figures: Iterable[PublishedFigure], k: int, entities: str) -> Matrix:
    """The published accuracies of a K, those that can be read."""
    found: Matrix = {}
    for one in figures:
        if one.where.get("metric") == f"{_ACCURACY}{k}" and one.where.get("entities") == entities:
            found.setdefault(one.where["train"], {})[one.where["test"]] = one.value
    return found


def published_means(figures: Sequence[PublishedFigure], k: int, entities: str) -> tuple[float, float] | None:
    """The published accuracy in and out of snapshot: means over the cells on and off the diagonal."""
    matrix = matrix_of(figures, k, entities)
    inside = [row[train] for train, row in matrix.items() if train in row]
    outside = [value for train, row in matrix.items() for test, value in row.items() if test != train]
    return (fsum(inside) / len(inside), fsum(outside) / len(outside)) if inside and outside else None


# Means


def means_table(study: TimeStudy) -> Table:
    """Means in and out of snapshot by category, with intervals; and how far apart they are."""
    groups = [
        Group(group_title(means), [(_name(one), *_mean_cells(one)) for one in means]) for means in _by_category(study)
    ]
    columns = (_SYSTEM, *(f"@{k}" for k in study.options.ks))
    return table_of("means", _means_title(study), columns, *groups, Group(OTHER_DATA, list(_published_rows(study))))


def _by_category(study: TimeStudy) -> Iterator[list[Mean]]:
    for category in study.categories:
        means = [one for one in study.means if one.category == category]
        if means:
            yield means


def group_title(means: Sequence[Mean]) -> str:
    """What the means of a category are over."""
    one = means[0]
    return f"{one.category}: {_number(one.mentions, 'mention')} of {_number(one.targets, 'target')}"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _name(one: Mean) -> str:
    return one.system if one.setting == UNTRAINED else f"{one.system}, {one.setting}"


def _means_title(study: TimeStudy) -> str:
    return f"Mean accuracy@K{_level(study)}"


def _level(study: TimeStudy) -> str:
    return f", with {study.options.level:.0%} intervals over targets" if study.options.rounds else ""


def _mean_cells(one: Mean) -> list[Cell]:
    kind = Gap if one.setting == DROP else Score
    return [kind(at.value, at.interval) for at in one.at.values()]


def _published_rows(study: TimeStudy) -> Iterator[Row]:
    for entities in (CONTINUAL, NEW):
        means = [published_means(study.published, k, entities) for k in study.options.ks]
        for place, setting in enumerate((IN, OUT)):
            if any(means):
                yield (f"{entities}, {setting}", *(None if one is None else one[place] for one in means))


def _means_in_words(study: TimeStudy, ks: Sequence[int]) -> Table:
    groups = [
        Group(
            group_title(means),
            [(_name(one), *(estimate_words(one.at[k], has_sign=one.setting == DROP) for k in ks)) for one in means],
        )
        for means in _by_category(study)
    ]
    places = [1 + study.options.ks.index(k) for k in ks]
    beside: list[Row] = [(row[0], *(words(row[place])[0] for place in places)) for row in _published_rows(study)]
    columns = (_SYSTEM, *(f"accuracy@{k}" for k in ks))
    return table_of("means", _means_title(study), columns, *groups, Group(OTHER_DATA, beside))


def estimate_words(one: Estimate, *, has_sign: bool = False) -> str:
    """A value with its interval and its p, if it has them."""
    written = signed(one.value) if has_sign else f"{one.value:.3f}"
    if one.interval is not None:
        low, high = one.interval.low, one.interval.high
        written += f" ({signed(low)} to {signed(high)})" if has_sign else f" ({low:.3f}–{high:.3f})"
    return written if one.p is None else f"{written}, p {one.p:.3f}"


# New entities in use


def emerging_table(study: TimeStudy) -> Table:
    """New entities added to what was there before, and all built and trained anew."""
    columns = (_DONE, "seconds", *(f"@{k}" for k in study.options.ks))
    groups = [Group(_emerging_group(one), list(_emerging_rows(one, study.options.ks))) for one in study.emerging]
    return table_of("emerging", _emerging_title(study), columns, *groups)


def _emerging_title(study: TimeStudy) -> str:
    return f"Accuracy@K on new entities: added to what was there, or all built anew{_level(study)}"


def _emerging_group(one: Emerging) -> str:
    return (
        f"{one.system}, {label(one.later)} after {label(one.earlier)}: {one.entities_added:,} new entities, "
        f"{_number(one.mentions, 'mention')} of {_number(one.targets, 'target')}"
    )


def _emerging_rows(one: Emerging, ks: Sequence[int]) -> Iterator[Row]:
    for what, seconds, at in _ways(one):
        yield (what, Amount(seconds), *(Score(at[k].value, at[k].interval) for k in ks))
    yield (DROP, None, *(Gap(one.difference[k].value, one.difference[k].interval) for k in ks))


def _ways(one: Emerging) -> tuple[tuple[str, float, dict[int, Estimate]], ...]:
    return (ADDED, one.seconds_to_add, one.added), (REBUILT, one.seconds_to_rebuild, one.rebuilt)


def _emerging_in_words(study: TimeStudy, ks: Sequence[int]) -> Table:
    groups = []
    for one in study.emerging:
        rows: list[Row] = [
            (what, f"{seconds:,.1f}", *(estimate_words(at[k]) for k in ks)) for what, seconds, at in _ways(one)
        ]
        rows.append((DROP, "", *(estimate_words(one.difference[k], has_sign=True) for k in ks)))
        groups.append(Group(_emerging_group(one), rows))
    columns = (_DONE, "seconds", *(f"accuracy@{k}" for k in ks))
    return table_of("emerging", _emerging_title(study), columns, *groups)


# Figures


def time_lines(study: TimeStudy) -> Iterator[Line]:
    """Every figure of the study, and those published."""
    for row in study.rows:
        system = row.system if row.train is None else f"{row.system} trained on {label(row.train)}"
        for cell in row.cells:
            part = f"{row.entities} {label(cell.test)}"
            yield Line("matrix", system, part, MENTIONS, cell.mentions)
            for k, value in (cell.accuracy_at or {}).items():
                yield Line("matrix", system, part, f"{_ACCURACY}{k}", value)
    for one in study.means:
        part = f"{one.category}, {one.setting}"
        yield Line("means", one.system, part, MENTIONS, one.mentions)
        yield Line("means", one.system, part, "targets", one.targets)
        yield from _estimates("means", one.system, part, one.at)
    for each in study.emerging:
        part = f"new {label(each.later)} after {label(each.earlier)}"
        yield Line("emerging", each.system, part, MENTIONS, each.mentions)
        yield Line("emerging", each.system, part, "entities added", each.entities_added)
        yield Line("emerging", each.system, f"{part}, added", "seconds", each.seconds_to_add)
        yield Line("emerging", each.system, f"{part}, rebuilt", "seconds", each.seconds_to_rebuild)
        for what, at in (("added", each.added), ("rebuilt", each.rebuilt), (DROP, each.difference)):
            yield from _estimates("emerging", each.system, f"{part}, {what}", at)
    for figure in study.published:
        where = figure.where
        part = f"{where.get('entities')} {where.get('test')}"
        system = f"{figure.system} trained on {where.get('train')}"
        yield Line(f"table {figure.table}", system, part, where.get("metric", ""), figure.value, PUBLISHED)


def _estimates(table: str, system: str, part: str, at: Mapping[int, Estimate]) -> Iterator[Line]:
    for k, one in at.items():
        yield Line(table, system, part, f"{_ACCURACY}{k}", one.value)
        if one.interval is not None:
            yield Line(table, system, part, f"{_ACCURACY}{k} low", one.interval.low)
            yield Line(table, system, part, f"{_ACCURACY}{k} high", one.interval.high)
        if one.p is not None:
            yield Line(table, system, part, f"{_ACCURACY}{k} p", one.p)
