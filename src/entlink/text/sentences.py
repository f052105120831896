"""Where the sentences of a text are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Place = tuple[int, int]
_END = re.compile(r"(?:[.!?…]+['\"”’)\]]*(?=\s)|[。！？]+[”’」』）]*|\n)\s*")
_NEXT = re.compile(r"['\"“‘(\[]*[^\s'\"“‘(\[]")
# After these a point ends no sentence, nor after a single letter, which is an initial.
_SHORT = re.compile(
    r"mrs?|ms|dr|prof|st|mt|ft|sr|jr|rev|gen|col|capt|lt|sgt|hon|gov|sen|rep|nos?|vols?|figs?|pp|eds?|vs|cf|al|etc|"
    r"approx|ca|est|inc|ltd|co|corp|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[^\W\d_]",
    re.IGNORECASE,
)
_LAST_WORD = re.compile(r"(\w+)\.$")


def sentences(text: str, whole: Sequence[Place] = ()) -> Iterator[Place]:
    """The start and end of each sentence, without the spaces around it; no sentence ends within a place of `whole`.

    A point ends a sentence unless it follows an abbreviation or an initial, or a small letter follows.

        list(sentences("Mr. Smith sails. He is old."))  # [(0, 16), (17, 27)]
    """
    start = 0
    for match in _END.finditer(text):
        if _ends(text, match) and not any(first < match.end() and match.start() < last for first, last in whole):
            yield from _trimmed(text, start, match.end())
            start = match.end()
    yield from _trimmed(text, start, len(text))


def _ends(text: str, match: re.Match[str]) -> bool:
    if not match[0].strip() or match[0][0] in "。！？":
        return True
    following = _NEXT.match(text, match.end())
    if following is not None and following[0][-1].islower():
        return False
    if match[0].rstrip() != ".":
        return True
    last = _LAST_WORD.search(text, max(0, match.start() - 20), match.start() + 1)
    return last is None or _SHORT.fullmatch(last[1]) is None


def _trimmed(text: str, start: int, end: int) -> Iterator[Place]:
    part = text[start:end]
    if part.strip():
        yield start + len(part) - len(part.lstrip()), start + len(part.rstrip())
