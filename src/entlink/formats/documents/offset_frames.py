"""The frame that offsets in a document's row refer to: the whole text, or one turn of a conversation."""

from __future__ import annotations

from bisect import bisect_right

from msgspec import UNSET, UnsetType

from entlink.documents import Document, Span
from entlink.errors import SpanError
from entlink.formats.documents.rows import GoldRow, LinkRow, MentionRow
from entlink.text.spans import OFFSETS, Place, span_problem

SpanRow = MentionRow | GoldRow | LinkRow


class Frame:
    """Turns offsets of rows into spans of the document's whole text, and back."""

    __slots__ = ("_document", "_place", "_size", "_turns")

    def __init__(self, document: Document, place: Place) -> None:
        self._document, self._place = document, place
        self._size = len(document.text)
        self._turns = document.turn_spans if document.turns else ()

    @property
    def text(self) -> str:
        return self._document.text

    def error(self, problem: str, hint: str) -> SpanError:
        """An error of the document at its place."""
        return self._place.span_error(self._document.id, problem, hint)

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
        return self._place.span_error(self._document.id, problem, OFFSETS)
