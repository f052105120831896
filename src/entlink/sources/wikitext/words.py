"""Lists of words, written as running text."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """The words of a text, in order, each once."""
    return tuple(dict.fromkeys(text.split()))
