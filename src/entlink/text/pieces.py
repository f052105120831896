"""A long text in pieces."""

from __future__ import annotations

from collections.abc import Iterator

_BREAKS = ("\n\n", "\n", " ")


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
