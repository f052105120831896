"""`entlink chat`: a conversation linked turn by turn, as it is typed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, say

if TYPE_CHECKING:
    from entlink.documents import Span
    from entlink.linking.conversation.turns import Conversation, LinkedTurn
    from entlink_cli.parsing import Namespace, Parser

_HELP = (
    ("/why SURFACE", "say why this was or was not linked, where it was said last"),
    ("/as SPEAKER", "go on as another speaker"),
    ("/forget", "begin anew: nothing said before counts"),
    ("/help", "show this"),
    ("/quit", "leave, as Ctrl-D does; Ctrl-C drops the line"),
)
_HELLO = "each line is a turn; /help tells the rest, /quit or Ctrl-D leaves"


def _configure(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument(
        "--speaker", metavar="NAME", type=values.text, default="you", help="who speaks first (default: you)"
    )
    options.linking(parser)
    options.personal(parser)


def _chat(arguments: Namespace) -> None:
    linker = options.make_linker(arguments)
    chat = _Chat(linker.conversation("chat"), arguments.speaker)
    is_typed = sys.stdin.isatty()
    if is_typed:
        note(_HELLO)
    for line in _typed(chat) if is_typed else _piped():
        try:
            if not chat.takes(line):
                return
        except KeyboardInterrupt:
            if not is_typed:
                raise
            note("interrupted")
        sys.stdout.flush()


def _typed(chat: _Chat) -> Iterator[str]:
    """Lines from a terminal, until Ctrl-D; Ctrl-C drops the line that is being typed."""
    while True:
        try:
            yield input(f"{chat.speaker}> ")
        except EOFError:
            say("")
            return
        except KeyboardInterrupt:
            say("")
            note("Ctrl-D or /quit leaves")
        except UnicodeDecodeError as problem:
            note(f"this line is not valid {problem.encoding}, and was left out")


def _piped() -> Iterator[str]:
    """Lines of a file or pipe; bytes, since what is no text is to be told with its line."""
    from entlink.errors import SourceError

    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as problem:
            bad = f"byte {problem.start} of the line, 0x{line[problem.start]:02x}, is not valid UTF-8"
            raise SourceError(bad, "<stdin>", f"line {number}", "Convert the text to UTF-8") from problem


class _Chat:
    """What the lines do: a turn is linked and shown, a command is obeyed."""

    def __init__(self, conversation: Conversation, speaker: str) -> None:
        self.conversation, self.speaker = conversation, speaker
        self._commands: dict[str, Callable[[str], None]] = {
            "/why": self._why,
            "/as": self._as,
            "/forget": self._forget,
            "/help": lambda _: say(*columns(_HELP, "  ")),
        }

    def takes(self, line: str) -> bool:
        """Whether the chat goes on after this line."""
        word, _, rest = line.rstrip().partition(" ")
        if word == "/quit":
            return False
        if word in self._commands:
            self._commands[word](rest.strip())
        elif word.startswith("/") and word[1:].isalpha():
            self._unknown(word)
        elif line.strip():
            self._turn(line)
        return True

    def _turn(self, line: str) -> None:
        try:
            linked = self.conversation.add(line, self.speaker)
        except KeyboardInterrupt:
            note("this turn was left out")
            raise
        self._show(linked)

    def _unknown(self, word: str) -> None:
        from entlink.text.nearest import did_you_mean

        note(f"there is no {word}{did_you_mean(word, [*self._commands, '/quit'])}. A space before it makes it a turn")

    def _show(self, linked: LinkedTurn) -> None:
        from entlink.documents import Document
        from entlink_cli.terminal.reading_view import show

        turn = linked.turn
        show(Document("chat", turn.text, turns=(turn,), links=linked.links), heading=False)

    def _as(self, speaker: str) -> None:
        if speaker:
            self.speaker = speaker
        else:
            note(f"now {self.speaker!r} speaks; /as NAME changes that")

    def _forget(self, _: str) -> None:
        self.conversation.forget()
        note("what was said before no longer counts")

    def _why(self, surface: str) -> None:
        from entlink.documents import Span
        from entlink_cli.terminal.explanations import explanation_lines

        if not self.conversation.turns:
            return note("nothing was said yet")
        if not surface:
            return say(*explanation_lines(self.conversation.explain(self.conversation.turns[-1])))
        for linked in reversed(self.conversation.turns):
            at = linked.turn.text.find(surface)
            if at >= 0:
                told = self.conversation.explain(linked, _linked_at(linked, Span(at, at + len(surface))))
                return say(*explanation_lines(told))
        return note(f"{surface!r} was not said; case counts here")


def _linked_at(linked: LinkedTurn, span: Span) -> Span:
    """The place of the surface: where it is linked, if it stands there more than once."""
    surface = linked.turn.text[span.start : span.end]
    return next((link.mention.span for link in linked.links if link.mention.text == surface), span)


COMMANDS = {
    "chat": Command(
        _chat,
        _configure,
        "Talk, and see each turn linked with what was said before as its context. Each line is a turn; a line that "
        "begins with / is a command: /why SURFACE, /as SPEAKER, /forget, /help, /quit. Lines may come from a file or "
        "pipe, too.",
        ("entlink chat shop.kb < samples/chat.txt",),
    ),
}
