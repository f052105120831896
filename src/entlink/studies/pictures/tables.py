"""The study of captioned pictures as tables for people, and as figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from entlink.evaluation.published import PublishedFigure, find
from entlink.evaluation.report.table import Cell, Chance, Gap, Group, Part, Row, Table, without_empty
from entlink.studies.candidates.tables import candidate_lines, candidate_tables
from entlink.studies.pictures.results import R_AT, Mean, PictureStudy, RankerScores, Scores
from entlink.studies.writing import PUBLISHED, Line, table_of

OTHER_DATA = "published for WikiDiverse: other data, another knowledge base"
NOTHING = "nothing"
_KINDS = {
    "evidence": "sums of weighed evidence",
    "model": "trained models",
    "run": "runs of other systems",
}
_METRICS = ("f1", "precision", "recall", f"recall@{R_AT}")
_CLUE = "gold:clue"


def picture_tables(study: PictureStudy) -> list[Table]:
    """Every table that has rows."""
    found = [
        splits_table(study),
        *candidates_tables(study),
        rankers_table(study),
        compared_table(study),
        *slice_tables(study),
        ablation_table(study),
        removal_table(study),
        pooling_table(study),
        *curve_tables(study),
        robustness_table(study),
        differing_table(study),
    ]
    return [table for table in found if any(group.rows and group.title != OTHER_DATA for group in table.groups)]


def splits_table(study: PictureStudy) -> Table:
    """What is asked."""
    rows: list[Row] = [
        (
            one.split,
            one.documents,
            one.mentions,
            one.near_copies,
            Part(one.reached, _share(one.reached, one.mentions)),
            Part(one.pictured, _share(one.pictured, one.mentions)),
        )
        for one in study.splits
    ]
    columns = ("part", "captions", "mentions", "near-copies left out", "entity among candidates", "pictures on both")
    return table_of(
        "splits",
        f"The data; {study.options.k} candidates a mention, the same for all rankers",
        columns,
        Group("", rows),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


# Table 4


def candidates_tables(study: PictureStudy) -> list[Table]:
    """The retrievers, as the study of candidates shows them."""
    if study.candidates is None:
        return []
    main, *others = candidate_tables(study.candidates)
    return [main._replace(title="Candidate retrieval on the test part (table 4 of the paper)"), *others]


# Tables 5 and 8


def rankers_table(study: PictureStudy) -> Table:
    """F1, P, R and R@5 of every ranker on the test part, with deviations over runs."""
    columns = ("ranker", "inputs", "runs", "F1 dev", "F1", "interval of F1", "P", "R", f"R@{R_AT}", "seconds")
    groups = [
        Group(title, [_ranker_row(one) for one in study.rankers if one.kind == kind])
        for kind, title in _KINDS.items()
    ]
    title = "Disambiguation on the test part (tables 5 and 8 of the paper); in brackets the deviation over runs"
    return without_empty(
        table_of("rankers", title, columns, *groups, Group(OTHER_DATA, _published_rankers(study.published)))
    )


def _ranker_row(one: RankerScores) -> Row:
    test = one.test
    if test is None:
        return (one.ranker, one.modality, one.runs, *[None] * 7)
    interval = test.f1.interval
    told = f"{interval.low:.3f}–{interval.high:.3f}" if interval else None
    scores = (_mean(test.f1), told, _mean(test.precision), _mean(test.recall), _mean(test.recall_at_5))
    seconds = None if one.seconds is None else round(one.seconds)
    return (one.ranker, one.modality, one.runs, _mean(one.dev.f1) if one.dev else None, *scores, seconds)


def _mean(mean: Mean | None) -> Cell:
    if mean is None:
        return None
    return f"{mean.value:.3f}" + ("" if mean.deviation is None else f" ({mean.deviation:.3f})")


def _published_rankers(figures: Sequence[PublishedFigure]) -> list[Row]:
    rows: list[Row] = []
    table = [one for one in figures if one.table == "8"]
    for system in dict.fromkeys(one.system for one in table):
        own = list(find(table, system=system))
        cells = [_published_mean(own, metric) for metric in _METRICS]
        rows.append((system, own[0].where["modality"], 5, None, cells[0], None, *cells[1:], None))
    return rows


def _published_mean(figures: Sequence[PublishedFigure], metric: str) -> str | None:
    found = {one.where["statistic"]: one.value / 100 for one in find(figures, metric=metric)}
    return f"{found['mean']:.3f} ({found['deviation']:.3f})" if found else None


def compared_table(study: PictureStudy) -> Table:
    """What the picture adds to the text, with tests."""
    rows: list[Row] = [
        (f"{one.other} − {one.first}", one.condition, one.mentions, Gap(one.difference, one.interval), Chance(one.p))
        for one in study.compared
    ]
    title = "Differences of F1 on the same mentions; p of a paired permutation test over captions"
    return table_of("differences", title, ("difference", "data", "mentions", "F1", "p"), Group("", rows))


# Table 7


def slice_tables(study: PictureStudy) -> list[Table]:
    """A table for each slice that some mention is in."""
    return [_slice_table(study, name) for name in dict.fromkeys(one.slice for one in study.slices)]


def _slice_table(study: PictureStudy, name: str) -> Table:
    kept = [one for one in study.slices if one.slice == name]
    rankers = list(kept[0].f1)
    rows: list[Row] = [(one.value, one.mentions, one.share, *(one.f1[ranker] for ranker in rankers)) for one in kept]
    table = table_of(
        f"slice {name}",
        f"F1 by {_slice_words(name)} (table 7 of the paper)",
        ("", "mentions", "share", *rankers),
        Group("", rows),
    )
    if name != _CLUE:
        return table._replace(title=f"F1 by {_slice_words(name)}")
    return table._replace(groups=[*table.groups, *_published_clues(study, len(rankers))])


def _slice_words(name: str) -> str:
    words = {_CLUE: "visual clue", "type": "entity type", "meta:topic": "topic", "title": "whether it is the title"}
    return words.get(name, "how many entities have the name" if name == "ambiguous" else name)


def _published_clues(study: PictureStudy, rankers: int) -> Iterator[Group]:
    table = [one for one in study.published if one.table == "7"]
    rows: list[Row] = []
    for clue in dict.fromkeys(one.where["clue"] for one in table):
        own = {(one.system, one.where["metric"]): one.value / 100 for one in find(table, clue=clue)}
        pair = [f"BERT {own['BERT', 'f1']:.3f}", f"LXMERT {own['LXMERT', 'f1']:.3f}"]
        cells: list[Cell] = [*pair[:rankers], *[None] * (rankers - 2)]
        rows.append((clue, None, own["all mentions", "share"], *cells))
    if rows:
        yield Group(OTHER_DATA, rows)


# Table 6


def ablation_table(study: PictureStudy) -> Table:
    """A fusion trained without some of its inputs."""
    rows: list[Row] = [(one.without, one.dev, one.test) for one in study.ablation]
    name = f"{study.ablation[0].ranker.partition(',')[0]}: " if study.ablation else ""
    title = f"{name}F1 when trained without inputs, V pictures, T texts, m of mentions, e of entities (table 6)"
    return table_of(
        "ablation", title, ("without", "dev", "test"), Group("", rows), Group(OTHER_DATA, _published_ablation(study))
    )


def _published_ablation(study: PictureStudy) -> list[Row]:
    found: dict[str, dict[str, float]] = {}
    for one in study.published:
        if one.table == "6":
            found.setdefault(one.where["without"], {})[one.where["split"]] = one.value / 100
    return [(without, own["dev"], own["test"]) for without, own in found.items()]


# Figure 8


def removal_table(study: PictureStudy) -> Table:
    """Who has which mentions right, once inputs are removed."""
    one = study.removal
    if one is None:
        return table_of("removal", "", ("right",))
    rows: list[Row] = [(region, Part(count, _share(count, one.mentions))) for region, count in one.regions.items()]
    neither = one.mentions - sum(one.regions.values())
    rows.append(("none of them", Part(neither, _share(neither, one.mentions))))
    title = (
        f"{one.ranker}: mentions right with its texts (T), its pictures (V), both (T+V), without P(e|m) (figure 8)"
    )
    return table_of("removal", title, ("right with", "mentions"), Group("", rows))


# Table 9, figure 9


def pooling_table(study: PictureStudy) -> Table:
    """Ways of making one vector of a mention's tokens."""
    rows: list[Row] = [(one.pooling, one.dev, one.test) for one in study.pooling]
    beside: list[Row] = [(one.where["pooling"], None, one.value / 100) for one in study.published if one.table == "9"]
    title = "F1 by the pooling of the mention's tokens (table 9 of the paper)"
    return table_of("pooling", title, ("pooling", "dev", "test"), Group("", rows), Group(OTHER_DATA, beside))


def curve_tables(study: PictureStudy) -> list[Table]:
    """F1 by the number of negatives."""
    words = {"K": "hard negatives (K)", "B": "negatives in the batch (B)"}
    return [
        table_of(
            f"curve {one.negatives}",
            f"{one.ranker}: F1 by the number of {words[one.negatives]} (figure 9 of the paper)",
            (one.negatives, "dev", "test"),
            Group(
                "",
                [(str(number), dev, test) for number, dev, test in zip(one.numbers, one.dev, one.test, strict=True)],
            ),
        )
        for one in study.curves
    ]


# Robustness


def robustness_table(study: PictureStudy) -> Table:
    """The rankers where the data was changed."""
    conditions = dict.fromkeys(one.condition for one in study.robustness)
    groups = [
        Group(
            condition,
            [(one.ranker, *_robust_cells(one.scores)) for one in study.robustness if one.condition == condition],
        )
        for condition in conditions
    ]
    how = f"{study.options.folds} folds by page" if study.options.folds > 1 else "the test part"
    title = f"Names masked, pictures of other pages, near-copies put back; {how}, the first seed"
    return table_of("robustness", title, ("ranker", "mentions", "F1", "interval of F1", "R", f"R@{R_AT}"), *groups)


def _robust_cells(scores: Scores) -> tuple[Cell, ...]:
    interval = scores.f1.interval
    told = f"{interval.low:.3f}–{interval.high:.3f}" if interval else None
    return (
        scores.mentions,
        scores.f1.value,
        told,
        scores.recall.value,
        None if scores.recall_at_5 is None else scores.recall_at_5.value,
    )


def differing_table(study: PictureStudy) -> Table:
    """How often text and text with picture say different entities."""
    rows: list[Row] = [(kind, count) for kind, count in study.differing.items()]
    which = f": {study.cases[0].ranker}, and {study.cases[0].twin}" if study.cases else ""
    title = f"Mentions where text + picture and text alone differ{which} (figure 7)"
    return table_of("differing", title, ("", "mentions"), Group("", rows))


# Figures


def picture_lines(study: PictureStudy) -> Iterator[Line]:
    """Every figure of the study, and those published."""
    for split in study.splits:
        for what in ("documents", "mentions", "near_copies", "reached", "pictured"):
            yield Line("splits", "", split.split, what, getattr(split, what))
    if study.candidates is not None:
        yield from candidate_lines(study.candidates)
    for ranker in study.rankers:
        for part, scores in (("dev", ranker.dev), ("test", ranker.test)):
            yield from _score_lines("rankers", ranker.ranker, part, scores)
    for robust in study.robustness:
        yield from _score_lines("robustness", robust.ranker, robust.condition, robust.scores)
    for pair in study.compared:
        for measure, value in (
            ("F1", pair.difference),
            ("low", pair.interval.low),
            ("high", pair.interval.high),
            ("p", pair.p),
        ):
            yield Line("differences", f"{pair.other} − {pair.first}", pair.condition, measure, value)
    yield from _analysis_lines(study)
    for figure in study.published:
        if figure.table != "4":
            where = " ".join(value for key, value in figure.where.items() if key != "dataset")
            yield Line(f"table {figure.table}", figure.system, "WikiDiverse", where, figure.value, PUBLISHED)


def _analysis_lines(study: PictureStudy) -> Iterator[Line]:
    for part in study.slices:
        yield Line(f"slice {part.slice}", "", part.value, "mentions", part.mentions)
        for ranker, value in part.f1.items():
            yield Line(f"slice {part.slice}", ranker, part.value, "F1", value)
    for ablated in study.ablation:
        yield Line("ablation", ablated.ranker, f"dev without {ablated.without}", "F1", ablated.dev)
        yield Line("ablation", ablated.ranker, f"test without {ablated.without}", "F1", ablated.test)
    for pooled in study.pooling:
        yield Line("pooling", pooled.ranker, f"dev, {pooled.pooling}", "F1", pooled.dev)
        yield Line("pooling", pooled.ranker, f"test, {pooled.pooling}", "F1", pooled.test)
    for curve in study.curves:
        for number, dev, test in zip(curve.numbers, curve.dev, curve.test, strict=True):
            yield Line("curves", curve.ranker, f"dev, {curve.negatives} = {number}", "F1", dev)
            yield Line("curves", curve.ranker, f"test, {curve.negatives} = {number}", "F1", test)
    if study.removal is not None:
        for region, count in study.removal.regions.items():
            yield Line("removal", study.removal.ranker, region, "right", count)
        for left, value in study.removal.f1.items():
            yield Line("removal", study.removal.ranker, left, "F1", value)
    for kind, count in study.differing.items():
        yield Line("differing", "", kind, "mentions", count)


def _score_lines(table: str, ranker: str, part: str, scores: Scores | None) -> Iterator[Line]:
    if scores is None:
        return
    named = {"F1": scores.f1, "P": scores.precision, "R": scores.recall, f"R@{R_AT}": scores.recall_at_5}
    for measure, mean in named.items():
        if mean is None:
            continue
        yield Line(table, ranker, part, measure, mean.value)
        if mean.deviation is not None:
            yield Line(table, ranker, part, f"{measure} deviation", mean.deviation)
        if mean.interval is not None:
            yield Line(table, ranker, part, f"{measure} low", mean.interval.low)
            yield Line(table, ranker, part, f"{measure} high", mean.interval.high)
