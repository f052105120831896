"""The study of an unfamiliar knowledge base as tables for people, and as figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from entlink.evaluation.published import PublishedFigure
from entlink.evaluation.report.table import Cell, Group, Row, Table
from entlink.evaluation.results import Macro, Micro
from entlink.evaluation.scoring.ranking import BlinkColumns
from entlink.studies.systems import K
from entlink.studies.unfamiliar.results import TASKS, SystemScores, UnfamiliarStudy
from entlink.studies.writing import PUBLISHED, Line, table_of

OTHER_DATA = "published: other data, Fandom as the knowledge base"
MEASURES = ("precision", "recall", "f1")
BLINK = ("retriever accuracy", f"R@{K}", "normalised accuracy", "overall accuracy")
# What the published table 5 calls the same columns.
_BLINK_PUBLISHED = ("biencoder accuracy", "recall@64", "crossencoder normalised accuracy", "overall accuracy")


def unfamiliar_tables(study: UnfamiliarStudy) -> list[Table]:
    """The domains; given spans (the paper's table 3); end to end (2); retrieval and ranking (5); gold outside."""
    return [_domains(study), _given(study), _end_to_end(study), _blink(study), _outside(study)]


def _domains(study: UnfamiliarStudy) -> Table:
    columns = ("domain", "entities", "documents", "gold", "in the domain", "in others", "not in the KB", "NIL")
    rows: list[Row] = [
        (one.name, one.entities, one.documents, one.gold, one.inside, one.elsewhere, one.unknown, one.nil)
        for one in study.domains
    ]
    return table_of("domains", "Domains, and where the gold of their documents is", columns, Group("", rows))


def _given(study: UnfamiliarStudy) -> Table:
    columns = ("system", "data", "accuracy micro", "macro", "precision micro", "macro")
    rows: list[Row] = [(one.name, "this", *_given_cells(one)) for one in study.systems]
    title = "Disambiguation given the gold spans (table 3 of the paper)"
    figures = [one for one in study.published if one.table == "3"]
    beside: list[Row] = [
        (
            system,
            data,
            None,
            None,
            *(published_value(figures, system, dataset=data, average=each) for each in ("micro", "macro")),
        )
        for system, data in dict.fromkeys((one.system, one.where["dataset"]) for one in figures)
    ]
    return table_of("given spans", title, columns, Group("", rows), Group(OTHER_DATA, beside))


def _given_cells(system: SystemScores) -> tuple[Cell, ...]:
    if system.given is None:
        return (None,) * 4
    micro, macro = system.given.micro, system.given.macro
    return micro.recall, macro.recall, micro.precision, macro.precision


def _end_to_end(study: UnfamiliarStudy) -> Table:
    columns = (
        "system",
        "data",
        "average",
        *(f"{task.upper()} {measure}" for task in TASKS for measure in ("P", "R", "F1")),
    )
    rows = [
        (system.name, "this", average, *_task_cells(system, average))
        for system in study.systems
        if system.end_to_end is not None
        for average in ("micro", "macro")
    ]
    figures = [one for one in study.published if one.table == "2"]
    keys = dict.fromkeys((one.system, one.where["dataset"], one.where["average"]) for one in figures)
    beside: list[Row] = [
        (
            *key,
            *(
                published_value(figures, key[0], dataset=key[1], average=key[2], task=task, metric=measure)
                for task in TASKS
                for measure in MEASURES
            ),
        )
        for key in sorted(keys)
    ]
    title = "End to end (table 2 of the paper)"
    return table_of("end to end", title, columns, Group("", rows), Group(OTHER_DATA, beside))


def _task_cells(system: SystemScores, average: str) -> Iterator[Cell]:
    for task in TASKS:
        for measure in MEASURES:
            scores: Micro | Macro = getattr((system.end_to_end or {})[task], average)
            yield getattr(scores, measure)


def _blink(study: UnfamiliarStudy) -> Table:
    columns = ("domain", *BLINK, "mentions")
    groups = [
        Group(
            system.name,
            [
                *((one.domain, *_columns(one.blink), one.blink.mentions) for one in system.domains),
                ("macro average", *_columns(system.blink), system.blink.mentions),
            ],
        )
        for system in study.systems
        if system.blink is not None
    ]
    figures = [one for one in study.published if one.table == "5"]
    beside: list[Row] = [
        (data, *(published_value(figures, "BLINK", dataset=data, metric=each) for each in _BLINK_PUBLISHED), None)
        for data in dict.fromkeys(one.where["dataset"] for one in figures)
    ]
    title = "Retrieval, and the ranker after it, in BLINK's columns (table 5 of the paper)"
    return table_of("retrieval and ranking", title, columns, *groups, Group(f"BLINK, {OTHER_DATA}", beside))


def _columns(blink: BlinkColumns) -> tuple[float, float, float, float]:
    return blink.retriever_accuracy, blink.recall, blink.normalised, blink.unnormalised


def _outside(study: UnfamiliarStudy) -> Table:
    columns = ("system", "gold", "linked given spans", "said NIL", "linked end to end")
    rows: list[Row] = [
        (
            one.name,
            one.outside.gold,
            one.outside.linked_given,
            one.outside.gold - one.outside.linked_given,
            one.outside.linked_end_to_end,
        )
        for one in study.systems
        if one.outside is not None
    ]
    title = "Gold outside of its document's domain: every entity there is an error"
    return table_of("outside", title, columns, Group("", rows))


def published_value(figures: Sequence[PublishedFigure], system: str, **where: str) -> float | None:
    """The published figure of a system there, if there is one."""
    found = (one.value for one in figures if one.system == system and where.items() <= one.where.items())
    return next(found, None)


def unfamiliar_lines(study: UnfamiliarStudy) -> Iterator[Line]:
    """Every figure of the study by system and domain, and those published."""
    for system in study.systems:
        yield from _averages(system)
        for one in system.domains:
            counts = one.given.counts
            yield Line("given spans", system.name, one.domain, "accuracy", counts.recall)
            yield Line("given spans", system.name, one.domain, "precision", counts.precision)
            yield Line("given spans", system.name, one.domain, "mentions", counts.gold)
            for task, ends in (one.end_to_end or {}).items():
                for measure, value in zip(MEASURES, ends.scores, strict=True):
                    yield Line("end to end", system.name, one.domain, f"{task} {measure}", value)
            yield from _blink_lines(system.name, one.domain, one.blink)
            yield Line("outside", system.name, one.domain, "gold", one.outside.gold)
            yield Line("outside", system.name, one.domain, "linked given spans", one.outside.linked_given)
            if one.outside.linked_end_to_end is not None:
                yield Line("outside", system.name, one.domain, "linked end to end", one.outside.linked_end_to_end)
    for figure in study.published:
        part = " ".join(value for key, value in figure.where.items() if key in ("dataset", "average"))
        measure = " ".join(value for key, value in figure.where.items() if key in ("task", "metric"))
        yield Line(f"table {figure.table}", figure.system, part, measure, figure.value, PUBLISHED)


def _averages(system: SystemScores) -> Iterator[Line]:
    if system.given is not None:
        for average, scores in (("micro", system.given.micro), ("macro", system.given.macro)):
            yield Line("given spans", system.name, average, "accuracy", scores.recall)
            yield Line("given spans", system.name, average, "precision", scores.precision)
    for task, found in (system.end_to_end or {}).items():
        for average, scores in (("micro", found.micro), ("macro", found.macro)):
            for measure in MEASURES:
                yield Line("end to end", system.name, average, f"{task} {measure}", getattr(scores, measure))
    if system.blink is not None:
        yield from _blink_lines(system.name, "macro", system.blink)


def _blink_lines(system: str, part: str, blink: BlinkColumns) -> Iterator[Line]:
    for name, value in zip(BLINK, _columns(blink), strict=True):
        yield Line("retrieval and ranking", system, part, name, value)
