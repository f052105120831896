"""The study of conversations as tables for people, and as figures."""

from __future__ import annotations

from collections.abc import Iterator

from entlink.evaluation.report.table import Cell, Group, Row, Score, Table, without_empty, words
from entlink.evaluation.results import Macro, Micro
from entlink.evaluation.scoring.blame import Cause
from entlink.evaluation.scoring.conventions import Matching
from entlink.studies.conversations.results import (
    MATCHINGS,
    TASKS,
    ConversationStudy,
    SetBlame,
    SetByDomain,
    SetScores,
    Which,
)
from entlink.studies.unfamiliar.results import TASKS as ENDS
from entlink.studies.unfamiliar.results import SystemScores
from entlink.studies.unfamiliar.tables import MEASURES, OTHER_DATA, published_value
from entlink.studies.writing import PUBLISHED, Line, table_of

WIKIPEDIA = "published, with all of Wikipedia as the knowledge base"
RESCORED = "runs of other systems, scored here"
WAYS = {Matching.STRICT: "strict spans", Matching.STRING: "strings of ConEL"}
GOLD: tuple[Which, ...] = ("all", "covered")
_SHORT = ("P", "R", "F1")
# What the table of losses calls the causes, in the order of the stages.
LOSSES = {
    Cause.COVERAGE: "not in the KB",
    Cause.DETECTION: "not found",
    Cause.BOUNDARIES: "other boundaries",
    Cause.CANDIDATES: "no candidate",
    Cause.RANKING: "ranked wrong",
    Cause.NIL: "NIL",
    Cause.UNKNOWN: "another entity",
    Cause.UNKNOWN_NIL: "NIL, no candidates told",
    Cause.NOT_NIL: "gold is NIL",
}


def conversation_tables(study: ConversationStudy) -> list[Table]:
    """The sets; table 4; all scores of each set; where its gold was lost; what was wrong; table 2 by domain."""
    tables = [_sets(study), _table_four(study)]
    for one in study.sets:
        tables += [_scores(study, one.name), _losses(study, one.name), _wrong(study, one.name)]
    return [*tables, *(_domains(study, one) for one in study.domains)]


def _sets(study: ConversationStudy) -> Table:
    columns = ("set", "conversations", "turns", "gold", "in the KB", "as strings", "in the KB", "NIL")
    rows: list[Row] = [
        (one.name, one.conversations, one.turns, one.gold, one.covered, one.strings, one.covered_strings, one.nil)
        for one in study.sets
    ]
    return table_of("sets", "Sets: the turns that count, and their gold", columns, Group("", rows))


def _table_four(study: ConversationStudy) -> Table:
    names = [one.name for one in study.sets]
    columns = ("system", *(f"{name} {task}" for name in names for task in ("MD", "EL")))
    figures = [one for one in study.published if one.table == "4"]
    beside: list[Row] = [
        (
            system,
            *(published_value(figures, system, dataset=name, task=task) for name in names for task in ("md", "el")),
        )
        for system in dict.fromkeys(one.system for one in figures)
    ]
    title = "F1 of MD and EL by the strings of ConEL, on all gold (table 4 of the paper)"
    return table_of("table 4", title, columns, *_grouped(study, names), Group(WIKIPEDIA, beside))


def _grouped(study: ConversationStudy, names: list[str]) -> Iterator[Group]:
    for kind, title in (("linker", ""), ("run", RESCORED)):
        rows: list[Row] = [
            (system, *(cell for name in names for cell in _two(study.result(system, name))))
            for system, own in study.systems
            if own == kind
        ]
        yield Group(title, rows)


def _two(result: SetScores | None) -> tuple[Cell, Cell]:
    found = None if result is None else result.scored(Matching.STRING, "all")
    return (None, None) if found is None else (found.md.f1, found.el.f1)


def _scores(study: ConversationStudy, name: str) -> Table:
    columns = (
        "system",
        *(f"MD {short}" for short in _SHORT),
        "interval",
        *(f"without NIL {short}" for short in _SHORT),
        *(f"EL {short}" for short in _SHORT),
        "interval",
    )
    groups = [
        Group(
            f"{way}, {gold} gold",
            [row for one in study.results if one.set == name for row in _score_row(one, matching, gold)],
        )
        for matching, way in WAYS.items()
        for gold in GOLD
    ]
    level = f"{100 * study.options.level:g} % of {study.options.rounds:,} resamples of conversations"
    title = f"{name}: precision, recall and F1 by both conventions; intervals of F1: {level}"
    return table_of(f"scores on {name}", title, columns, *groups)


def _score_row(result: SetScores, matching: Matching, gold: Which) -> Iterator[Row]:
    found = result.scored(matching, gold)
    if found is not None:
        md, linked, el = found.md, found.md_linked, found.el
        yield result.system, *_three(md), _interval(md), *_three(linked), *_three(el), _interval(el)


def _three(scores: Micro | Macro) -> tuple[float, float, float]:
    return scores.precision, scores.recall, scores.f1


def _interval(scores: Micro) -> Cell:
    return words(Score(scores.f1, scores.intervals.f1))[1] if scores.intervals else None


def _losses(study: ConversationStudy, name: str) -> Table:
    columns = ("system", "gold", "right", *LOSSES.values())
    rows = {
        matching: [
            (system, one.gold, one.right, *(one.misses.get(cause) for cause in LOSSES))
            for system, one in _blames(study, name, matching)
        ]
        for matching in MATCHINGS
    }
    groups = [Group(WAYS[matching], list(found)) for matching, found in rows.items()]
    title = f"{name}: where the gold of EL was lost, each link by the first stage that lost it"
    return without_empty(table_of(f"losses on {name}", title, columns, *groups))


def _wrong(study: ConversationStudy, name: str) -> Table:
    found = {matching: _blames(study, name, matching) for matching in MATCHINGS}
    reasons = list(dict.fromkeys(reason for blames in found.values() for _, one in blames for reason in one.wrong))
    groups = [
        Group(WAYS[matching], [(system, *(one.wrong.get(reason, 0) for reason in reasons)) for system, one in blames])
        for matching, blames in found.items()
    ]
    title = f"{name}: why answers of EL are wrong"
    return table_of(f"wrong on {name}", title, ("system", *reasons), *groups)


def _blames(study: ConversationStudy, name: str, matching: Matching) -> list[tuple[str, SetBlame]]:
    return [
        (result.system, one)
        for result in study.results
        if result.set == name
        for one in result.blame
        if one.matching == str(matching)
    ]


def _domains(study: ConversationStudy, one: SetByDomain) -> Table:
    columns = ("domain", "documents", *(f"{task.upper()} {short}" for task in ENDS for short in _SHORT))
    documents = {facts.name: facts.documents for facts in one.study.domains}
    groups = [
        Group(system.name, list(_domain_rows(system, documents)))
        for system in one.study.systems
        if system.end_to_end is not None
    ]
    figures = [figure for figure in study.published if figure.table == "2"]
    beside: list[Row] = [
        (
            f"{system}, {average}",
            None,
            *(
                published_value(figures, system, average=average, task=task, metric=measure)
                for task in ENDS
                for measure in MEASURES
            ),
        )
        for system, average in dict.fromkeys((figure.system, figure.where["average"]) for figure in figures)
    ]
    title = (
        f"{one.set}: end to end, each domain against its own part of the knowledge base, {one.study.convention} "
        "(Reddit in table 2 of the paper)"
    )
    return table_of(f"domains of {one.set}", title, columns, *groups, Group(OTHER_DATA, beside))


def _domain_rows(system: SystemScores, documents: dict[str, int]) -> Iterator[Row]:
    for one in system.domains:
        ends = one.end_to_end or {}
        yield one.domain, documents[one.domain], *(value for task in ENDS for value in ends[task].scores)
    averages = system.end_to_end or {}
    total = sum(documents.values())
    yield "micro average", total, *(value for task in ENDS for value in _three(averages[task].micro))
    yield "macro average", total, *(value for task in ENDS for value in _three(averages[task].macro))


def conversation_lines(study: ConversationStudy) -> Iterator[Line]:
    """Every figure of the study by system and set, and those published."""
    for result in study.results:
        yield from _score_lines(result)
        for blame in result.blame:
            table = f"losses, {blame.matching}"
            yield Line(table, result.system, result.set, "gold", blame.gold)
            yield Line(table, result.system, result.set, "right", blame.right)
            for cause, count in blame.misses.items():
                yield Line(table, result.system, result.set, cause, count)
            for reason, count in blame.wrong.items():
                yield Line(f"wrong, {blame.matching}", result.system, result.set, reason, count)
    for one in study.domains:
        for system in one.study.systems:
            yield from _domain_lines(one.set, system)
    for figure in study.published:
        part = " ".join(figure.where[key] for key in ("dataset", "average") if key in figure.where)
        measure = " ".join(figure.where[key] for key in ("task", "metric"))
        yield Line(f"table {figure.table}", figure.system, part, measure, figure.value, PUBLISHED)


def _score_lines(result: SetScores) -> Iterator[Line]:
    for found in result.scores:
        table = f"{found.matching}, {found.gold} gold"
        for task in TASKS:
            scores = found.task(task)
            for measure in (*MEASURES, "correct", "predicted", "gold"):
                yield Line(table, result.system, result.set, f"{task} {measure}", getattr(scores, measure))
            if scores.intervals is not None:
                yield Line(table, result.system, result.set, f"{task} f1 low", scores.intervals.f1.low)
                yield Line(table, result.system, result.set, f"{task} f1 high", scores.intervals.f1.high)


def _domain_lines(name: str, system: SystemScores) -> Iterator[Line]:
    for domain in system.domains:
        for task, counts in (domain.end_to_end or {}).items():
            for measure, value in zip(MEASURES, counts.scores, strict=True):
                yield Line("domains", system.name, f"{name} {domain.domain}", f"{task} {measure}", value)
    for task, found in (system.end_to_end or {}).items():
        for average, scores in (("micro", found.micro), ("macro", found.macro)):
            for measure, value in zip(MEASURES, _three(scores), strict=True):
                yield Line("domains", system.name, f"{name} {average}", f"{task} {measure}", value)
