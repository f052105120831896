"""Whether published figures fit one another: what must follow from other figures of a paper is worked out again.

Figures are printed rounded, so a check works out the lowest and the highest result that rounded figures allow, and
finds a cell only if what is printed there lies outside. `found` gives every cell that fails with the names of the
checks that it fails; the tables' own `misprints` name the same cells, which a test compares.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, pairwise, product
from typing import NamedTuple

from entlink.evaluation.published import Check, PublishedFigure, PublishedTable, find, find_one

TINY = 1e-9
RUNS_SHORTFALL = 0.02  # how far a mean of f1 over runs may fall below the f1 of the mean precision and recall
AT_K = re.compile(r"(.+)@(\d+)")


class Place(NamedTuple):
    """A cell of a paper."""

    paper: str
    table: str
    system: str
    where: frozenset[tuple[str, str]]


Finding = tuple[PublishedFigure, Check]


def place(figure: PublishedFigure) -> Place:
    return Place(figure.paper, figure.table, figure.system, frozenset(figure.where.items()))


def found(tables: Sequence[PublishedTable]) -> dict[Place, set[Check]]:
    """Every cell that does not fit the others, with the checks that say so."""
    figures = [figure for table in tables for figure in table.figures()]
    cells: dict[Place, set[Check]] = defaultdict(set)
    by_paper = (conversational_el, enteval, wikidiverse, wikidiverse_text, hansel, hansel_text)
    everywhere = (check(figures) for check in (*GENERAL, *by_paper))
    for figure, name in chain(*everywhere, *(columns_differ(table, figures) for table in tables)):
        cells[place(figure)].add(name)
    return dict(cells)


def noted(tables: Iterable[PublishedTable]) -> dict[Place, Check]:
    """Every cell that its table calls a misprint, with the check that finds it."""
    cells = ((table, cell, misprint) for table in tables for misprint in table.misprints for cell in table.cells())
    return {
        Place(table.paper, table.table, cell.system, frozenset(cell.where.items())): misprint.check
        for table, cell, misprint in cells
        if cell.fits(misprint.system, misprint.where)
    }


def span(function: Callable[..., float], *sources: PublishedFigure) -> tuple[float, float]:
    """The lowest and the highest the function gives for what the sources may have been before rounding."""
    corners = product(*({source.value - source.rounding, source.value + source.rounding} for source in sources))
    results = [function(*corner) for corner in corners]
    return min(results), max(results)


def follows(
    check: Check, figure: PublishedFigure, function: Callable[..., float], *sources: PublishedFigure
) -> Iterator[Finding]:
    """A finding if the figure is not what the function gives."""
    yield from at_least(check, figure, function, *sources)
    yield from at_most(check, figure, function, *sources)


def at_most(
    check: Check, figure: PublishedFigure, function: Callable[..., float], *sources: PublishedFigure
) -> Iterator[Finding]:
    """A finding if the figure is above what the function gives."""
    if figure.value - figure.rounding > span(function, *sources)[1] + TINY:
        yield figure, check


def at_least(
    check: Check, figure: PublishedFigure, function: Callable[..., float], *sources: PublishedFigure, slack: float = 0
) -> Iterator[Finding]:
    """A finding if the figure is below what the function gives, by more than `slack`."""
    if figure.value + figure.rounding < span(function, *sources)[0] - slack - TINY:
        yield figure, check


def same(value: float) -> float:
    return value


def total(*values: float) -> float:
    return math.fsum(values)


def mean(*values: float) -> float:
    return math.fsum(values) / len(values)


def most(*values: float) -> float:
    return max(values)


def ratio(above: float, below: float) -> float:
    return above / below


def difference(more: float, less: float) -> float:
    return more - less


def percentage(above: float, below: float) -> float:
    return 100 * above / below


def harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


def highest_kappa(agreement: float, accuracy: float) -> float:
    """Cohen's kappa at most, of two who say yes to `accuracy` percent on average and agree on `agreement` percent.

    Their shares of yes differ by no more than they disagree, and kappa grows with the difference.
    """
    agreed, yes = agreement / 100, accuracy / 100
    by_chance = 1 - 2 * yes + 2 * (yes**2 - ((1 - agreed) / 2) ** 2)
    return (agreed - by_chance) / (1 - by_chance)


def by_metric(figures: Iterable[PublishedFigure]) -> Iterator[dict[str, PublishedFigure]]:
    """Figures of one paper that differ in their metric only, by metric."""
    groups: dict[object, dict[str, PublishedFigure]] = defaultdict(dict)
    for figure in figures:
        rest = {key: value for key, value in figure.where.items() if key != "metric"}
        if "metric" in figure.where:
            groups[figure.paper, figure.system, frozenset(rest.items())][figure.where["metric"]] = figure
    yield from groups.values()


def by_table(figures: Iterable[PublishedFigure]) -> Iterator[list[PublishedFigure]]:
    tables: dict[tuple[str, str], list[PublishedFigure]] = defaultdict(list)
    for figure in figures:
        tables[figure.paper, figure.table].append(figure)
    yield from tables.values()


def f1_is_the_harmonic_mean(figures: list[PublishedFigure]) -> Iterator[Finding]:
    """Of precision and recall. A mean of f1s is never above that of the means, and over runs hardly below."""
    slacks = {"macro": math.inf, "runs": RUNS_SHORTFALL}
    for group in (group for table in by_table(figures) for group in by_metric(table)):
        if {"precision", "recall", "f1"} <= group.keys() and group["f1"].where.get("statistic") != "deviation":
            f1, sources = group["f1"], (group["precision"], group["recall"])
            yield from at_most("harmonic-mean", f1, harmonic, *sources)
            slack = slacks.get(f1.where.get("average", ""), 0.0)
            yield from at_least("harmonic-mean", f1, harmonic, *sources, slack=slack)


def more_candidates_are_no_worse(figures: list[PublishedFigure]) -> Iterator[Finding]:
    """Recall and accuracy at k grow with k."""
    for group in by_metric(figures):
        sizes: dict[str, list[tuple[int, PublishedFigure]]] = defaultdict(list)
        for metric, figure in group.items():
            if (at := AT_K.fullmatch(metric)) and figure.where.get("statistic") != "deviation":
                sizes[at[1]].append((int(at[2]), figure))
        for ranked in sizes.values():
            for (_, fewer), (_, more) in pairwise(sorted(ranked, key=lambda one: one[0])):
                yield from at_least("bound", more, same, fewer)


def linking_is_no_better_than_detection(figures: list[PublishedFigure]) -> Iterator[Finding]:
    """A linked mention must have been detected."""
    for linked in find(figures, task="el"):
        rest = {**linked.where, "task": "md"}
        for detected in find(figures, paper=linked.paper, table=linked.table, system=linked.system, **rest):
            yield from at_most("bound", linked, same, detected)


def shares_are_in_range(figures: list[PublishedFigure]) -> Iterator[Finding]:
    most = {"fraction": 1.0, "percent": 100.0}
    for figure in figures:
        if not 0 <= figure.value <= most.get(figure.unit, math.inf):
            yield figure, "bound"


def columns_differ(table: PublishedTable, figures: list[PublishedFigure]) -> Iterator[Finding]:
    """Columns of two tasks or datasets do not agree in two rows or more; what another table confirms is right."""
    headers, own = table.headers(), {place(figure): figure for figure in table.figures()}
    cells = [Place(table.paper, table.table, cell.system, frozenset(cell.where.items())) for cell in table.cells()]
    columns = [cells[start :: len(headers)] for start in range(len(headers))]
    for (header, one), (second, other) in combinations(zip(headers, columns, strict=True), 2):
        if table.kind != "results" or all(header.get(key) == second.get(key) for key in ("task", "dataset")):
            continue
        pairs = [
            (own[left], own[right]) for left, right in zip(one, other, strict=True) if {left, right} <= own.keys()
        ]
        equal = [pair for pair in pairs if pair[0].value == pair[1].value]
        for pair in equal if len(equal) > 1 else ():
            yield from ((figure, "repeated-column") for figure in pair if not confirmed(figure, figures))


def confirmed(figure: PublishedFigure, figures: list[PublishedFigure]) -> bool:
    """Whether another table has the same figure for the same system and task or dataset."""
    about = {key: figure.where[key] for key in ("task", "dataset") if key in figure.where}
    others = find(figures, paper=figure.paper, system=figure.system, **about)
    return any(other.table != figure.table and other.value == figure.value for other in others)


def bold_is_best(figures: list[PublishedFigure]) -> Iterator[Finding]:
    """Where a table has bold print, the highest of each column is bold and nothing else is."""
    for table in by_table(figures):
        columns: dict[object, list[PublishedFigure]] = defaultdict(list)
        for figure in table:
            columns[frozenset(figure.where.items())].append(figure)
        for column in columns.values() if any(figure.bold for figure in table) else ():
            best = max(figure.value for figure in column)
            yield from ((figure, "claim") for figure in column if figure.bold != (figure.value == best))


GENERAL = (
    f1_is_the_harmonic_mean,
    more_candidates_are_no_worse,
    linking_is_no_better_than_detection,
    shares_are_in_range,
    bold_is_best,
)


class Paper:
    """The figures of one paper, asked for by table, system and the rest."""

    def __init__(self, figures: Iterable[PublishedFigure], name: str) -> None:
        self.figures = list(find(figures, paper=name))

    def __call__(self, table: str, system: str, **where: str) -> PublishedFigure:
        return find_one(self.figures, table=table, system=system, **where)

    def all(self, table: str, **where: str) -> list[PublishedFigure]:
        return list(find(self.figures, table=table, **where))


def conversational_el(figures: list[PublishedFigure]) -> Iterator[Finding]:
    paper = Paper(figures, "conversational_el")
    for split in ("train", "test"):
        utterances, threads = (paper("1", name, split=split) for name in ("utterances", "threads"))
        yield from follows("ratio", paper("1", "utterances per thread", split=split), ratio, utterances, threads)
    for average in paper.all("5", dataset="macro average"):
        domains = [figure for figure in paper.all("5", metric=average.where["metric"]) if figure is not average]
        yield from follows("mean", average, mean, *domains)
    for linked in paper.all("2", task="el", metric="precision", average="micro"):
        yield from same_answers_and_gold(paper, linked)


def same_answers_and_gold(paper: Paper, linked: PublishedFigure) -> Iterator[Finding]:
    """Micro precision and recall of detection and linking share their counts of answers and of gold mentions."""
    where = {key: linked.where[key] for key in ("dataset", "average")}
    of_linking = [paper("2", linked.system, task="el", metric=name, **where) for name in ("precision", "recall")]
    of_detection = [paper("2", linked.system, task="md", metric=name, **where) for name in ("precision", "recall")]
    (low, high), (lowest, highest) = span(ratio, *of_linking), span(ratio, *of_detection)
    if high < lowest or highest < low:
        yield linked, "ratio"


def enteval(figures: list[PublishedFigure]) -> Iterator[Finding]:
    paper = Paper(figures, "enteval")
    for average in paper.all("3", task="average"):
        parts = [figure for figure in find(paper.all("3"), system=average.system) if figure is not average]
        yield from follows("mean", average, mean, *parts)
    for figure in paper.all("4", task="ert", encoded="description"):
        yield from follows("same-figure", figure, same, paper("3", figure.system, task="ert"))
    yield from follows("same-figure", paper("5", "ELMo"), same, paper("4", "ELMo", task="conll", encoded="name"))
    splits = [paper("1", split, task="conll") for split in ("train", "valid", "test")]
    stated = paper("text-statistics", "mentions with an entry in the knowledge base")
    yield from follows("sum", stated, total, *splits)
    most = paper("text-statistics", "most candidates for a mention")
    yield from at_most("bound", paper("1", "classes", task="conll"), same, most)
    types = paper("text-statistics", "relation types")
    yield from follows("same-figure", paper("1", "classes", task="ert"), same, types)
    for split, name in (("train", "train"), ("valid", "valid and test"), ("test", "valid and test")):
        each = paper("text-statistics", f"instances per type, {name}")
        yield from follows("sum", paper("1", split, task="ert"), lambda one, other: one * other, types, each)


def wikidiverse(figures: list[PublishedFigure]) -> Iterator[Finding]:
    paper = Paper(figures, "wikidiverse")
    parts = [paper("3", "pairs", split=split) for split in ("train", "dev", "test")]
    yield from follows("sum", paper("3", "pairs", split="total"), total, *parts)
    for name in ("mentions per pair", "words per pair"):
        means = [paper("3", name, split=split) for split in ("train", "dev", "test")]
        yield from follows("mean", paper("3", name, split="total"), weighted_mean, *parts, *means)
    for source in ("Wikinews", "BBC"):
        levels = [paper("2", source, aspect="difficulty", level=level) for level in ("no", "easy", "hard")]
        yield from follows("sum", levels[2], lambda no, easy: 100 - no - easy, *levels[:2])
    for figure in paper.all("5"):
        other = paper("8", figure.system, metric=figure.where["metric"], statistic="mean")
        yield from follows("same-figure", other, same, figure)
    for recall in paper.all("8", metric="recall", statistic="mean"):
        five = paper("8", recall.system, metric="recall@5", statistic="mean")
        yield from at_least("bound", five, same, recall)
        yield from at_most("bound", five, same, paper("4", "P(e|m) + BLINK + CLIP", metric="recall@10"))
    for both in paper.all("4", modality="T+V"):
        for one in ("BLINK", "CLIP"):
            yield from at_least("claim", both, same, paper("4", one, metric=both.where["metric"]))
    whole = paper("6", "LXMERT", without="nothing", split="test")
    yield from follows("same-figure", whole, same, paper("5", "LXMERT", metric="f1"))
    chosen = paper("9", "LXMERT †", pooling="first and last")
    yield from follows("same-figure", chosen, same, paper("5", "LXMERT †", metric="f1"))


def wikidiverse_text(figures: list[PublishedFigure]) -> Iterator[Finding]:
    paper = Paper(figures, "wikidiverse")
    for clue in ("object", "property"):
        models = [paper("7", model, clue=clue) for model in ("LXMERT", "BERT")]
        stated = paper("text", "LXMERT minus BERT", about=f"f1, {clue} clues")
        yield from follows("difference", stated, difference, *models)
    stated = paper("text", "P(e|m) + BLINK + CLIP")
    yield from follows("same-figure", stated, same, paper("4", stated.system, metric="recall@100"))
    pairs = paper("3", "pairs", split="total")
    for stated in (paper("text-statistics", "pairs"), paper("1", "WikiDiverse")):
        yield from follows("same-figure", stated, same, pairs)
    labelled = paper("text-statistics", "test pairs labelled with clues")
    yield from at_most("bound", labelled, same, paper("3", "pairs", split="test"))


def weighted_mean(*values: float) -> float:
    """Of the second half of the values, weighted by the first half."""
    weights, means = values[: len(values) // 2], values[len(values) // 2 :]
    return math.fsum(weight * one for weight, one in zip(weights, means, strict=True)) / math.fsum(weights)


def hansel(figures: list[PublishedFigure]) -> Iterator[Finding]:
    paper = Paper(figures, "hansel")
    for table in ("1", "12"):
        for whole in paper.all(table, part="total"):
            rest = {"table": table, "system": whole.system, "counted": whole.where["counted"]}
            parts = [part for part in find(paper.figures, **rest) if part is not whole]
            shared = whole.where["counted"] in ("documents", "distinct mentions")
            yield from at_most("sum", whole, total, *parts) if parts else ()
            yield from at_least("sum", whole, most if shared else total, *parts) if parts else ()
    for part in ("hansel-fs", "hansel-zs"):
        for figure in find(paper.all("12"), system=part):
            for other in find(paper.all("1"), system=part, **figure.where):
                yield from follows("same-figure", figure, same, other)
        known, mentions = (paper("1", part, counted="mentions", part=which) for which in ("in-kb", "total"))
        with_nil, without = (paper("5", "AT", dataset=part, scored=how, metric="recall@1") for how in SCORED)
        yield from follows(
            "ratio", with_nil, lambda score, some, every: score * some / every, without, known, mentions
        )
    for system, variant in (("DE", "DE"), ("TyDE", "TyDE (sim+fine)")):
        yield from follows("same-figure", paper("4", variant), same, paper("3", system))


SCORED = ("with-nil", "in-kb")
CAUSES = ("no page in Chinese", "not among the ten candidates", "wrong candidate chosen", "id not resolved")


def hansel_text(figures: list[PublishedFigure]) -> Iterator[Finding]:
    paper = Paper(figures, "hansel")
    for dataset, named in (("hansel-fs", "CA minus mGENRE"), ("hansel-zs", "CA minus best mGENRE")):
        models = [figure for figure in paper.all("5", dataset=dataset) if figure.system.startswith("mGENRE")]
        best = max(models, key=lambda figure: figure.value)
        yield from follows("difference", paper("text", named), difference, paper("5", "CA", dataset=dataset), best)
    within, right = (paper("5", name, dataset="hansel-fs", metric=at) for name, at in LIMITS)
    missed = paper("text", "CA", about="errors: not among the ten candidates")
    yield from follows("ratio", missed, lambda within, right: percentage(100 - within, 100 - right), within, right)
    counts = [paper("text", "CA-tuned", about=f"errors: {cause}") for cause in CAUSES]
    for cause, count in zip(CAUSES, counts, strict=True):
        share = paper("text", "CA-tuned", about=f"share of errors: {cause}")
        errors = sum(one.value for one in counts)
        yield from follows("ratio", share, lambda some, errors=errors: percentage(some, errors), count)
    for size in find(paper.all("text-statistics"), system="size"):
        other = paper("1", size.where["dataset"], counted=size.where["about"], part="total")
        yield from follows("same-figure", size, same, other)
    for times in find(paper.all("text-statistics"), system="times tac-kbp2017 few-shot"):
        sizes = [paper("12", name, counted=times.where["about"], part="total") for name in COMPARED]
        yield from follows("ratio", times, ratio, *sizes)
    for dataset in ("hansel-fs", "hansel-zs"):
        yield from hansel_agreement(paper, {"dataset": dataset})


LIMITS = (("AT", "recall@10"), ("CA", "recall@1"))
COMPARED = ("hansel-fs", "tac-kbp2017 few-shot")


def hansel_agreement(paper: Paper, where: Mapping[str, str]) -> Iterator[Finding]:
    agreed, changed = (
        paper("text-statistics", "annotator and expert", about=about, **where)
        for about in ("agreement", "changed by the expert")
    )
    yield from follows("sum", changed, lambda agreed: 100 - agreed, agreed)
    kappa, agreement, accuracy = (
        paper("text-statistics", "two annotators", about=about, **where)
        for about in ("kappa", "agreement", "accuracy")
    )
    yield from at_most("kappa", kappa, highest_kappa, agreement, accuracy)
    *others, last = find(paper.all("text-statistics"), system="domains", **where)
    yield from follows("sum", last, lambda *shares: 100 - total(*shares), *others)
