"""Spans of a text that may be mentions: all names that the knowledge base knows, and all short runs of words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_WORD = re.compile(r"\w+(?:['’&.\-]\w+)*")
_BREAK = re.compile(r"[.!?。！？]\s|[。！？]|\n")
MOST_WORDS = 4


class Word(NamedTuple):
    """A word by its characters."""

    start: int
    end: int
    text: str


class Proposal(NamedTuple):
    """A span by its characters and by the first and the last word in it; `is_name` if it is a name."""

    start: int
    end: int
    first: int
    last: int
    is_name: bool


def words_of(text: str) -> list[Word]:
    """The words of a text; one may have an apostrophe, a dot or a hyphen inside."""
    return [Word(match.start(), match.end(), match[0]) for match in _WORD.finditer(text)]


def proposals(text: str, words: list[Word], names: Iterable[tuple[int, int]]) -> list[Proposal]:
    """Runs of up to four words within a sentence, and names of any length, by start and end."""
    known = set(names)
    found = {}
    for first, word in enumerate(words):
        for last in range(first, min(len(words), first + MOST_WORDS)):
            start, end = word.start, words[last].end
            if last > first and _BREAK.search(text, words[last - 1].end, words[last].start + 1):
                break
            found[start, end] = Proposal(start, end, first, last, (start, end) in known)
    missing = sorted(known - found.keys())
    found.update({(one.start, one.end): one for one in _placed(words, missing)})
    return [found[span] for span in sorted(found)]


def _placed(words: list[Word], spans: Iterable[tuple[int, int]]) -> Iterable[Proposal]:
    """Names that are no run of whole words; one without words, such as a sign, is left out."""
    at = 0
    for start, end in spans:
        while at < len(words) and words[at].end <= start:
            at += 1
        last = at
        while last + 1 < len(words) and words[last + 1].start < end:
            last += 1
        if at < len(words) and words[at].start < end:
            yield Proposal(start, end, at, last, True)
