"""`entlink link`: documents in, linked documents out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import note, number_of, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from entlink.documents import Document
    from entlink.errors import EntlinkError
    from entlink.io.outputs import Write
    from entlink.linking.explain import Explanation
    from entlink.linking.linker import Linker
    from entlink_cli.given import Given
    from entlink_cli.parsing import Namespace, Parser

    Emit = Callable[[Write], None]
    Result = tuple[Document, Emit]

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
        choices=("detect", "given"),
        default="detect",
        help="find names (default), or link only the spans that the documents give",
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
    options.linking(parser)
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


def _link(arguments: Namespace) -> None:
    from entlink_cli.given import open_given
    from entlink_cli.terminal.progress import progress
    from entlink_cli.terminal.sink import sink

    _check_ways_out(arguments)
    linker = options.make_linker(arguments, arguments.mentions)
    problems, tally = _Problems(), _Tally(arguments.turns)
    if arguments.file is None and sys.stdin.isatty():
        note("reading from the terminal; Ctrl-D ends the text")
    with (
        _seldom_collecting_garbage(),
        open_given(arguments.file, arguments.input) as given,
        sink(arguments.output) as write,
        progress(patience=_PATIENCE, quiet=not given.size or _is_shown(arguments)) as report,
    ):
        if given.markup and arguments.mentions == "given":
            arguments.parser.error("--mentions given needs documents with mentions, as JSON lines")
        if given.markup and arguments.turns:
            arguments.parser.error("--turns needs conversations with turns, as JSON lines")
        for document, emit in _hinting_at_input(_results(arguments, linker, given, problems), given):
            emit(write)
            tally.count(document)
            report("linking", given.position(), given.size)
    problems.tell_rest()
    tally.tell_of_missing_speakers()
    if arguments.output and arguments.output != "-":
        note(f"{arguments.output}: {tally}")


def _check_ways_out(arguments: Namespace) -> None:
    """Options of which one would be passed over in silence."""
    for one, other in (("view", "json"), ("view", "output"), ("view", "explain"), ("explain", "output")):
        if getattr(arguments, one) and getattr(arguments, other):
            arguments.parser.error(f"--{one} and --{other} do not go together")


@contextmanager
def _seldom_collecting_garbage() -> Iterator[None]:
    """Linking makes many records and no cycles: looking for those at the usual pace takes a sixth of the time."""
    import gc

    thresholds = gc.get_threshold()
    gc.set_threshold(100_000, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _is_shown(arguments: Namespace) -> bool:
    """Whether people read the result, so that a bar would get in its way."""
    for_people = arguments.explain or arguments.view or sys.stdout.isatty()
    return bool(for_people and not arguments.json and not arguments.output)


def _results(arguments: Namespace, linker: Linker, given: Given, problems: _Problems) -> Iterator[Result]:
    """Each document linked, with what writes it."""
    if arguments.explain:
        for explanation in _explained(arguments, linker, given, problems):
            yield explanation.document, _explanation_emitter(arguments, explanation)
    else:
        for document in _linked(arguments, linker, given, problems):
            yield document, _document_emitter(arguments, document)


def _hinting_at_input(results: Iterator[Result], given: Given) -> Iterator[Result]:
    """A text may begin with { too: an error in the first line says how to have it read as one."""
    from entlink.errors import SourceError

    try:
        yield from results
    except SourceError as error:
        if not given.is_guessed or error.position != "line 1":
            raise
        hint = f"{error.hint}. " if error.hint else ""
        hint += "If this is a text and not JSON lines: --input text"
        raise SourceError(error.problem, error.file, error.position, hint) from error


def _linked(arguments: Namespace, linker: Linker, given: Given, problems: _Problems) -> Iterator[Document]:
    from entlink.formats.documents.lines import read_documents
    from entlink.formats.documents.texts import read_text, restore, visible

    if given.markup is None:
        yield from linker.link_all(read_documents(given.file, on_error=arguments.on_error, on_problem=problems.tell))
    else:
        document = read_text(given.file, given.markup)
        seen, aligned = visible(document)
        yield restore(linker.link(seen), document.text, aligned)


def _explained(arguments: Namespace, linker: Linker, given: Given, problems: _Problems) -> Iterator[Explanation]:
    from entlink.formats.documents.lines import read_documents
    from entlink.formats.documents.texts import read_text, visible
    from entlink_cli.terminal.explanations import restored

    if given.markup is None:
        for document in read_documents(given.file, on_error=arguments.on_error, on_problem=problems.tell):
            yield linker.explain(document)
    else:
        document = read_text(given.file, given.markup)
        seen, aligned = visible(document)
        yield restored(linker.explain(seen), document.text, aligned)


def _document_emitter(arguments: Namespace, document: Document) -> Emit:
    def emit(write: Write) -> None:
        if _is_shown(arguments):
            from entlink_cli.terminal.reading_view import show

            show(document)
        else:
            from entlink.formats.documents.lines import encode_document

            write(encode_document(document, candidates=arguments.candidates) + b"\n")

    return emit


def _explanation_emitter(arguments: Namespace, explanation: Explanation) -> Emit:
    def emit(write: Write) -> None:
        from entlink_cli.terminal.explanations import encode_explanation, explanation_lines

        if _is_shown(arguments):
            say(f"document {explanation.document.id}", *explanation_lines(explanation), "")
        else:
            write(encode_explanation(explanation) + b"\n")

    return emit


class _Tally:
    """What was done, for the last line, and which speakers there were."""

    def __init__(self, wanted: list[str]) -> None:
        self.documents = self.links = self.nils = 0
        self._missing = {name.strip().casefold(): name for name in wanted}
        self._speakers: set[str] = set()

    def count(self, document: Document) -> None:
        nils = sum(link.is_nil for link in document.links)
        self.documents += 1
        self.links += len(document.links) - nils
        self.nils += nils
        if self._missing:
            self._hear(turn.speaker for turn in document.turns)

    def _hear(self, speakers: Iterable[str | None]) -> None:
        for speaker in speakers:
            if speaker is not None:
                self._missing.pop(speaker.strip().casefold(), None)
                if len(self._speakers) < _SPEAKERS_SHOWN:
                    self._speakers.add(speaker)

    def tell_of_missing_speakers(self) -> None:
        """A speaker with no turn at all is most likely misspelt."""
        known = ", ".join(map(repr, sorted(self._speakers)))
        for name in self._missing.values():
            note(f"no turn is of {name!r}; " + (f"there are turns of {known}" if known else "no turn has a speaker"))

    def __str__(self) -> str:
        return f"{number_of(self.documents, 'document')}, {number_of(self.links, 'link')}, {self.nils:,} NIL"


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
            "entlink link shop.kb samples/chat.txt --explain",
            "entlink link shop.kb - --json --type kitchen < samples/chat.txt",
        ),
    ),
}
