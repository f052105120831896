"""`entlink tune`: settings of a linker chosen on documents with gold, saved beside the knowledge base."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from entlink_cli import options, values
from entlink_cli.fields import given_fields
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, say, say_json
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from pathlib import Path

    from entlink.learning.fit.judging import Judging
    from entlink.learning.fit.tune import Tuned
    from entlink_cli.parsing import Namespace, Parser

_PATIENCE = 2.0


def _configure(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument(
        "data", metavar="DATA", nargs="+", help="documents with gold, of any format that entlink reads"
    )
    parser.add_argument("--format", metavar="F", help="format of the data (default: told from its content)")
    options.saved_linker(parser)
    parser.add_argument(
        "--by",
        choices=("weights", "quotas"),
        default="weights",
        help="how candidates are fused: by weighted scores (default), or by slots for each retriever",
    )
    parser.add_argument(
        "--keep", metavar="K", type=values.whole, default=10, help="candidates a mention keeps (default: 10)"
    )
    parser.add_argument(
        "--limit", metavar="N", type=values.whole, default=5000, help="mentions to learn from (default: 5000)"
    )
    parser.add_argument(
        "--only",
        choices=("fusion", "ranker", "nil"),
        help="choose the fusion only, the ranker's weights only, or when to say NIL by what the linker finds itself "
        "(default: the first two)",
    )
    parser.add_argument(
        "--seed", metavar="S", type=values.weight, default=0, help="what chance depends on (default: 0)"
    )
    options.as_json(parser)
    options.quiet(parser)


def _tune(arguments: Namespace) -> None:
    import msgspec

    folder, found, lines = _tuned_nil(arguments) if arguments.only == "nil" else _tuned(arguments)
    if arguments.json:
        say_json(msgspec.to_builtins(found))
    elif not arguments.quiet:
        say(*lines)
    if not arguments.quiet:
        options.note_saved(folder)


def _tuned(arguments: Namespace) -> tuple[Path, Tuned, list[str]]:
    from entlink.learning.fit.saving import tune_on_files
    from entlink.learning.fit.tune import TuneOptions

    wanted = TuneOptions(
        **given_fields(arguments, TuneOptions)
        | {"fusion": arguments.only != "ranker", "ranker": arguments.only != "fusion"}
    )
    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        folder, found = tune_on_files(arguments.kb, arguments.data, wanted, **_files(arguments), progress=report)
    return folder, found, _lines(found)


def _tuned_nil(arguments: Namespace) -> tuple[Path, Judging, list[str]]:
    from entlink.learning.fit.saving import tune_nil_on_files

    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        folder, found = tune_nil_on_files(
            arguments.kb, arguments.data, seed=arguments.seed, **_files(arguments), progress=report
        )
    return folder, found, _nil_lines(found)


def _files(arguments: Namespace) -> dict[str, Any]:
    """What to start from, how to read the data, and where to save."""
    return {
        "config": arguments.config,
        "output": arguments.output,
        "format": arguments.format,
        "command": shlex.join(["entlink", *arguments.words]),
    }


def _nil_lines(found: Judging) -> list[str]:
    rows = [
        (name, *(f"{share:.3f}" for share in (one.precision, one.recall, one.f1)))
        for name, one in (("without NIL", found.before), ("with it", found.after))
    ]
    weights = ", ".join(f"{name} {weight:.3g}" for name, weight in found.weights.items())
    return [
        f"{found.links:,} links found, {found.right:,} of them right; {found.gold:,} in the gold",
        *columns([("links, on parts held out", "precision", "recall", "F1"), *rows]),
        f"NIL below {found.threshold:g}; {weights}",
    ]


def _lines(found: Tuned) -> list[str]:
    rows = [
        ("", "before", "after"),
        (f"R@{found.keep} of the fusion", f"{found.recall_before:.3f}", f"{found.recall:.3f}"),
        ("accuracy of the ranker", f"{found.accuracy_before:.3f}", f"{found.accuracy:.3f}"),
        ("the same, fitted on the other half", f"{found.held_out_before:.3f}", f"{found.held_out:.3f}"),
    ]
    weights = ", ".join(f"{name} {weight:g}" for name, weight in found.fusion.items())
    features = ", ".join(f"{name} {weight:.3g}" for name, weight in found.weights.items())
    stayed = "; as before, since those fitted on one half did worse on the other"
    return [
        f"{found.mentions:,} mentions; all retrievers together reach {found.pool_recall:.3f}",
        *columns(rows),
        *([f"fusion: {weights}"] if weights else []),
        f"ranker: {features}{stayed if found.held_out < found.held_out_before else ''}",
    ]


COMMANDS = {
    "tune": Command(
        _tune,
        _configure,
        "Choose on documents with gold how the retrievers of a linker are fused (a grid of weights or of slots, for "
        "the best R@K) and what its ranker weighs; or, with `--only nil`, which of the links that it finds by itself "
        "to believe. The linker is saved beside the knowledge base, where `entlink link` finds it: for "
        "spans that are given, or with `--only nil` for texts, too. "
        "Gold that the knowledge base lacks teaches nothing and is left out, but for NIL.",
        (
            "entlink tune wiki.kb samples/conversations.jsonl --config zero-shot -o tuned.linker",
            "entlink link wiki.kb samples/conversations.jsonl --config tuned.linker -o tuned.jsonl",
        ),
    ),
}
