"""Where the sentences of a text are, by their marks and line ends; a few abbreviations end none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from entlink.documents import Span

_END = re.compile(r"[.!?][\"')\]”’]*\s+(?=[\"'(\[“‘]?[A-Z0-9])|[。！？]|\n+")
_NO_END = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Mt|Prof|Gen|Lt|Col|Sgt|Capt|Rev|Jr|Sr|vs|cf|approx|ca|No|Vol|pp|e\.g|i\.e)|\b[A-Za-z])\.$"
)


def sentences(text: str) -> Iterator[Span]:
    """The sentences in order, without the white space around them."""
    start = 0
    for match in _END.finditer(text):
        if match[0].startswith(".") and _NO_END.search(text[start : match.start() + 1]):
            continue
        yield from _stripped(text, start, match.end())
        start = match.end()
    yield from _stripped(text, start, len(text))


def _stripped(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end = start + len(piece.strip())
    if start < end:
        yield Span(start, end)


def sentence_of(text: str, span: Span) -> tuple[str, Span]:
    """The sentence or sentences that a span is in, and where the span is in them."""
    touched = [one for one in sentences(text) if one.start < span.end and span.start < one.end]
    start = min([span.start, *(one.start for one in touched)])
    end = max([span.end, *(one.end for one in touched)])
    return text[start:end], Span(span.start - start, span.end - start)
