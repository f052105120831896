"""`entlink datasets convert`: documents from one format to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink_cli import options
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import note, number_of
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink_cli.parsing import Namespace, Parser

# Those of `entlink.formats.public.catalogue` that are written, which help must not wait for.
WRITTEN = ("elevant", "blink", "aida", "nif", "neleval", "jsonl")
_PATIENCE = 2.0


def _configure(parser: Parser) -> None:
    parser.add_argument("source", metavar="FILE", help="documents of any format that entlink reads")
    parser.add_argument("--to", choices=WRITTEN, required=True, help="the format to write")
    parser.add_argument("-o", "--output", metavar="OUT", help="the file to make (default: stdout)")
    parser.add_argument("--format", metavar="F", help="format of FILE (default: told from its content)")
    parser.add_argument(
        "--write",
        choices=("gold", "links"),
        help="write only the gold, or only the links of a linker (default: gold if there is any, else links; "
        "jsonl has both)",
    )
    parser.add_argument(
        "--on-error", choices=("stop", "skip"), default="stop", help="at a bad record: stop (default) or leave it out"
    )
    options.quiet(parser)


def _convert(arguments: Namespace) -> None:
    from entlink.formats.converting import convert
    from entlink_cli.terminal.sink import as_file, sink

    skipped: list[str] = []
    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report, sink(arguments.output) as write:
        made = convert(
            arguments.source,
            as_file(write),
            arguments.to,
            format=arguments.format,
            write=arguments.write,
            on_error=arguments.on_error,
            on_problem=lambda error: skipped.append(str(error)),
            progress=report,
        )
    for problem in skipped[:5]:
        note(f"left out: {problem}")
    if not arguments.quiet:
        size = f"{number_of(made.documents, 'document')}, {number_of(made.gold, 'gold link')}"
        note(f"{made.source} to {made.target}: {size}, {number_of(made.links, 'link')}")


COMMANDS = {
    "datasets convert": Command(
        _convert,
        _configure,
        "Write documents in another format: gold if there is any, else links, or what `--write` says. What a format "
        "cannot hold is an error, or left out, as the pages on formats say.",
        (
            "entlink datasets convert samples/conversations.jsonl --to neleval -o gold.tsv",
            "entlink datasets convert samples/article.gold.jsonl --to nif -o article.ttl",
        ),
    ),
}
