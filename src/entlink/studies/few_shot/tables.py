"""The study of few-shot gold as tables for people, and as figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from entlink.evaluation.few_shot import LOSSES, SetCounts
from entlink.evaluation.published import PublishedFigure, find
from entlink.evaluation.report.table import Cell, Group, Row, Table, without_empty
from entlink.evaluation.scoring.relations import RELATIONS, Relation
from entlink.studies.few_shot.results import KS, PARTS, SAID_NIL, Estimate, FewShotStudy, Part, PartScores
from entlink.studies.writing import PUBLISHED, Line, table_of

OTHER_DATA = "other data, another knowledge base"
_SPLIT = ("in-KB", "NIL", "total")
_COUNTED = ("mentions", "distinct mentions", "documents")
_KINDS = (*RELATIONS, SAID_NIL)
# Our words for what the paper counts, in its figures.
_PUBLISHED_LOSSES = dict(
    zip(
        LOSSES,
        ("id not resolved", "no page in Chinese", "not among the ten candidates", "wrong candidate chosen"),
        strict=True,
    )
)


def few_shot_tables(study: FewShotStudy) -> list[Table]:
    """The sizes of the parts; scores; why gold was lost; how what was said instead is related to it."""
    tables = [_counts(study), _scores(study), _losses(study)]
    known = {kind for _, one in _parts(study) for kind in one.relations} - {Relation.UNKNOWN, SAID_NIL}
    return [*tables, _relations(study)] if known else tables


# Sizes: table 12


def _counts(study: FewShotStudy) -> Table:
    columns = ("set", *(f"{what} {part}" for what in _COUNTED for part in _SPLIT), "entities")
    own: list[Row] = [(part, *_of_set(counts)) for part, counts in study.counts.items()]
    figures = [one for one in study.published if one.table == "12"]
    beside: list[Row] = [
        (system, *(int(one.value) for one in find(figures, system=system)))
        for system in dict.fromkeys(one.system for one in figures)
    ]
    title = "Size of the gold, and of the part whose most popular entity is wrong (table 12 of the paper)"
    return table_of("sizes", title, columns, Group("", own), Group("published", beside))


def _of_set(counts: SetCounts) -> Iterator[int]:
    for one in (counts.mentions, counts.distinct_mentions, counts.documents):
        yield from (one.in_kb, one.nil, one.total)
    yield counts.entities


# Scores: tables 3 to 5


def _scores(study: FewShotStudy) -> Table:
    columns = ("system", *(f"R@{k}" for k in KS), "with NIL", "typed NIL")
    groups = [Group(_heading(study, part), list(_score_rows(study, part))) for part in PARTS]
    title = "Given the gold spans: recall at K of gold in the KB, accuracy with NIL"
    if study.options.rounds:
        title += f"; in brackets: {100 * study.options.level:g} % of {study.options.rounds:,} resamples of documents"
    return table_of("scores", title, columns, *groups, *_published_scores(study.published))


def _heading(study: FewShotStudy, part: Part) -> str:
    mentions = study.counts[part].mentions
    return f"{part}: {mentions.in_kb:,} mentions in the KB, {mentions.nil:,} NIL"


def _score_rows(study: FewShotStudy, part: Part) -> Iterator[Row]:
    for system in study.systems:
        one = system.parts.get(part)
        if one is not None:
            at = [one.recall_at.get(k) for k in KS]
            yield system.system, *map(_words, at), _words(one.with_nil), _words(one.typed_nil)


def _words(one: Estimate | None) -> Cell:
    if one is None:
        return None
    span = one.interval
    return f"{one.value:.3f}" + (f" ({span.low:.3f}–{span.high:.3f})" if span else "")


def _published_scores(published: Sequence[PublishedFigure]) -> Iterator[Group]:
    figures = [one for one in published if one.table in ("3", "4", "5")]
    for dataset in dict.fromkeys(one.where["dataset"] for one in figures):
        rows: dict[str, list[Cell]] = {}
        for one in find(figures, dataset=dataset):
            place = _place(one)
            if place is not None:
                rows.setdefault(one.system, [None] * (len(KS) + 2))[place] = f"{one.value / 100:.3f}"
        yield Group(f"published for {dataset}: {OTHER_DATA}", [(system, *cells) for system, cells in rows.items()])


def _place(figure: PublishedFigure) -> int | None:
    """The column of a published figure."""
    if figure.where.get("scored") == "with-nil":
        return len(KS)
    _, _, k = figure.where["metric"].partition("@")
    return KS.index(int(k)) if int(k) in KS else None


# Errors: appendices F and G


def _parts(study: FewShotStudy) -> Iterator[tuple[str, PartScores]]:
    return ((system.system, one) for system in study.systems for one in system.parts.values())


def _losses(study: FewShotStudy) -> Table:
    columns = ("system", "wrong", *LOSSES)
    groups = [
        Group(
            part,
            [
                (system.system, sum(one.losses.values()), *(one.losses.get(why, 0) for why in LOSSES))
                for system in study.systems
                for one in [system.parts.get(part)]
                if one is not None
            ],
        )
        for part in PARTS
    ]
    beside = list(_published_losses(study.published))
    title = "Gold entities that were not linked, by the first reason (appendix F of the paper)"
    return table_of("losses", title, columns, *groups, Group(f"published: {OTHER_DATA}", beside))


def _published_losses(published: Sequence[PublishedFigure]) -> Iterator[Row]:
    figures = [one for one in published if one.table == "text" and one.unit == "count"]
    for system, dataset in dict.fromkeys((one.system, one.where["dataset"]) for one in figures):
        found = {one.where["about"]: int(one.value) for one in find(figures, system=system, dataset=dataset)}
        counts = [found.get(f"errors: {_PUBLISHED_LOSSES[why]}") for why in LOSSES]
        yield f"{system} on {dataset}", sum(count or 0 for count in counts), *counts


def _relations(study: FewShotStudy) -> Table:
    groups = [
        Group(
            part,
            [
                (system.system, *(one.relations.get(kind, 0) for kind in _KINDS))
                for system in study.systems
                for one in [system.parts.get(part)]
                if one is not None
            ],
        )
        for part in PARTS
    ]
    title = "What was said where the right entity was not chosen, by the claims of both (appendix G of the paper)"
    return without_empty(table_of("relations", title, ("system", *_KINDS), *groups))


# Figures


def few_shot_lines(study: FewShotStudy) -> Iterator[Line]:
    """Every figure of the study, and those published."""
    for part, counts in study.counts.items():
        names = [f"{what} {kind}" for what in _COUNTED for kind in _SPLIT]
        for name, value in zip([*names, "entities"], _of_set(counts), strict=True):
            yield Line("sizes", "", part, name, value)
    for system in study.systems:
        for name, one in system.parts.items():
            estimates = {f"R@{k}": estimate for k, estimate in one.recall_at.items()}
            estimates |= {"with NIL": one.with_nil}
            estimates |= {"typed NIL": one.typed_nil} if one.typed_nil else {}
            for measure, estimate in estimates.items():
                yield Line("scores", system.system, name, measure, estimate.value)
                if estimate.interval is not None:
                    yield Line("scores", system.system, name, f"{measure} low", estimate.interval.low)
                    yield Line("scores", system.system, name, f"{measure} high", estimate.interval.high)
            for table, counted in (("losses", one.losses), ("relations", one.relations)):
                for reason, count in counted.items():
                    yield Line(table, system.system, name, reason, count)
    for figure in study.published:
        part = figure.where.get("dataset", "")
        measure = " ".join(value for key, value in figure.where.items() if key != "dataset")
        yield Line(f"table {figure.table}", figure.system, part, measure, figure.value, PUBLISHED)
