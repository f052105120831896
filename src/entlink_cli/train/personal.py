"""`entlink train personal`: weights that find and resolve personal mentions, fitted to conversations with gold."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, number_of, say, say_json
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.learning.personal.training import ChoiceScore, PersonalReport
    from entlink_cli.parsing import Namespace, Parser


def _configure(parser: Parser) -> None:
    parser.add_argument(
        "data",
        metavar="DATA",
        nargs="+",
        help="conversations with gold of personal mentions, such as ConEL's, of any format entlink reads",
    )
    parser.add_argument("--kb", metavar="NAME.kb", required=True, help="the folder of the knowledge base")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the file of the weights, as JSON")
    parser.add_argument(
        "--held-out",
        metavar="FILE",
        action="append",
        default=[],
        help="do not learn from conversations whose ids stand in this file, for it is to be scored; can be repeated",
    )
    parser.add_argument(
        "--format", metavar="F", help="format of the conversations (default: told from their content)"
    )
    parser.add_argument(
        "--config",
        metavar="C",
        help="the linker that finds what speakers name: a TOML file, a saved linker, or one in the box (default: the "
        "linker beside the knowledge base, if there is one)",
    )
    parser.add_argument(
        "--seed", metavar="S", type=values.weight, default=0, help="what the parts of cross-validation depend on"
    )
    options.as_json(parser)
    options.quiet(parser)


def _train(arguments: Namespace) -> None:
    import msgspec

    from entlink.learning.personal.training import train_personal

    with progress(quiet=arguments.quiet) as report:
        found = train_personal(
            arguments.kb,
            arguments.data,
            arguments.output,
            held_out=arguments.held_out,
            format=arguments.format,
            config=arguments.config,
            seed=arguments.seed,
            command=shlex.join(["entlink", *arguments.words]),
            progress=report,
        )
    if arguments.json:
        say_json(msgspec.to_builtins(found))
    elif not arguments.quiet:
        say(*_lines(found))
    if not arguments.quiet:
        note(f"saved as {arguments.output}")


def _lines(found: PersonalReport) -> list[str]:
    right, all = found.ends
    told = f"{number_of(found.phrases, 'phrase')} in {number_of(found.documents, 'conversation')}, cross-validated"
    rows = [
        _row("what gold says was named", found.with_gold),
        _row("what the linker found", found.with_found),
    ]
    return [
        told,
        f"where phrases end: {right:,} of {all:,} words right",
        *columns([("resolved to", "right", "wrong", "missed", "rightly left alone", "accuracy"), *rows]),
    ]


def _row(name: str, score: ChoiceScore) -> tuple[str, ...]:
    told = f"{score.right:,}", f"{score.linked - score.right:,}", f"{score.told - score.right:,}", f"{score.left:,}"
    return name, *told, f"{score.accuracy:.3f}"


COMMANDS = {
    "train personal": Command(
        _train,
        _configure,
        "Fit the weights that find personal mentions, such as my favourite singer, and resolve them to what their "
        "speaker named, to conversations with gold. A linker uses them with personal = 'FILE' under [conversation] "
        "in its configuration; those in the box were fitted so to ConEL-2. Needs pip install 'entlink[eval]'.",
        ("entlink train personal samples/personal.jsonl --kb wiki.kb -o personal.json",),
    ),
}
