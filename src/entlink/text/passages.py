"""A text cut into parts: passages of a few sentences, each short enough to be read at once, or pieces of a size."""

from __future__ import annotations

import re
from collections.abc import Iterator

_END = re.compile(r"[.!?]['\")\]”’]*\s+|[。！？；]|\n+")
_WORDS_APART, _WORDS_TOGETHER = 240, 100  # characters of a passage, in scripts with spaces and without
_LONGEST = 2  # times as long, where no sentence ends
_BREAKS = ("\n\n", "\n", " ")


def has_spaces(text: str) -> bool:
    """Whether words are apart in a text, as far as its beginning shows."""
    return text[:1000].count(" ") * 20 > len(text[:1000])


def passages(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each passage: sentences together until they are long enough; all of the text is in one."""
    size = _WORDS_APART if has_spaces(text) else _WORDS_TOGETHER
    start = 0
    for match in _END.finditer(text):
        if match.end() - start >= size:
            yield from _not_too_long(text, start, match.end(), size)
            start = match.end()
    yield from _not_too_long(text, start, len(text), size)


def _not_too_long(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    longest = _LONGEST * size
    return ((start + first, start + last) for first, last in pieces(text[start:end], longest))


def pieces(text: str, size: int) -> Iterator[tuple[int, int]]:
    """Where the pieces of a text are, of at most `size` characters: each ends at a paragraph, a line or a word.

    Where the second half of a piece has no such place, it ends anywhere.
    """
    start = 0
    while start < len(text):
        end = start + size
        if end < len(text):
            places = (text.rfind(sign, start + size // 2, end) for sign in _BREAKS)
            end = next((place for place in places if place > 0), end)
        yield start, min(end, len(text))
        start = end
