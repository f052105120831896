"""Blanks: runs of them are one."""

from __future__ import annotations


def one_blank(text: str) -> str:
    """The text with each run of blanks, tabs and no-break spaces as one blank; lines stay apart."""
    text = text.replace("\t", " ").replace("\xa0", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text
