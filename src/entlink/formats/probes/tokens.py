"""Tokens as a text: one space between two, so that spans of tokens become spans of characters."""

from __future__ import annotations

from collections.abc import Sequence

from entlink.documents import Span
from entlink.text.spans import Place


def token_span(tokens: Sequence[str], start: int, end: int, place: Place) -> Span:
    """The characters of the tokens from `start` up to, not including, `end` in their joined text."""
    if not 0 <= start < end <= len(tokens):
        problem = f"the tokens {start} to {end} are not in a sentence of {len(tokens)} tokens"
        raise place.error(problem, "Tokens are counted from 0, and the end is not included")
    first = len(" ".join(tokens[:start])) + (start > 0)
    return Span(first, first + len(" ".join(tokens[start:end])))


def whole_number(cell: str, column: str, place: Place) -> int:
    """A cell that must hold a whole number."""
    try:
        return int(cell)
    except ValueError as error:
        raise place.error(f"{column} is {cell!r}", "It must be a whole number") from error
