"""Offsets that count something other than characters: bytes, UTF-16 units or tokens. Found out, and told."""

from __future__ import annotations

from collections.abc import Sequence

from entlink.documents import Document, Span
from entlink.errors import SpanError
from entlink.formats.offset_units import guess_unit
from entlink.spans import OFFSETS

_ENOUGH, _PLENTY = 12, 2_000


def check_offsets(gold: Document, predicted: Document) -> None:
    """Raises where a prediction's own text shows that its offsets count something else, or lie outside."""
    if "lacks" in predicted.meta:
        return
    text = predicted.text
    for link in predicted.links:
        span, surface = link.mention.span, link.mention.text
        if text[span.start : span.end] == surface and 0 <= span.start < span.end:
            continue
        unit = guess_unit(text, span.start, span.end, surface)
        if unit is not None:
            raise SpanError(
                f"document {gold.id!r}: the offsets {span.start}-{span.end} of {surface!r} count {unit}. {OFFSETS}"
            )
        if not 0 <= span.start < span.end <= len(text):
            problem = (
                f"the span {span.start}-{span.end} of {surface!r} lies outside the text of {len(text)} characters"
            )
            raise SpanError(f"document {gold.id!r}: {problem}. {OFFSETS}")


class OffsetWatch:
    """Watches where spans without a surface of their own begin and end, over many documents.

    Spans of characters hardly ever cut words in two. Where most do, and the same numbers read as bytes or tokens do
    not, they are not characters.
    """

    def __init__(self, role: str) -> None:
        self._role = role
        self.spans = 0
        self.cut = 0
        self.fit_bytes = 0
        self.fit_tokens = 0

    @property
    def is_looking(self) -> bool:
        """Whether it has not yet seen plenty."""
        return self.spans < _PLENTY

    def see(self, text: str, spans: Sequence[Span]) -> None:
        """Take a look at spans of a text, if it has spaces between its words."""
        if not text.isascii() and not _has_spaces(text):
            return
        tokens = -1
        for span in spans:
            self.spans += 1
            if not _cuts_a_word(text, span.start, span.end):
                continue
            self.cut += 1
            as_bytes = _from_bytes(text, span)
            self.fit_bytes += as_bytes is not None and not _cuts_a_word(text, *as_bytes)
            tokens = len(text.split()) if tokens < 0 else tokens
            self.fit_tokens += span.end <= tokens

    def verdict(self) -> str | None:
        """What is most likely wrong, or None."""
        if self.spans < _ENOUGH or 2 * self.cut <= self.spans:
            return None
        unit = next(
            (name for name, fit in (("tokens", self.fit_tokens), ("bytes", self.fit_bytes)) if fit >= 0.9 * self.cut),
            None,
        )
        looks = f"they look like {unit}" if unit else "they do not look like offsets of this text"
        return f"{self.cut} of {self.spans} spans of the {self._role} cut a word in two: {looks}. {OFFSETS}"


def _has_spaces(text: str) -> bool:
    return text.count(" ") * 12 > len(text)


def _cuts_a_word(text: str, start: int, end: int) -> bool:
    return _is_inside(text, start) or _is_inside(text, end)


def _is_inside(text: str, place: int) -> bool:
    """Whether a letter or digit stands on both sides; a plural s or a case ending is no sign of a wrong offset."""
    if not 0 < place < len(text):
        return False
    return text[place - 1].isalnum() and text[place].isalnum()


def _from_bytes(text: str, span: Span) -> tuple[int, int] | None:
    data = text.encode()
    try:
        return len(data[: span.start].decode()), len(data[: span.end].decode())
    except UnicodeDecodeError:
        return None
