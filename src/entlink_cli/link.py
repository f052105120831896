"""`entlink link`: documents in, linked documents out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, BinaryIO, cast

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import note, number_of, say

if TYPE_CHECKING:
    from entlink.documents import Document
    from entlink.errors import EntlinkError
    from entlink.formats.documents.inputs import Holds, OpenDocuments
    from entlink.linking.dated import DatedLinker
    from entlink.linking.link_file import LinkedFile
    from entlink.linking.linker import Linker
    from entlink_cli.parsing import Namespace, Parser
    from entlink_cli.terminal.progress import Report

_PROBLEMS_SHOWN = 5
_SPEAKERS_SHOWN = 10
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
        choices=("detect", "given", "gold"),
        default="detect",
        help="find names (default), or link only the spans that the documents give, or those of their gold, whose "
        "entities no stage sees; a file with gold may be of any format that entlink reads",
    )
    parser.add_argument(
        "--gold-format", metavar="F", help="format of the gold, for --mentions gold (default: told from its content)"
    )
    parser.add_argument(
        "--turns",
        metavar="SPEAKER",
        action="append",
        default=[],
        type=values.text,
        help="of conversations, link only the turns of this speaker, in any case; the others are context. Can be "
        "repeated",
    )
    options.linking(parser, documents=True)
    options.personal(parser)
    parser.add_argument("--candidates", action="store_true", help="write each link's candidates too")
    parser.add_argument(
        "--view",
        action="store_true",
        help="show the reading view also where it is no terminal, with links in brackets",
    )
    parser.add_argument("--explain", action="store_true", help="say of every name why it was or was not linked")
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="at a bad document: stop (default), or leave it out and tell",
    )
    options.as_json(parser, "write JSON lines also to a terminal, and for --explain")
    options.engine(parser)
    parser.add_argument(
        "--ship",
        action="store_true",
        help="with --engine spark: send the knowledge base to workers that do not see it",
    )


def _link(arguments: Namespace) -> None:
    from entlink.formats.documents.inputs import open_documents
    from entlink_cli.terminal.progress import progress

    _check_ways_out(arguments)
    if arguments.engine == "spark":
        _link_on_spark(arguments)
        return
    linker = options.make_linker_of_documents(arguments, arguments.mentions)
    problems, speakers = _Problems(), _Speakers(arguments.turns)
    with (
        open_documents(
            _source(arguments), _holds(arguments), name="<stdin>", gold_format=arguments.gold_format
        ) as source,
        progress(patience=_PATIENCE, quiet=_is_shown(arguments)) as report,
    ):
        _check_input(arguments, source)
        if arguments.explain:
            _explain(arguments, linker, source, problems, speakers)
        else:
            linked = _write(arguments, linker, source, problems, speakers, report)
            if arguments.mentions == "gold" and not linked.links + linked.nils:
                note("no document has gold with a span, so that nothing was linked. Is FILE the file with the gold?")
    problems.tell_rest()
    speakers.tell_of_missing()
    if _is_file(arguments.output):
        made = f"{number_of(linked.documents, 'document')}, {number_of(linked.links, 'link')}, {linked.nils:,} NIL"
        note(f"{arguments.output}: {made}")


def _link_on_spark(arguments: Namespace) -> None:
    """Parquet or JSON lines in, Parquet out, on any file system that Spark reads and writes."""
    from entlink.engine.spark_session import telling
    from entlink.linking.as_of import DOCUMENT
    from entlink.plugs.spark import link_frame

    for name in ("explain", "view", "json", "candidates"):
        if getattr(arguments, name):
            arguments.parser.error(f"--{name} does not go together with --engine spark")
    if not _is_file(arguments.file) or not _is_file(arguments.output):
        arguments.parser.error("--engine spark needs FILE, Parquet or JSON lines, and -o OUT.parquet")
    if arguments.as_of == DOCUMENT:
        arguments.parser.error("--as-of document does not go together with --engine spark: give a date")
    folder, settings = options.linker_settings(arguments, arguments.mentions, arguments.as_of, set())
    with options.opened_engine(arguments, lambda stage, done, total: None) as engine, telling():
        assert engine is not None
        is_parquet = ".parquet" in arguments.file and arguments.input == "auto"
        if is_parquet:
            frame = engine.session.read.parquet(arguments.file)
        else:
            frame = engine.session.read.text(arguments.file).selectExpr(
                "get_json_object(value, '$.id') AS id", "value AS document"
            )
        linked = link_frame(
            frame,
            folder,
            document=None if is_parquet else "document",
            ship=arguments.ship,
            skip=arguments.on_error == "skip",
            **settings,
        )
        linked.write.parquet(arguments.output)
    note(f"{arguments.output}: written")


def _source(arguments: Namespace) -> str | BinaryIO:
    """The file, or stdin: unbuffered, so that what a slow writer has sent so far is read at once."""
    if arguments.file is not None and arguments.file != "-":
        return str(arguments.file)
    if arguments.file is None and sys.stdin.isatty():
        note("reading from the terminal; Ctrl-D ends the text")
    return cast("BinaryIO", getattr(sys.stdin.buffer, "raw", sys.stdin.buffer))


def _holds(arguments: Namespace) -> Holds:
    is_gold = arguments.mentions == "gold" and arguments.input == "auto"
    return "gold" if is_gold else cast("Holds", arguments.input)


def _check_ways_out(arguments: Namespace) -> None:
    """Options of which one would be passed over in silence."""
    for one, other in (("view", "json"), ("view", "output"), ("view", "explain"), ("explain", "output")):
        if getattr(arguments, one) and getattr(arguments, other):
            arguments.parser.error(f"--{one} and --{other} do not go together")


def _check_input(arguments: Namespace, source: OpenDocuments) -> None:
    if source.markup and arguments.mentions == "given":
        arguments.parser.error("--mentions given needs documents with mentions, as JSON lines")
    if source.markup and arguments.mentions == "gold":
        arguments.parser.error("--mentions gold needs documents with gold")
    if arguments.gold_format and arguments.mentions != "gold":
        arguments.parser.error("--gold-format needs --mentions gold")
    if source.markup and arguments.as_of == "document":
        arguments.parser.error("--as-of document needs documents with a date, as JSON lines: give a text a date")
    if source.markup and arguments.turns:
        arguments.parser.error("--turns needs conversations with turns, as JSON lines")


def _is_shown(arguments: Namespace) -> bool:
    """Whether people read the result, so that a bar would get in its way."""
    for_people = arguments.explain or arguments.view or sys.stdout.isatty()
    return bool(for_people and not arguments.json and not arguments.output)


def _is_file(output: str | None) -> bool:
    return output is not None and output != "-"


def _write(
    arguments: Namespace,
    linker: Linker | DatedLinker,
    source: OpenDocuments,
    problems: _Problems,
    speakers: _Speakers,
    report: Report,
) -> LinkedFile:
    from entlink.linking.link_file import link_file
    from entlink_cli.terminal.sink import as_file

    shown = _is_shown(arguments)

    def take(document: Document) -> None:
        speakers.hear(document)
        if shown:
            from entlink_cli.terminal.reading_view import show

            show(document)

    return link_file(
        linker,
        source,
        None if shown else arguments.output if _is_file(arguments.output) else as_file(),
        candidates=arguments.candidates,
        on_error=arguments.on_error,
        on_problem=problems.tell,
        on_document=take,
        progress=report,
    )


def _explain(
    arguments: Namespace,
    linker: Linker | DatedLinker,
    source: OpenDocuments,
    problems: _Problems,
    speakers: _Speakers,
) -> None:
    from entlink.linking.link_file import explained_documents
    from entlink_cli.terminal.explanations import encode_explanation, explanation_lines
    from entlink_cli.terminal.output import write_bytes

    for told in explained_documents(linker, source, on_error=arguments.on_error, on_problem=problems.tell):
        speakers.hear(told.document)
        if _is_shown(arguments):
            say(f"document {told.document.id}", *explanation_lines(told), "")
        else:
            write_bytes(encode_explanation(told) + b"\n")


class _Speakers:
    """Which speakers there were, of those whose turns are wanted."""

    def __init__(self, wanted: list[str]) -> None:
        self._missing = {name.strip().casefold(): name for name in wanted}
        self._known: set[str] = set()

    def hear(self, document: Document) -> None:
        if not self._missing:
            return
        for speaker in (turn.speaker for turn in document.turns if turn.speaker is not None):
            self._missing.pop(speaker.strip().casefold(), None)
            if len(self._known) < _SPEAKERS_SHOWN:
                self._known.add(speaker)

    def tell_of_missing(self) -> None:
        """A speaker with no turn at all is most likely misspelt."""
        known = ", ".join(map(repr, sorted(self._known)))
        for name in self._missing.values():
            note(f"no turn is of {name!r}; " + (f"there are turns of {known}" if known else "no turn has a speaker"))


class _Problems:
    """Tells of the first documents left out, and of the others how many they are."""

    def __init__(self) -> None:
        self.count = 0

    def tell(self, problem: EntlinkError) -> None:
        self.count += 1
        if self.count <= _PROBLEMS_SHOWN:
            note(f"skipped: {problem}")

    def tell_rest(self) -> None:
        if self.count > _PROBLEMS_SHOWN:
            note(f"skipped: {self.count - _PROBLEMS_SHOWN:,} more, {self.count:,} in all")


COMMANDS = {
    "link": Command(
        _link,
        _configure,
        "Link the names in a text (plain, Markdown or HTML) or in documents and conversations (JSON lines, see "
        "docs/document-format.md). A terminal shows the text with its links; a file or pipe gets JSON lines.",
        (
            "entlink link shop.kb samples/chat.txt",
            "entlink link wiki.kb samples/conversations.jsonl -o linked.jsonl --candidates",
            "entlink link wiki.kb samples/conversations.jsonl --turns ana --turns ben -o linked.jsonl",
            "entlink link wiki.kb samples/conversations.jsonl --mentions gold -o linked.jsonl",
            "entlink link shop.kb samples/chat.txt --explain",
            "entlink link shop.kb samples/chat.txt --as-of 2020-05-01",
            "entlink link shop.kb - --json --type kitchen < samples/chat.txt",
        ),
    ),
}
