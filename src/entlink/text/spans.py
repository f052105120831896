"""Whether spans fit their text, told with the place where a document stands."""

from __future__ import annotations

from itertools import pairwise

from entlink.documents import Document
from entlink.errors import SourceError, SpanError

OFFSETS = "Offsets count characters (not bytes or tokens) from 0, and the end is not included"


class Place:
    """Where a document stands, for messages: the line of a file, or nowhere."""

    __slots__ = ("file", "line")

    def __init__(self, file: str = "", line: int = 0) -> None:
        self.file, self.line = file, line

    def error(self, problem: str, hint: str = "") -> SourceError:
        return SourceError(problem, self.file, f"line {self.line}" if self.line else "", hint)

    def span_error(self, document: str, problem: str, hint: str) -> SpanError:
        return SpanError(str(self.error(f"document {document!r}: {problem}", hint)))


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
            raise place.span_error(document.id, problem, OFFSETS)
    for (start, end), (next_start, next_end) in pairwise(spans):
        if next_start < end:
            problem = (
                f"the mentions {start}-{end} and {next_start}-{next_end} overlap; the text has {size} characters"
            )
            raise place.span_error(document.id, problem, "Keep one of them")
