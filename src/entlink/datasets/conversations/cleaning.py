"""Texts without addresses, odd characters and nonsense, with the place of each character in the text as it was."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import groupby, islice, takewhile
from typing import NamedTuple
from unicodedata import category

from entlink.datasets.conversations.options import Characters
from entlink.documents import Span

_ASCII_END, _LATIN_END = 0x80, 0x250  # the latter of the blocks with the letters of European languages
_PLAIN_SIGNS = str.maketrans("‘’‚‛“”„‟′″‐‑‒–—―…´`«»", "''''\"\"\"\"'\"------.''\"\"")
_WITHOUT_WIDTH = ("Cf", "Mn", "Me")  # joiners, direction marks, variation selectors, combining marks
_TOKEN = re.compile(r"\S+")
_LONGEST_UNIT = 3


class Cleaned(NamedTuple):
    """What is left of a text; `places` says where each character stood."""

    text: str
    places: array[int]

    def moved(self, span: Span) -> Span | None:
        """Where what a span covered stands now; None if nothing of it is left."""
        start, end = bisect_left(self.places, span.start), bisect_left(self.places, span.end)
        while start < end and self.text[start].isspace():
            start += 1
        while start < end and self.text[end - 1].isspace():
            end -= 1
        return Span(start, end) if start < end else None


class Cleaner:
    """Takes out what is not wanted: characters one by one, then words that say nothing."""

    def __init__(self, characters: Characters, signs: str, max_repeats: int) -> None:
        odd = _odd_characters(characters, signs)
        letters = rf"([^\W\d_]{{1,{_LONGEST_UNIT}}}?)\1{{{max_repeats},}}"
        row = rf"([^\w\s])\1{{{max_repeats},}}"
        self._repeats = max_repeats
        self._odd = re.compile(rf"(?:{odd}){{2,}}|(?! ){odd}")  # a single blank is as it should be
        self._nonsense = re.compile(rf"\W*+{letters}\w?\W*+", re.IGNORECASE)
        self._many_signs = re.compile(row)
        # Most texts have nothing that is looked for word by word: no rows, no words of signs, no repeated ones.
        self._hints = (
            re.compile(rf"\A | \Z|(?<!\S)[\W_]+(?!\S)|{row}"),
            re.compile(letters, re.IGNORECASE),
            re.compile(rf"(?<!\S)(\S++)(?: \1(?!\S)){{{max_repeats}}}", re.IGNORECASE),
        )

    def clean(self, text: str, removed: Iterable[Span] = (), protected: Sequence[Span] = ()) -> Cleaned:
        """The text without `removed`, odd characters and nonsense; words that touch `protected` are no nonsense."""
        shown, places = self._without_odd(text.translate(_PLAIN_SIGNS), removed)
        if not any(hint.search(shown) for hint in self._hints):
            return Cleaned(shown, places)
        kept: list[tuple[int, int]] = []
        for group in self._groups(shown, places, protected):
            kept += group
        return _joined(shown, places, kept)

    def _without_odd(self, text: str, removed: Iterable[Span]) -> tuple[str, array[int]]:
        """One blank for each row of odd characters and blanks; nothing for those without width."""
        for span in removed:
            text = text[: span.start] + "\0" * (span.end - span.start) + text[span.end :]
        pieces: list[str] = []
        places: array[int] = array("q")
        at = 0
        for match in self._odd.finditer(text):
            pieces.append(text[at : match.start()])
            places.extend(range(at, match.start()))
            if not all(category(sign) in _WITHOUT_WIDTH for sign in match.group()):
                pieces.append(" ")
                places.append(match.start())
            at = match.end()
        places.extend(range(at, len(text)))
        return "".join([*pieces, text[at:]]), places

    def _groups(self, text: str, places: Sequence[int], protected: Sequence[Span]) -> Iterable[list[tuple[int, int]]]:
        """Stretches of the words that stay, equal neighbours together, so that a run of them can be cut."""
        held = _Held(protected)
        words = [match.span() for match in _TOKEN.finditer(text)]
        for _, same in groupby(words, key=lambda word: text[slice(*word)].casefold()):
            run = list(same)
            touched = [held.touching(places[start], places[end - 1] + 1) for start, end in run]
            if not any(touched) and len(run) > self._repeats:
                del run[1:], touched[1:]
            yield [
                stretch
                for (start, end), spans in zip(run, touched, strict=True)
                if spans or self._says_something(text, start, end)
                for stretch in self._without_rows(text, start, end, places, spans)
            ]

    def _says_something(self, text: str, start: int, end: int) -> bool:
        is_nonsense = self._nonsense.fullmatch(text, start, end) is not None
        return not is_nonsense and any(sign.isalnum() for sign in text[start:end])

    def _without_rows(
        self, text: str, start: int, end: int, places: Sequence[int], held: Sequence[Span]
    ) -> Iterable[tuple[int, int]]:
        """A word with one sign for each row of them, but for rows in a mention."""
        at = start
        for match in self._many_signs.finditer(text, start, end):
            row = Span(places[match.start()], places[match.end() - 1] + 1)
            if not any(row.overlaps(span) for span in held):
                yield at, match.start() + 1
                at = match.end()
        if at < end:
            yield at, end


class _Held:
    """Spans that are asked for from left to right."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = sorted(spans, key=lambda span: span.start)
        self._at = 0

    def touching(self, start: int, end: int) -> list[Span]:
        while self._at < len(self._spans) and self._spans[self._at].end <= start:
            self._at += 1
        following = islice(self._spans, self._at, None)
        return list(takewhile(lambda span: span.start < end, following))


def _odd_characters(characters: Characters, signs: str) -> str:
    """A pattern for what does not stay; blanks are among it."""
    also = re.escape("".join(signs.split()))
    if characters == "any":
        return rf"(?:(?![{also}])[\W_])" if also else r"[\W_]"
    end = _LATIN_END if characters == "latin" else _ASCII_END
    letters = "".join(sign for sign in map(chr, range(end)) if sign.isalpha() or (sign.isascii() and sign.isdigit()))
    return rf"[^{letters}{also}]"


def _joined(text: str, places: Sequence[int], stretches: Iterable[tuple[int, int]]) -> Cleaned:
    """The stretches with one blank where there was white space between two."""
    pieces: list[str] = []
    left: array[int] = array("q")
    before = -1
    for start, end in stretches:
        if before >= 0 and any(sign.isspace() for sign in text[before:start]):
            pieces.append(" ")
            left.append(places[before])
        pieces.append(text[start:end])
        left.extend(places[start:end])
        before = end
    return Cleaned("".join(pieces), left)
