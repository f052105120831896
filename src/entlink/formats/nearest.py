"""A question to whoever has misspelt a name, for messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """A question to put into a message, or nothing."""
    near = get_close_matches(word, list(words), n=1)
    return f"Did you mean {near[0]!r}? " if near else ""
