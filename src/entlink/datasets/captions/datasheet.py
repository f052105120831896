"""The datasheet of a set of captions: what it is for, what is in it, how it was made, and what to mind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from entlink.datasets.captions.entity_types import TYPE_LISTS
from entlink.datasets.captions.options import CaptionOptions
from entlink.datasets.captions.report import CaptionsReport
from entlink.datasets.captions.statistics import (
    BUCKETS,
    PUBLISHED,
    PUBLISHED_DIFFERENT,
    PUBLISHED_NONE,
    PUBLISHED_OVER_TEN,
    PUBLISHED_TOTALLY,
    UNTYPED,
    CaptionStatistics,
)

_MOST = 30  # rows of a table
_NUMBERS = ("mentions", "linked", "nil", "entities", "pages", "pictures")
_NUMBER_NAMES = ("mentions", "… to entities", "… NIL", "different entities", "pages", "pairs with a picture")


def datasheet(report: CaptionsReport, options: CaptionOptions) -> str:
    """The datasheet as Markdown. It has no time and no place in it: the same set has the same one."""
    parts = (
        _purpose(report),
        _composition(report, options),
        _difficulty(report.total),
        _collection(report),
        _making(report, options),
        _uses(report),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def _purpose(report: CaptionsReport) -> Iterator[str]:
    yield from ("# Datasheet: captioned pictures with links", "", "## Purpose", "")
    yield (
        "Captions of pictures with the links that authors set in them. It measures, and can train, entity linking "
        "with pictures. Nobody annotated it for that: a name that no author linked is no gold."
    )
    yield from (
        "",
        f"Made by entlink {report.entlink}; `card.json` beside this file has the command and all options. "
        "Published figures are those of WikiDiverse (paper 4), whose gold was annotated by people.",
    )


def _composition(report: CaptionsReport, options: CaptionOptions) -> Iterator[str]:
    yield from ("", "## Composition", "")
    yield "A line of JSON is a captioned picture in entlink's document format: text, image, gold."
    columns = _columns(report)
    yield from ("", f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|")
    yield _row("pairs", (f"{one.pairs:,}" for one in columns.values()))
    yield _row("mentions per pair", (f"{one.mentions_per_pair:.2f}" for one in columns.values()))
    yield _row("words per pair", (f"{one.words_per_pair:.2f}" for one in columns.values()))
    for name, field in zip(_NUMBER_NAMES, _NUMBERS, strict=True):
        yield _row(name, (f"{getattr(one, field):,}" for one in columns.values()))
    if set(PUBLISHED) == set(columns):
        published = [PUBLISHED[name] for name in columns]
        yield _row("pairs, published", (f"{one.pairs:,}" for one in published))
        yield _row("mentions per pair, published", (f"{one.mentions_per_pair:.2f}" for one in published))
        yield _row("words per pair, published", (f"{one.words_per_pair:.2f}" for one in published))
    known = [name for name in TYPE_LISTS[options.type_list] if name in report.total.types]
    yield from ("", "Mentions by type (the paper shows its own in a figure only):", "")
    yield from _shares("type", report.total.types, [*known, *sorted({*report.total.types} - {*known, UNTYPED})])
    yield from ("", "Pairs by topic:", "")
    topics = sorted(report.total.topics, key=lambda name: (-report.total.topics[name], name))
    yield from _shares("topic", report.total.topics, topics)


def _columns(report: CaptionsReport) -> Mapping[str, CaptionStatistics]:
    return {**{file.name.removesuffix(".jsonl"): file.statistics for file in report.files}, "total": report.total}


def _row(name: str, cells: Iterator[str] | Sequence[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def _shares(name: str, counts: Mapping[str, int], order: Sequence[str]) -> Iterator[str]:
    total = sum(counts.values())
    yield from (f"| {name} | number | share |", "|---|---|---|")
    for one in order[:_MOST]:
        yield f"| {_plain(one)} | {counts[one]:,} | {counts[one] / total:.2%} |"
    rest = sum(counts.values()) - sum(counts[one] for one in order[:_MOST])
    if rest:
        yield f"| others, and {UNTYPED} | {rest:,} | {rest / total:.2%} |"


def _difficulty(total: CaptionStatistics) -> Iterator[str]:
    yield from ("", "## Difficulty", "", "Linked mentions beside the title of their entity:", "")
    yield from ("| | share | published |", "|---|---|---|")
    rows = (
        ("different as written", ("folded", "partly", "different"), PUBLISHED_DIFFERENT),
        ("different once folded: case and signs do not count", ("partly", "different"), None),
        ("totally different: no token in common once folded", ("different",), PUBLISHED_TOTALLY),
    )
    for name, values, published in rows:
        yield _row(name, (f"{total.share('surfaces', *values):.2%}", "" if published is None else f"{published:.2%}"))
    yield from ("", "The paper does not say what it takes for different: these definitions are entlink's.")
    yield from ("", "Entities that the knowledge base knows by the name of a mention, NIL included:", "")
    yield from ("| entities | share | published |", "|---|---|---|")
    published_shares = {BUCKETS[0]: PUBLISHED_NONE, BUCKETS[-1]: PUBLISHED_OVER_TEN}
    for name in BUCKETS:
        shown = published_shares.get(name)
        yield _row(name, (f"{total.share('candidates', name):.2%}", "" if shown is None else f"{shown:.2%}"))
    yield from (
        "",
        f"Linked mentions whose entity has the picture of the caption: {_listed(total.same_picture)}. A linker that "
        "compares pictures finds these without reading: score them apart (`gold:picture`).",
    )


def _collection(report: CaptionsReport) -> Iterator[str]:
    yield from ("", "## Collection", "")
    yield from ("| source | format | captions | skipped | SHA-256 |", "|---" * 5 + "|")
    for one in report.sources:
        yield f"| {_plain(one.name)} | {one.format} | {one.records:,} | {one.skipped:,} | `{one.sha256[:16]}…` |"
    where = f"Pictures are from `{report.pictures}`" if report.pictures else "Pictures were not looked at"
    entities = report.kb.manifest.entities
    yield from (
        "",
        f"{where}. Links were looked up in `{report.kb.name}`, {entities:,} entities, SHA-256 "
        f"`{report.kb.sha256[:16]}…`.",
    )


def _making(report: CaptionsReport, options: CaptionOptions) -> Iterator[str]:
    yield from ("", "## Making", "")
    copies = "not looked for" if options.near_copies is None else f"a cosine above {options.near_copies:g}"
    list_of = "annotation (4.2)" if options.type_list == "annotation" else "guidelines (A.1)"
    steps = (
        f"What became of captions: {_listed(report.captions)}.",
        f"Captions need {options.min_words} words and {options.min_mentions} mentions. A list of "
        f"{len(options.profanity):,} entries took out profane ones.",
        f"Links to nothing in the knowledge base are {'NIL' if options.nil == 'keep' else 'left out'}; mentions left "
        f"out: {_listed(report.mentions)}.",
        f"Types are those of the paper's {list_of}, by types of the knowledge base and {len(options.types):,} rows "
        f"of the user; topics by {len(options.topics):,} rows and the types of the page.",
        "GIF, TIFF and others became PNG, of animations the first frame. Videos are left out unless a frame was "
        "there.",
        f"Pictures are the same by name or content; near-copies: {copies}"
        + (f" by {report.encoder}." if report.encoder else "."),
        f"A page with all its captions is in one file, by the hash of {options.seed} and its id: "
        f"{', '.join(f'{name} {share:.0%}' for name, share in options.split.items())}.",
    )
    yield from (f"{number}. {step}" for number, step in enumerate(steps, 1))
    if report.named:
        yield from ("", "Left out for their picture:", "")
        yield from (f"- {_plain(name)}" for name in report.named)


def _uses(report: CaptionsReport) -> Iterator[str]:
    yield from ("", "## To mind", "")
    yield from (
        "- Gold is incomplete: authors link a name once, and seldom what everybody knows. Precision of detection is "
        "a lower bound.",
        "- A knowledge base made of the same pages has counted these links: its names know the answers.",
        "- NIL is what this knowledge base lacks, and a link to a disambiguation page is NIL, too.",
        "- Rights in texts and pictures are their authors', picture by picture. Ask before you pass the set on.",
        "- Profanity is found by a list alone, and no picture was looked at for what may offend.",
    )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


def _plain(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
