"""The frame that offsets in a document's row refer to: the whole text, or one turn of a conversation."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

from msgspec import UNSET, UnsetType

from entlink.documents import Document, Span
from entlink.errors import SourceError, SpanError
from entlink.formats.rows import GoldRow, LinkRow, MentionRow

_OFFSETS = "Offsets count characters (not bytes or tokens) from 0, and the end is not included"

SpanRow = MentionRow | GoldRow | LinkRow


class Place:
    """Where a row stands, for messages."""

    __slots__ = ("file", "line")

    def __init__(self, file: str = "", line: int = 0) -> None:
        self.file, self.line = file, line

    def error(self, problem: str, hint: str = "") -> SourceError:
        return SourceError(problem, self.file, f"line {self.line}" if self.line else "", hint)

    def span_error(self, document: str, problem: str, hint: str) -> SpanError:
        return SpanError(str(self.error(f"document {document!r}: {problem}", hint)))


class Frame:
    """Turns offsets of rows into spans of the document's whole text, and back."""

    __slots__ = ("_document", "_place", "_size", "_turns")

    def __init__(self, document: Document, place: Place) -> None:
        self._document, self._place = document, place
        self._size = len(document.text)
        self._turns = document.turn_spans if document.turns else ()

    def span(self, row: SpanRow, field: str, index: int) -> Span:
        """The span of the whole text that a row's offsets mean; `field[index]` is its name in messages."""
        start, end, turn = row.start, row.end, row.turn
        if turn is UNSET and not self._turns:
            if not 0 <= start < end <= self._size:
                raise self._misfit(f"{field}[{index}]", start, end, self._size, "the text")
            return Span(start, end)
        whole = self._turn(turn, f"{field}[{index}]")
        size = whole.end - whole.start
        if not 0 <= start < end <= size:
            raise self._misfit(f"{field}[{index}]", start, end, size, f"turn {turn}")
        return Span(whole.start + start, whole.start + end)

    def row(self, span: Span) -> tuple[int, int, int | UnsetType]:
        """The start, end and turn to write for a span of the whole text."""
        if not self._turns:
            return span.start, span.end, UNSET
        turn = bisect_right(self._turns, span.start, key=lambda whole: whole.start) - 1
        if turn < 0 or span.end > self._turns[turn].end:
            problem = f"the span {span.start}-{span.end} does not lie within one turn"
            raise self._place.span_error(self._document.id, problem, "Link the turns' texts, not across them")
        start = self._turns[turn].start
        return span.start - start, span.end - start, turn

    def _turn(self, turn: int | UnsetType, field: str) -> Span:
        count = len(self._turns)
        if turn is UNSET:
            raise self._place.error(f"field {field}.turn is missing", f"Say which of the {count} turns, from 0")
        if not self._turns:
            raise self._place.error(f"field {field}.turn is given, but there are no turns", "Leave it out")
        if not 0 <= turn < count:
            hint = f"The conversation has {count} turns, counted from 0"
            raise self._place.span_error(self._document.id, f"{field} is in turn {turn}", hint)
        return self._turns[turn]

    def _misfit(self, field: str, start: int, end: int, size: int, what: str) -> SpanError:
        problem = f"{field}: {span_problem(start, end)}; {what} has {size} characters"
        return self._place.span_error(self._document.id, problem, _OFFSETS)


def span_problem(start: int, end: int) -> str:
    """What is wrong with a span that does not fit."""
    if start > end:
        return f"the span {start}-{end} ends before it starts"
    return f"the span {start}-{end} {'is empty' if start == end else 'lies outside'}"


def check_mentions(document: Document, place: Place | None = None) -> None:
    """Raises SpanError if a given mention is empty, lies outside the text or overlaps another."""
    place = place or Place()
    size = len(document.text)
    spans = sorted((mention.span.start, mention.span.end) for mention in document.mentions or ())
    for start, end in spans:
        if not 0 <= start < end <= size:
            problem = f"mention: {span_problem(start, end)}; the text has {size} characters"
            raise place.span_error(document.id, problem, _OFFSETS)
    for (start, end), (next_start, next_end) in pairwise(spans):
        if next_start < end:
            problem = (
                f"the mentions {start}-{end} and {next_start}-{next_end} overlap; the text has {size} characters"
            )
            raise place.span_error(document.id, problem, "Keep one of them")
