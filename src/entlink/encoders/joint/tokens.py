"""Texts, and turns with what was said before them, as the tokens of a joint model."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from entlink.documents import TURN_SEPARATOR, Document, Span
from entlink.encoders.text.tokens import Tokens, plain, signs_of
from entlink.encoders.text.windows import Window, windows
from entlink.errors import ConfigError, MissingExtraError

try:
    import numpy
except ImportError as problem:
    raise MissingExtraError("a joint model", "retrieval") from problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.encoders.joint.settings import JointSettings

_CHARACTERS_A_TOKEN = 16  # more than any text of words has


class Piece(NamedTuple):
    """A part of a text whose names are looked for, `start` to `end`; what stands before it is context."""

    text: str
    start: int
    end: int


class PieceTokens(NamedTuple):
    """The tokens of a piece: where each stands in the text, and whether a word begins or ends with it.

    `context` are the tokens before it, the sign that parts them from it included.
    """

    context: list[int]
    ids: list[int]
    offsets: list[tuple[int, int]]
    begins: NDArray[numpy.bool_]
    ends: NDArray[numpy.bool_]

    def place(self, span: Span) -> tuple[int, int] | None:
        """The words that a span of the text touches, as first token and the one after the last; None if none."""
        first = bisect_right(self.offsets, span.start, key=itemgetter(1))  # the first that ends after its start
        last = bisect_left(self.offsets, span.end, key=itemgetter(0))  # after the last that starts before its end
        if first >= last:
            return None
        while not self.begins[first]:
            first -= 1
        while not self.ends[last - 1]:
            last += 1
        return first, last


class JointReader:
    """A tokenizer with the settings of a model."""

    def __init__(self, tokenizer: Any, settings: JointSettings) -> None:
        self.settings, self._tokenizer = settings, tokenizer
        self._before, self._after = signs_of(tokenizer)
        self._room = settings.text_tokens - len(self._before) - len(self._after)
        if self._room < 4 * settings.longest:
            raise ConfigError(
                f"text_tokens = {settings.text_tokens} does not fit: windows of a long text share spans of "
                f"{settings.longest} tokens. Set it to {4 * settings.longest + len(self._before) + len(self._after)} "
                "or more, or longest lower"
            )

    @property
    def pad_id(self) -> int:
        """What a batch is filled up with."""
        return next((id for sign in ("[PAD]", "<pad>") if (id := self._tokenizer.token_to_id(sign)) is not None), 0)

    def read(self, pieces: Sequence[Piece]) -> list[PieceTokens]:
        """The tokens of each piece."""
        own = self._tokenizer.encode_batch(
            [plain(one.text[one.start : one.end]) for one in pieces], add_special_tokens=False
        )
        told = self._tokenizer.encode_batch_fast(
            [plain(self.context(one)) for one in pieces], add_special_tokens=False
        )
        return [self._piece(piece, read, before.ids) for piece, read, before in zip(pieces, own, told, strict=True)]

    def context(self, piece: Piece) -> str:
        """Of what stands before a piece, the end that can be read."""
        reach = self.settings.context_tokens * _CHARACTERS_A_TOKEN
        if piece.start <= reach:
            return piece.text[: piece.start] if reach else ""
        cut = piece.text[piece.start - reach : piece.start]
        return cut[cut.find(" ") + 1 :]

    def windows(self, read: PieceTokens) -> list[Window]:
        """The windows in which a piece is read; a span is decided on in the one that decides on its first token."""
        return windows(len(read.ids), self._room, 2 * self.settings.longest) if read.ids else []

    def row(self, read: PieceTokens, window: Window) -> Tokens:
        """A window with the signs of the model; its place is that of the window's own tokens."""
        ids = [*self._before, *read.context, *read.ids[window.first : window.last], *self._after]
        first = len(self._before) + len(read.context)
        return Tokens(ids, first, first + window.last - window.first)

    def _piece(self, piece: Piece, read: Any, before: list[int]) -> PieceTokens:
        text, words, ids = piece.text, read.word_ids, list(read.ids)
        offsets = [(piece.start + start, piece.start + end) for start, end in read.offsets]
        begins = [
            not at or words[at] != words[at - 1] or text[offsets[at - 1][1] : start + 1][:1].isspace()
            for at, (start, _) in enumerate(offsets)
        ]
        most = min(self.settings.context_tokens, self._room - len(ids) - len(self._after))
        context = [*before[-most:], *self._after] if before and ids and most > 0 else []
        ends = numpy.array([*begins[1:], True] if begins else [], bool)
        return PieceTokens(context, ids, offsets, numpy.array(begins, bool), ends)


def pieces(document: Document) -> list[Piece]:
    """The turns of a conversation, each after those before it; any other document as one piece."""
    text = document.text
    if not is_of_turns(document):
        return [Piece(text, 0, len(text))]
    return [Piece(text, span.start, span.end) for span in document.turn_spans]


def piece_at(found: Sequence[Piece], span: Span) -> Piece:
    """The piece in which a span begins."""
    return found[max(0, bisect_right(found, span.start, key=itemgetter(1)) - 1)]


def is_of_turns(document: Document) -> bool:
    """Whether a document is made of its turns and nothing else."""
    size = sum(len(turn.text) for turn in document.turns) + len(TURN_SEPARATOR) * max(0, len(document.turns) - 1)
    turns = zip(document.turns, document.turn_spans, strict=True)
    return (
        bool(document.turns)
        and size == len(document.text)
        and all(document.text.startswith(turn.text, span.start) for turn, span in turns)
    )
