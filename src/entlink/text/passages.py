"""A text cut into passages of a few sentences, each short enough to be read at once."""

from __future__ import annotations

import re
from collections.abc import Iterator

_END = re.compile(r"[.!?]['\")\]”’]*\s+|[。！？；]|\n+")
_WORDS_APART, _WORDS_TOGETHER = 240, 100  # characters of a passage, in scripts with spaces and without
_LONGEST = 2  # times as long, where no sentence ends


def passages(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each passage: sentences together until they are long enough; all of the text is in one."""
    size = _WORDS_APART if text[:1000].count(" ") * 20 > len(text[:1000]) else _WORDS_TOGETHER
    start = 0
    for match in _END.finditer(text):
        if match.end() - start >= size:
            yield from _pieces(start, match.end(), size)
            start = match.end()
    if start < len(text):
        yield from _pieces(start, len(text), size)


def _pieces(start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    while end - start > _LONGEST * size:
        yield start, start + size
        start += size
    yield start, end
