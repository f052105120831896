"""The study of candidates as tables for people, and as figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from entlink.evaluation.published import PublishedFigure
from entlink.evaluation.report.table import Amount, Cell, Group, Row, Table
from entlink.studies.candidates.results import CandidateStudy, Found, Method
from entlink.studies.writing import PUBLISHED, Line, table_of

OTHER_DATA = "published for WikiDiverse: other data, other knowledge base"


def candidate_tables(study: CandidateStudy) -> list[Table]:
    """One table of all methods, and one for each slice that was asked for."""
    recalls = [f"R@{k}" for k in study.ks]
    columns = ["method", "list", *recalls, "MRR", "candidates", "first ms", "second ms"]
    own = Group("", [_row(method, study.ks) for method in study.methods])
    beside = Group(OTHER_DATA, list(_published(study)))
    main = table_of("candidates", "Candidates given the gold spans", columns, own, beside)
    names = dict.fromkeys(one.slice for method in study.methods for one in method.slices)
    return [main, *(_slice_table(study, name) for name in names)]


def _row(method: Method, ks: Sequence[int]) -> Row:
    return (method.name, method.how, *_cells(method.found, ks), _ms(method.first_ms), _ms(method.second_ms))


def _cells(found: Found | None, ks: Sequence[int]) -> tuple[Cell, ...]:
    if found is None:
        return (None,) * (len(ks) + 2)
    return (*(found.recall_at[k] for k in ks), found.mrr, Amount(found.candidates))


def _ms(value: float | None) -> Cell:
    return None if value is None else Amount(value)


def _slice_table(study: CandidateStudy, name: str) -> Table:
    columns = ["method", "mentions", *(f"R@{k}" for k in study.ks), "MRR", "candidates"]
    values = dict.fromkeys(one.value for method in study.methods for one in method.slices if one.slice == name)
    groups = [
        Group(
            value,
            [
                (method.name, one.found.mentions, *_cells(one.found, study.ks))
                for method in study.methods
                for one in method.slices
                if (one.slice, one.value) == (name, value)
            ],
        )
        for value in values
    ]
    return table_of(f"slice {name}", f"Slice: {name}", columns, *groups)


def _published(study: CandidateStudy) -> Iterator[Row]:
    systems: dict[str, dict[int, float]] = {}
    for figure in study.published:
        k = _k(figure)
        if k is not None:
            systems.setdefault(figure.system, {})[k] = _fraction(figure)
    for system, recalls in systems.items():
        yield (system, "published", *(recalls.get(k) for k in study.ks), None, None, None, None)


def _k(figure: PublishedFigure) -> int | None:
    name, _, k = figure.where.get("metric", "").partition("@")
    return int(k) if name == "recall" and k.isdigit() else None


def _fraction(figure: PublishedFigure) -> float:
    return figure.value / 100 if figure.unit == "percent" else figure.value


def candidate_lines(study: CandidateStudy) -> Iterator[Line]:
    """Every figure of the study, and those published."""
    for method in study.methods:
        for slice, found in [
            ("all", method.found),
            *((f"{one.slice}: {one.value}", one.found) for one in method.slices),
        ]:
            if found is not None:
                yield from _lines(method.name, slice, found)
        for measure, value in (("first ms", method.first_ms), ("second ms", method.second_ms)):
            if value is not None:
                yield Line("candidates", method.name, "all", measure, value)
    for figure in study.published:
        k = _k(figure)
        if k is not None:
            yield Line("candidates", figure.system, "WikiDiverse", f"R@{k}", _fraction(figure), PUBLISHED)


def _lines(name: str, part: str, found: Found) -> Iterator[Line]:
    yield Line("candidates", name, part, "mentions", found.mentions)
    for k, recall in found.recall_at.items():
        yield Line("candidates", name, part, f"R@{k}", recall)
    yield Line("candidates", name, part, "MRR", found.mrr)
    yield Line("candidates", name, part, "candidates", found.candidates)
