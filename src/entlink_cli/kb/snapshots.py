"""`entlink kb snapshots` and `diff`: a knowledge base as it was on several dates, and what changed between them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, named, say, say_json, size
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.kb.snapshots.diff import Diff, Means
    from entlink.kb.snapshots.listing import SnapshotInfo
    from entlink_cli.parsing import Namespace, Parser

_SHOWN = 10


# snapshots


def _configure_snapshots(parser: Parser) -> None:
    options.kb_argument(parser)
    options.as_json(parser)


def _snapshots(arguments: Namespace) -> None:
    from entlink.kb.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(arguments.kb, names=False) as kb:
        found = kb.snapshots()
    if arguments.json:
        say_json(found)
    elif found:
        head = ("date", "entities", "redirects", "links", "to none", "texts", "size", "indexes")
        say(*columns([head, *map(_row, found)]))
    else:
        say(f"{arguments.kb} has no snapshots; `entlink kb build HISTORY -o NAME.kb --snapshots DATES` makes some")


def _row(one: SnapshotInfo) -> tuple[str, ...]:
    from entlink.kb.snapshots.folders import short

    counts = one.entities, one.redirects, one.links, one.links_unresolved, one.texts
    return short(one.date), *(f"{count:,}" for count in counts), size(one.bytes), ", ".join(one.indexes)


# diff


def _configure_diff(parser: Parser) -> None:
    parser.add_argument("kb", metavar="A.kb", help="a knowledge base: one with snapshots, or the earlier of two")
    parser.add_argument(
        "other", metavar="B", nargs="+", help="two dates of its snapshots, or another knowledge base: B.kb"
    )
    parser.add_argument(
        "--limit",
        metavar="N",
        type=values.whole,
        help=f"list so many changes of each kind, the largest first (default: {_SHOWN}, and all with --json)",
    )
    options.quiet(parser)
    options.as_json(parser)


def _diff(arguments: Namespace) -> None:
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.kb.snapshots.diff import diff

    before, after = _sides(arguments)
    limit = arguments.limit or (None if arguments.json else _SHOWN)
    with (
        KnowledgeBase.open(before[0], date=before[1]) as one,
        KnowledgeBase.open(after[0], date=after[1]) as two,
        progress(quiet=arguments.quiet, patience=1.0) as report,
    ):
        found = diff(one, two, limit=limit, progress=report)
    if arguments.json:
        say_json(found)
    else:
        say(*_diff_lines(found))


def _sides(arguments: Namespace) -> tuple[tuple[str, str | None], tuple[str, str | None]]:
    """The two to compare, each a knowledge base and a date."""
    kb, others = arguments.kb, arguments.other
    if len(others) == 2:
        return (kb, _date(arguments, others[0])), (kb, _date(arguments, others[1]))
    if len(others) > 2 or not Path(others[0]).is_dir():
        arguments.parser.error("give two dates (NAME.kb A B), or two knowledge bases (A.kb B.kb)")
    return (kb, None), (others[0], None)


def _date(arguments: Namespace, given: str) -> str:
    from argparse import ArgumentTypeError

    try:
        values.date(given)
    except ArgumentTypeError as problem:
        arguments.parser.error(str(problem))
    return given


def _diff_lines(found: Diff) -> list[str]:
    counts = {name: f"{count:,}" for name, count in found.counts.items()}
    entities = [
        ("entities", f"{counts['before']} → {counts['after']}"),
        *((f"  {kind}", counts[kind]) for kind in ("appeared", "gone", "renamed", "changed", "unchanged")),
        ("names", f"{counts['names_before']} → {counts['names_after']}"),
        *((f"  {kind}", counts[f"names_{kind}"]) for kind in ("appeared", "gone", "moved")),
    ]
    told: dict[str, list[tuple[str, ...]]] = {
        "appeared": [(named(one.title, one.id),) for one in found.appeared],
        "gone": [(named(one.title, one.id),) for one in found.gone],
        "renamed": [(one.before, "→", one.title) for one in found.renamed],
        "changed": [
            (one.title, f"{one.similarity:.0%} alike", f"{one.words_before:,} → {one.words:,} words")
            for one in found.changed
        ],
        "names that mean something else": [
            (one.name, f"{one.moved:.0%} moved", f"{_means(one.before)} → {_means(one.after)}")
            for one in found.names_moved
        ],
        "new names": [(one.name, _means(one.means), f"support {one.support:,}") for one in found.names_appeared],
        "names that are gone": [
            (one.name, _means(one.means), f"support {one.support:,}") for one in found.names_gone
        ],
    }
    lines = [f"{found.before} → {found.after}", *columns(entities, "  ")]
    for title, rows in told.items():
        lines += ["", f"{title}:", *columns(rows, "  ")] if rows else []
    return lines


def _means(means: Means) -> str:
    return f"{means.title} {means.probability:.2f}"


COMMANDS = {
    "kb snapshots": Command(
        _snapshots,
        _configure_snapshots,
        "List the snapshots of a knowledge base, each with how much is in it. `entlink kb build --snapshots` makes "
        "them of a wiki's full history.",
        ("entlink kb snapshots shop.kb", "entlink kb snapshots shop.kb --json"),
    ),
    "kb diff": Command(
        _diff,
        _configure_diff,
        "Say what changed from one snapshot to another, or from one knowledge base to another: entities that "
        "appeared, are gone, were renamed (known by the number of their page, else by id) or are described in other "
        "words, and names that came, went or mean something else.",
        (
            "entlink kb diff shop.kb 2019-01-01 2020-05-01",
            "entlink kb build samples/products.csv -o today.kb --no-text-counts",
            "entlink kb diff shop.kb today.kb --limit 5 --json",
        ),
    ),
}
