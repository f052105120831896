"""Seams: where something was taken out, a sign keeps apart what stood around it until all markup has been read."""

from __future__ import annotations

import re
from itertools import pairwise

from entlink.sources.page import Anchor

# No export has these two, and `literals` uses others. (A search for \0 would be many times as slow.)
SEAM = "\x17"
END = "\x18"  # stands at the end of a text while its tags are read: what swallows it was never closed

_SIGNS = "'[]"  # that mean something else when there are two


_GAP = f"[,;{SEAM} ]"
# Brackets with nothing left in them; what is left of a list at the beginning and the end of brackets; a blank before
# a comma. Only where something was taken out, and every run of signs is looked at once.
_EMPTY = re.compile(rf" ?[(（](?={_GAP}*{SEAM}){_GAP}*+[)）]")
_LEADING = re.compile(rf"(?<=[(（])(?={_GAP}*{SEAM}){_GAP}++")
_TRAILING = re.compile(rf"(?<!{_GAP})(?={_GAP}*{SEAM}){_GAP}++(?=[)）])")
_BLANK = re.compile(rf" {SEAM}[{SEAM} ]*+(?=[,.;:)）])")


def tidy_seams(text: str) -> str:
    """The text without the signs that lost what they stood for: `Alabama (; ) is` where a pronunciation was."""
    if "(" in text or "（" in text:
        text = _TRAILING.sub(SEAM, _LEADING.sub(SEAM, _EMPTY.sub(SEAM, text)))
    return _BLANK.sub(SEAM, text)


def close_seams(text: str) -> str:
    """The text without seams, but for single ones that keep brackets, apostrophes, or a link and a word apart.

    What is left stands between two characters that are no blanks, so that none are doubled when it goes.
    """
    if SEAM not in text:
        return text
    if "[" not in text and "]" not in text and f"'{SEAM}" not in text:
        return text.replace(SEAM, "")
    pieces = list(filter(None, text.split(SEAM)))
    closed = pieces[:1]
    for before, after in pairwise(pieces):
        first = after[0]
        if (first in _SIGNS or first.isalnum()) and _would_join(before, first):
            closed.append(SEAM)
        closed.append(after)
    return "".join(closed)


def _would_join(before: str, after: str) -> bool:
    last = before[-1]
    if after in _SIGNS:
        return last == after
    return last == "]" or (last.isalnum() and _is_trail(before))


def _is_trail(text: str) -> bool:
    _, closing, word = text.rpartition("]]")
    return bool(closing) and word.isalnum()


def without_seams(text: str, anchors: tuple[Anchor, ...]) -> tuple[str, tuple[Anchor, ...]]:
    """The text without any seam, and its anchors moved to where their words are then."""
    moved: list[Anchor] = []
    position = gone = 0
    for start, end, target in ((anchor.start, anchor.end, anchor.target) for anchor in anchors):
        gone += text.count(SEAM, position, start)
        inside = text.count(SEAM, start, end)
        moved.append(Anchor(start - gone, end - gone - inside, target))
        gone += inside
        position = end
    return text.replace(SEAM, ""), tuple(moved)
