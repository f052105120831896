"""Blanks, of which runs are one, and words."""

from __future__ import annotations


def one_blank(text: str) -> str:
    """The text with each run of blanks, tabs and no-break spaces as one blank; lines stay apart."""
    text = text.replace("\t", " ").replace("\xa0", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text


def words(text: str) -> tuple[str, ...]:
    """The words of a text, in order, each once."""
    return tuple(dict.fromkeys(text.split()))
