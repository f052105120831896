"""Offsets that count something other than characters: bytes, UTF-16 units or tokens. Found out, and told."""

from __future__ import annotations

from collections.abc import Sequence

from entlink.documents import Document, Span
from entlink.errors import SpanError
from entlink.formats.offset_units import guess_unit
from entlink.text.spans import OFFSETS

_ENOUGH, _PLENTY = 12, 2_000


def check_offsets(gold: Document, predicted: Document) -> None:
    """Raises where a prediction's own text shows that its offsets count something else, or lie outside.

    Predictions without a text are looked up in that of the gold.
    """
    lacks = predicted.meta.get("lacks")
    if lacks == "offsets" or (lacks == "text" and "lacks" in gold.meta):
        return
    text = gold.text if lacks == "text" else predicted.text
    for link in predicted.links:
        span, surface = link.mention.span, link.mention.text
        start, end = span.start, span.end
        if surface and text[start:end] == surface and start >= 0:
            continue  # as almost all do
        if surface or not 0 <= start < end <= len(text):
            _check_odd(gold.id, text, span, surface)


def _check_odd(document: str, text: str, span: Span, surface: str) -> None:
    """A span that does not cover its surface: another unit, outside the text, or a text that shows it otherwise."""
    unit = guess_unit(text, span.start, span.end, surface)
    where = f"document {document!r}: the span {span.start}-{span.end}" + (f" of {surface!r}" if surface else "")
    if unit is not None:
        raise SpanError(f"{where} counts {unit}. {OFFSETS}")
    if 0 <= span.start < span.end <= len(text):
        return
    size = len(text.encode("utf-8", "surrogatepass"))
    bytes_told = "; these may be bytes" if len(text) < span.end <= size and not text.isascii() else ""
    raise SpanError(f"{where} lies outside the text of {len(text)} characters{bytes_told}. {OFFSETS}")


class OffsetWatch:
    """Watches where spans without a surface of their own begin and end, over many documents.

    Spans of characters hardly ever cut words in two. Where many do, and the same numbers read as bytes or tokens do
    not, they are not characters. Bytes differ from characters only behind the first letter beyond ASCII.
    """

    def __init__(self, role: str) -> None:
        self._role = role
        self.spans = self.cut = self.fit_tokens = 0
        self.drifting = self.drifting_cut = self.fit_bytes = 0

    @property
    def is_looking(self) -> bool:
        """Whether it has not yet seen plenty."""
        return self.spans < _PLENTY

    def see(self, text: str, spans: Sequence[Span]) -> None:
        """Take a look at spans of a text, if it has spaces between its words."""
        if not text.isascii() and not _has_spaces(text):
            return
        tokens = len(text.split())
        for span in spans:
            cuts = _cuts_a_word(text, span.start, span.end)
            self.spans += 1
            self.cut += cuts
            self.fit_tokens += cuts and span.end <= tokens
            as_bytes = (span.start, span.end) if text.isascii() else _from_bytes(text, span)
            if as_bytes != (span.start, span.end):
                self.drifting += 1
                self.drifting_cut += cuts
                self.fit_bytes += as_bytes is not None and not _cuts_a_word(text, *as_bytes)

    def verdict(self) -> str | None:
        """What is most likely wrong, or None."""
        if (
            self.drifting >= _ENOUGH
            and 2 * self.drifting_cut > self.drifting
            and self.fit_bytes > 0.9 * self.drifting
        ):
            return self._told(self.drifting_cut, self.drifting, "behind a letter beyond ASCII ", "look like bytes")
        if self.spans < _ENOUGH or 2 * self.cut <= self.spans:
            return None
        looks = "look like tokens" if self.fit_tokens >= 0.9 * self.cut else "do not look like offsets of this text"
        return self._told(self.cut, self.spans, "", looks)

    def _told(self, cut: int, spans: int, where: str, looks: str) -> str:
        return f"{cut} of {spans} spans of the {self._role} {where}cut a word in two: they {looks}. {OFFSETS}"


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
