"""Labels of words to spans, whatever the scheme: BIO, BILOU, BIOES or plain types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from entlink.documents import Mention, Span

OUTSIDE = frozenset({"O", "OUTSIDE"})
_PREFIXED = re.compile(r"([BILUESM])[-_](.+)")
_BEGINS, _ENDS = "BUS", "LEUS"
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


class Tagged(NamedTuple):
    """A word by its characters, with the label it was given and how likely that is."""

    start: int
    end: int
    label: str
    score: float


class Scheme:
    """How labels are to be read: with a prefix, such as `B-PER`, if all of them have one, else as types."""

    def __init__(self, labels: Iterable[str]) -> None:
        self.inside = [label for label in labels if label.upper() not in OUTSIDE]
        self._is_prefixed = all(map(_PREFIXED.fullmatch, self.inside))

    @property
    def types(self) -> list[str]:
        """The types that the labels name."""
        return sorted({self.parts(label)[1] for label in self.inside})

    def parts(self, label: str) -> tuple[str, str]:
        """The prefix of a label, I if it has none, and its type; the type of what is outside is empty."""
        if label.upper() in OUTSIDE:
            return "O", ""
        match = _PREFIXED.fullmatch(label) if self._is_prefixed else None
        return (match[1], match[2]) if match else ("I", label)

    def mentions(self, text: str, words: Iterable[Tagged]) -> list[Mention]:
        """The words of one span after the other as mentions: none runs across a blank line."""
        spans = (self._trimmed(text, span) for span in self._spans(text, words))
        return [mention for mention in spans if mention is not None]

    def _spans(self, text: str, words: Iterable[Tagged]) -> Iterator[list[Tagged]]:
        held: list[Tagged] = []
        for word in words:
            prefix, type = self.parts(word.label)
            if held and (
                not type
                or prefix in _BEGINS
                or type != self.parts(held[-1].label)[1]
                or _BLANK_LINE.search(text, held[-1].end, word.start)
            ):
                yield held
                held = []
            if type:
                held.append(word)
                if prefix in _ENDS:
                    yield held
                    held = []
        if held:
            yield held

    def _trimmed(self, text: str, span: Sequence[Tagged]) -> Mention | None:
        score = sum(word.score for word in span) / len(span)
        return trimmed(text, span[0].start, span[-1].end, self.parts(span[0].label)[1], score)


def trimmed(text: str, start: int, end: int, type: str | None, score: float | None) -> Mention | None:
    """A mention without white space at its ends; None if nothing else is in it."""
    surface = text[start:end]
    start += len(surface) - len(surface.lstrip())
    surface = surface.strip()
    return Mention(Span(start, start + len(surface)), surface, type, score) if surface else None
