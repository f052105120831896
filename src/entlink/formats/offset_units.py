"""Tells what offsets count that do not fit their text: bytes, UTF-16 units, tokens, …"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from entlink.documents import Span
from entlink.text.spans import OFFSETS, Place, span_problem


def guess_unit(text: str, start: int, end: int, surface: str) -> str | None:
    """What the offsets of `surface` seem to count, where they do not count the characters of `text`.

    None: they do count characters, or no unit explains them.
    """
    if not surface or start < 0 or end < 0 or text[start:end] == surface:
        return None
    for unit, cut in _CUTS.items():
        if cut(text, start, end, surface):
            return unit
    return None


def offsets_hint(text: str, start: int, end: int, surface: str) -> str:
    """What to say to someone whose offsets do not fit."""
    unit = guess_unit(text, start, end, surface)
    return OFFSETS if unit is None else f"These offsets seem to be {unit}. {OFFSETS}"


def checked_span(
    text: str, start: int, end: int, surface: str | None, field: str, document: str, place: Place
) -> Span:
    """The span, if it lies inside the text and covers what its record says (`surface`, where it says so)."""
    covered = text[start:end] if 0 <= start < end <= len(text) else None
    if covered is not None and (surface is None or covered == surface):
        return Span(start, end)
    hint = offsets_hint(text, start, end, surface or "")
    if covered is None:
        problem = f"{field}: {span_problem(start, end)}; the text has {len(text)} characters"
    else:
        problem = f"{field}: the span {start}-{end} covers {covered!r}, not {surface!r}"
    raise place.span_error(document, problem, hint)


# Each tells whether the offsets, counted its way, cover the surface.


def _bytes(text: str, start: int, end: int, surface: str) -> bool:
    return _encoded(text, "utf-8")[start:end] == _encoded(surface, "utf-8")


def _utf16(text: str, start: int, end: int, surface: str) -> bool:
    return _encoded(text, "utf-16-le")[2 * start : 2 * end] == _encoded(surface, "utf-16-le")


def _encoded(text: str, encoding: str) -> bytes:
    return text.encode(encoding, "surrogatepass")


def _tokens(text: str, start: int, end: int, surface: str) -> bool:
    return text.split()[start:end] == surface.split()


def _tokens_to_the_last(text: str, start: int, end: int, surface: str) -> bool:
    return _tokens(text, start, end + 1, surface)


def _characters_to_the_last(text: str, start: int, end: int, surface: str) -> bool:
    return text[start : end + 1] == surface


def _from_one(text: str, start: int, end: int, surface: str) -> bool:
    return start > 0 and surface in (text[start - 1 : end - 1], text[start - 1 : end])


def _with_length(text: str, start: int, end: int, surface: str) -> bool:
    return text[start : start + end] == surface


def _short_line_ends(text: str, start: int, end: int, surface: str) -> bool:
    return text.replace("\r\n", "\n")[start:end] == surface.replace("\r\n", "\n")


def _long_line_ends(text: str, start: int, end: int, surface: str) -> bool:
    long = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return long[start:end] == surface.replace("\n", "\r\n")


def _composed(text: str, start: int, end: int, surface: str) -> bool:
    return unicodedata.normalize("NFC", text)[start:end] == unicodedata.normalize("NFC", surface)


def _decomposed(text: str, start: int, end: int, surface: str) -> bool:
    return unicodedata.normalize("NFD", text)[start:end] == unicodedata.normalize("NFD", surface)


# In the order of how often one meets them.
_CUTS: dict[str, Callable[[str, int, int, str], bool]] = {
    "bytes": _bytes,
    "UTF-16 units": _utf16,
    "tokens": _tokens,
    "tokens with the end included": _tokens_to_the_last,
    "characters with the end included": _characters_to_the_last,
    "characters counted from 1": _from_one,
    "a start and a length": _with_length,
    "characters of a text with line ends of one character": _short_line_ends,
    "characters of a text with line ends of two characters": _long_line_ends,
    "characters of a text in Unicode form NFC": _composed,
    "characters of a text in Unicode form NFD": _decomposed,
}
