"""`entlink kb split`: known and new entities."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import number_of, say, say_json
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink_cli.parsing import Namespace, Parser


def _configure(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument(
        "--known",
        metavar="OLD",
        required=True,
        help="what has the known entities: another knowledge base, a dump of Wikidata, a table, or a .txt file with "
        "an id in each line",
    )
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder to make")
    parser.add_argument(
        "--validation",
        metavar="N",
        type=values.weight,
        default=1000,
        help="hold out N whole texts of known entities for validation (default: 1000)",
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="another choice of texts to hold out")
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="at a bad record of OLD: stop (default), or leave it out",
    )
    options.machine(parser)
    parser.add_argument("--replace", action="store_true", help="put it in place of one that is there")
    options.quiet(parser)
    options.as_json(parser, "print the report as JSON")


def _split(arguments: Namespace) -> None:
    from entlink.datasets.known import SplitOptions, split
    from entlink.datasets.known.split import ADDED, KNOWN_KB, TRAIN, VALIDATION

    chosen = SplitOptions(
        arguments.validation, arguments.seed, arguments.on_error, arguments.memory, arguments.processes
    )
    with progress(quiet=arguments.quiet) as report:
        done = split(
            arguments.kb,
            arguments.known,
            arguments.output,
            chosen,
            replace=arguments.replace,
            command=shlex.join(["entlink", *arguments.words]),
            progress=report,
        )
    if arguments.json:
        say_json(done)
    elif not arguments.quiet:
        pages = number_of(done.new_without_item, "page")
        new = f"{done.new:,} new ones in {ADDED}"
        new += f", of which {pages} without an item" if done.new_without_item else ""
        say(
            f"{arguments.output}: {done.known:,} known entities in {KNOWN_KB}, {new}",
            *(
                f"  {name}: {number_of(done.documents[name], 'text')}, {number_of(done.mentions[name], 'mention')}"
                for name in (TRAIN, VALIDATION)
            ),
        )


COMMANDS = {
    "kb split": Command(
        _split,
        _configure,
        "Split a knowledge base into entities that OLD has, too, and new ones. DIR/known.kb has the known ones, and "
        "counts no text of a new one and no link to one. DIR/new.jsonl has the new ones, which `kb add` takes. "
        "DIR/train.jsonl and DIR/validation.jsonl have texts of known entities, with links to known ones as gold.",
        ("entlink kb split shop.kb --known samples/products.csv -o shop-split",),
    ),
}
