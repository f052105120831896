"""`entlink train names`: what surfaces are linked to, learnt from documents with gold."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from entlink_cli import options
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import note, number_of, say, say_json
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink_cli.parsing import Namespace, Parser


def _configure(parser: Parser) -> None:
    parser.add_argument("data", metavar="DATA", nargs="+", help="documents with gold, of any format entlink reads")
    parser.add_argument("--kb", metavar="NAME.kb", required=True, help="the folder of the knowledge base")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the file of the names, as JSON")
    parser.add_argument("--format", metavar="F", help="format of the documents (default: told from their content)")
    options.as_json(parser)
    options.quiet(parser)


def _train(arguments: Namespace) -> None:
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.names import train_names

    with KnowledgeBase.open(arguments.kb) as kb, progress(quiet=arguments.quiet) as report:
        taught = train_names(
            kb,
            arguments.data,
            arguments.output,
            format=arguments.format,
            command=shlex.join(["entlink", *arguments.words]),
            progress=report,
        )
    if arguments.json:
        say_json({"names": len(taught.names), "mentions": taught.mentions, "unknown": taught.unknown})
    elif not arguments.quiet:
        say(
            f"{number_of(len(taught.names), 'name')} from {number_of(taught.mentions, 'mention')}; "
            f"{taught.unknown:,} lead to no entity of the knowledge base"
        )
    if not arguments.quiet:
        note(f'saved as {arguments.output}. Use it in a configuration: [[retriever]] name = "taught", model = …')


COMMANDS = {
    "train names": Command(
        _train,
        _configure,
        "Learn from documents with gold what surfaces lead to, such as synonyms and short forms that the knowledge "
        "base does not know. The retriever `taught` finds candidates by them; the knowledge base is not changed.",
        ("entlink train names samples/conversations.jsonl --kb wiki.kb -o taught.json",),
    ),
}
