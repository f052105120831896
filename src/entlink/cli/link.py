"""`entlink link`: documents in, linked documents out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from entlink.cli import options
from entlink.cli.output import note, number_of, say
from entlink.cli.parsing import Command

if TYPE_CHECKING:
    from collections.abc import Callable

    from entlink.cli.given import Given
    from entlink.cli.parsing import Namespace, Parser
    from entlink.cli.sink import Write
    from entlink.documents import Document
    from entlink.errors import EntlinkError
    from entlink.explain import Explanation
    from entlink.formats.markup import Aligned
    from entlink.linker import Linker

_PROBLEMS_SHOWN = 5
_PATIENCE = 2.0


def _configure(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="a file, plain or compressed; without it, or with -, stdin"
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="write documents as JSON lines to this file")
    parser.add_argument(
        "--input",
        choices=("auto", "text", "markdown", "html", "jsonl"),
        default="auto",
        help="what the file holds (default: told from its name, and from a first { for JSON lines)",
    )
    parser.add_argument(
        "--mentions",
        choices=("detect", "given"),
        default="detect",
        help="find names (default), or link only the spans that the documents give",
    )
    options.linking(parser)
    parser.add_argument("--candidates", action="store_true", help="write each link's candidates too")
    parser.add_argument("--explain", action="store_true", help="say of every name why it was or was not linked")
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="at a bad document: stop (default), or leave it out and tell",
    )
    options.as_json(parser, "write JSON lines also to a terminal, and for --explain")


def _link(arguments: Namespace) -> None:
    from entlink.cli.given import open_given
    from entlink.cli.progress import progress
    from entlink.cli.sink import sink

    linker = options.make_linker(arguments, arguments.mentions)
    problems = _Problems()
    with (
        open_given(arguments.file, arguments.input) as given,
        sink(arguments.output) as write,
        progress(patience=_PATIENCE, quiet=not given.size or _shows_text(arguments)) as report,
    ):
        tally = _Tally()
        handle = _explainer(arguments, linker, write) if arguments.explain else _writer(arguments, linker, write)
        for document, aligned in _documents(given, arguments.on_error, problems):
            tally.count(handle(document, aligned))
            report("linking", given.position(), given.size)
    problems.tell_rest()
    if arguments.output and arguments.output != "-":
        note(f"{arguments.output}: {tally}")
