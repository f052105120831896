"""The datasheet beside a temporal dataset: the questions of the paper's A.2, answered with this dataset's numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from entlink.datasets.temporal.card import Addition, TemporalReport
from entlink.datasets.temporal.figures import FILTERS, MENTIONS
from entlink.datasets.temporal.filters import Step
from entlink.datasets.temporal.options import TABLE_1
from entlink.datasets.temporal.rows import CARD, CATEGORIES, FIGURES, POOL, SUBSETS, snapshot_folder

# What each filter takes out, in the words of this dataset.
_FILTERS = {
    "min_men_prior_rank": "mentions that lead to their entity better than its others, by rank of P(e|m)",
    "max_men_prior": "mentions that mean their entity too often, by P(e|m)",
    "min_nr_inlinks": "entities with too few incoming links",
    "min_len_target_ent": "entities whose page has too few tokens",
    "min_ent_prior": "entities with too small a share of all links",
    "max_ent_prior": "entities with too large a share of all links",
    "min_men_prior": "mentions that hardly ever mean their entity, by P(e|m)",
    "min_mens_per_ent": "mentions that are linked to their entity too seldom",
    "ed_men_title": "mentions too near to the title of their entity",
    "redirects": "links that name a redirect",
    "category": "entities that are neither continual nor new",
    "ed_men_subsets": "entities without mentions unlike enough for three subsets",
    "nr_ct_ents_per_cut": "continual entities beyond the number wanted",
    "max_mens_per_ent": "mentions beyond the number wanted of an entity",
    "equal_snapshots": "mentions beyond those of the snapshot that has fewest",
}


def datasheet(report: TemporalReport) -> str:
    """The page, as Markdown."""
    lines = [
        "# Datasheet",
        "",
        "Mentions in a wiki that link to its entities, as of several dates, made by "
        f"`entlink datasets build temporal` (entlink {report.entlink}). The questions are those of the datasheet of "
        f"TempEL (A.2); `{CARD}` has all numbers and checksums.",
        *_motivation(),
        *_composition(report),
        *_filters(report),
        *_collection(report),
        *_uses(report),
        *_maintenance(report),
    ]
    return "\n".join(lines) + "\n"


def _motivation() -> Iterator[str]:
    yield from ("", "## Motivation", "")
    yield (
        "To measure how entity linking fares when mentions and entities change: a linker trained on one date is "
        "asked for mentions of another. Who made the dataset, and for whom, the program does not know: write it here."
    )


def _composition(report: TemporalReport) -> Iterator[str]:
    options, several = report.options, f"{len(report.snapshots)} snapshots"
    yield from ("", "## Composition", "", "**What do the instances represent?**", "")
    yield (
        f"A mention on a page, linked to its target, a page of the same wiki, as of a date: {report.rows:,} in "
        f"{several} from {report.snapshots[0]} to {report.snapshots[-1]}. *Continual* targets are in all snapshots "
        "and were created before the first interval; *new* ones were created in the interval that ends at their "
        "snapshot."
    )
    yield from ("", "**How many are there?**", "")
    heads = [f"{category}, {subset}" for category in CATEGORIES for subset in SUBSETS]
    yield from _table(
        ["snapshot", *heads, "continual entities", "new entities", "candidate pool", "links in the wiki"],
        (
            [
                snapshot_folder(one.date),
                *(one.rows[category][subset] for category in CATEGORIES for subset in SUBSETS),
                *(one.entities[category] for category in CATEGORIES),
                one.pool,
                one.links,
            ]
            for one in report.contents
        ),
    )
    yield from ("", "**What does each instance consist of?**", "")
    length = "word pieces" if options["tokenizer"] else "words"
    yield (
        f"Cleaned text around the mention, up to {options['context_len']} {length} to the left and to the right, the "
        "cleaned text of the target's page, and the other attributes of Table 2."
        + (
            " Texts are there as word pieces, too, in fields named `…_bert_tokenized`."
            if options["tokenizer"]
            else ""
        )
    )
    yield from ("", "**Is there a label?**", "")
    yield "The target: `target_page_id`, and `target_qid` where a table `page_props` names its item of Wikidata."
    yield from ("", "**Is any information missing?**", "")
    yield (
        "`target_qid` is null where no item is known; a date of creation is empty where the history does not begin "
        "with the page's first revision."
    )
    yield from ("", "**Are there recommended splits?**", "")
    yield (
        "Train, validation and test. Mentions of one entity in different subsets are at least "
        f"{options['ed_men_subsets']} apart (edits ÷ length of the longer), in all snapshots together."
    )
    yield from ("", "**Are there errors?**", "")
    yield (
        "Links are as the wiki's authors set them. Of each page the revision is taken that was shown longest in the "
        f"{options['stable_interval']:,} seconds before a snapshot, so that little vandalism enters."
    )
    yield from ("", "**Is the dataset self-contained?**", "")
    yield f"Yes: `{POOL}` of each snapshot has all entities that a mention of it may mean, with their texts."
    yield from ("", "**May it offend, or identify people?**", "")
    yield "It says what the wiki's pages say. Names of editors are not in it."


def _filters(report: TemporalReport) -> Iterator[str]:
    yield from ("", "**Is it a sample?**", "")
    yield (
        "Yes. These filters were applied, in this order, each to what those before it left; by snapshot, the least "
        "and the largest share of mentions that it removed. `alone` is the share that it would remove of all."
    )
    for addition in report.additions:
        yield from ("", f"Snapshots {', '.join(map(snapshot_folder, addition.snapshots))}:", "")
        yield from _table(
            ["filter", "takes out", "value", "mentions before", "left", "removed", "alone"],
            (_filter_row(step, report.options, addition) for step in addition.filters),
        )
    yield from ("", f"![The share that each filter removes]({FIGURES}/{FILTERS})", "")
    yield f"![Mentions per entity]({FIGURES}/{MENTIONS})"


def _filter_row(step: Step, options: dict[str, Any], addition: Addition) -> list[object]:
    name = f"{step.number}. {step.name}" if step.number else step.name
    first = addition.filters[0].before
    removed = [1 - left / before for left, before in zip(step.left, step.before, strict=True) if before]
    alone = [some / whole for some, whole in zip(step.alone, first, strict=True) if some is not None and whole]
    told = options.get(step.name, "")
    value = "/".join(map(str, told)) if isinstance(told, list | tuple) else told
    return [name, _FILTERS[step.name], value, sum(step.before), sum(step.left), _range(removed), _range(alone)]


def _range(shares: list[float]) -> str:
    if not shares:
        return ""
    low, high = f"{min(shares):.2%}", f"{max(shares):.2%}"
    return low if low == high else f"{low} – {high}"


def _collection(report: TemporalReport) -> Iterator[str]:
    yield from ("", "## Collection and preprocessing", "")
    for addition in report.additions:
        sources = ", ".join(f"`{one.name}` ({one.bytes:,} bytes)" for one in addition.sources)
        yield (
            f"- {addition.built}: {sources}; `{addition.command}`"
            if addition.command
            else (f"- {addition.built}: {sources}")
        )
        if addition.skipped:
            yield f"  {addition.skipped:,} pages were left out; the first are listed in `{CARD}`."
    yield from ("", "Wikitext was parsed and cleaned by entlink; templates with a known rule were expanded.", "")
    yield from _table(["hyperparameter", "value"], ([name, _value(report.options[name])] for name in TABLE_1))
    others = [name for name in report.options if name not in TABLE_1]
    yield from ("", "Not in the paper's Table 1: " + ", ".join(f"`{n}` = {report.options[n]}" for n in others) + ".")


def _uses(report: TemporalReport) -> Iterator[str]:
    yield from ("", "## Uses", "")
    yield (
        "Entity linking over time: `entlink study time`. The licence is that of the wiki's texts; name it when you "
        "pass the dataset on."
    )


def _maintenance(report: TemporalReport) -> Iterator[str]:
    yield from ("", "## Maintenance", "")
    yield (
        "`entlink datasets build temporal HISTORY -o DIR --add-snapshots DATES` adds snapshots; rows that are there "
        "stay as they are."
    )
    for addition in report.additions[1:]:
        yield ""
        added = ", ".join(map(snapshot_folder, addition.snapshots))
        gone = len({one.target_page_id for one in addition.missing})
        yield (
            f"Added {addition.built}: {added}. {gone:,} continual entities are missing from at least one of them, "
            f"and are listed in `{CARD}`."
        )
        yield from (f"- {name}: {there:,} rows of {wanted:,}" for name, (there, wanted) in addition.fewer.items())


def _table(head: list[str], rows: Iterable[list[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in row)} |"


def _value(value: object) -> object:
    if isinstance(value, list | tuple):
        return "/".join(map(str, value))
    return str(value) if isinstance(value, bool) else value
