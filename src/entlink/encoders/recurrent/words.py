"""Texts as words, and words as bytes: what a network that reads characters is given."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy

from entlink.text.folding import SPACELESS

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A word, with an apostrophe in it; in a script without spaces a character; any other sign by itself.
_TOKEN = re.compile(rf"[{SPACELESS}]|(?:(?![{SPACELESS}])\w)+(?:['’](?:(?![{SPACELESS}])\w)+)*|[^\w\s]")
# Bytes 0 to 255 are their own numbers; then signs, as ELMo numbers them, and two of EntELMo's.
FIRST, LAST, BEGIN, END, PADDING, CONTEXT, DESCRIPTION = range(256, 263)
BYTES, BYTES_OF_ELMO = 263, 261
SENTENCE_START, SENTENCE_END = "<S>", "</S>"
CONTEXT_START, DESCRIPTION_START = "[BOC]", "[BOD]"  # no text has words like these: brackets are words of their own
_SIGNS = {SENTENCE_START: FIRST, SENTENCE_END: LAST, CONTEXT_START: CONTEXT, DESCRIPTION_START: DESCRIPTION}


class Word(NamedTuple):
    """A word and where it is in its text."""

    text: str
    start: int
    end: int


def words(text: str, *, lower: bool = True) -> list[Word]:
    """The words of a text.

    [one.text for one in words("Ann's boat, 1990.")]  # ["ann's", "boat", ",", "1990", "."]
    """
    return [
        Word(match[0].lower() if lower else match[0], match.start(), match.end()) for match in _TOKEN.finditer(text)
    ]


def words_within(found: list[Word], start: int, end: int) -> tuple[int, int]:
    """The first and the last (exclusive) of the words that the characters `[start, end)` touch; equal if none."""
    touched = [at for at, word in enumerate(found) if word.start < end and start < word.end]
    return (touched[0], touched[-1] + 1) if touched else (0, 0)


def window_start(first: int, last: int, length: int, most: int) -> int:
    """Where `most` of `length` words begin, with those from the first to the last (exclusive) in their middle.

    Of more than `most` such words, the first ones are taken.
    """
    return max(0, min(first, first - (most - (last - first)) // 2, length - most))


def word_bytes(forms: Iterable[str], size: int) -> NDArray[numpy.int16]:
    """A row of `size` numbers a word: its begin, its bytes, its end, and padding; signs are numbers of their own."""
    rows = []
    for form in forms:
        own = [_SIGNS[form]] if form in _SIGNS else list(form.encode("utf-8", "ignore")[: size - 2])
        rows.append([BEGIN, *own, END, *[PADDING] * (size - 2 - len(own))])
    return numpy.array(rows, numpy.int16).reshape(-1, size)
