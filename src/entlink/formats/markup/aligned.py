"""Visible text with the place of each of its characters in the marked-up original."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from entlink.documents import Span
from entlink.errors import SpanError

SPACE, LINE_BREAK, BLOCK_BREAK = " ", "\n", "\n\n"
_WIDTH = {"": 0, SPACE: 1, LINE_BREAK: 2, BLOCK_BREAK: 3}

# What browsers collapse: no-break and ideographic spaces are not among it.
BLANKS = " \t\n\f\r"
_WORDS = re.compile(rf"[^{BLANKS}]++(?: [^{BLANKS}]++)*+")
_COPIED = -1


class Run(NamedTuple):
    """A piece of the visible text. `copied`: it is the original's, character by character; otherwise
    all of it stands for all of the original span (a character reference, a line break)."""

    visible: Span
    original: Span
    copied: bool


class Runs(NamedTuple):
    """Runs as parallel arrays: where each starts in the visible text, where it starts in the original,
    and where it ends there (`_COPIED`: as many characters on as it has)."""

    starts: array[int]
    originals: array[int]
    ends: array[int]


class Aligned:
    """What a reader sees (`text`), with where each character stands in the original."""

    __slots__ = ("_runs", "text")

    def __init__(self, text: str, runs: Runs | None = None) -> None:
        """Without `runs`, the original is `text` itself."""
        self.text = text
        self._runs = runs

    def original(self, span: Span) -> Span:
        """The span of the original that the characters `span` of `text` stand for."""
        if not 0 <= span.start <= span.end <= len(self.text):
            raise SpanError(
                f"span {span.start}-{span.end} does not fit the visible text of {len(self.text)} characters. "
                "Pass a span of Aligned.text."
            )
        if self._runs is None or not self.text:
            return span
        if span.start < span.end:
            return Span(self._place(span.start).start, self._place(span.end - 1).end)
        at_end = span.start == len(self.text)
        at = self._place(span.start - 1).end if at_end else self._place(span.start).start
        return Span(at, at)

    def visible(self, span: Span) -> Span:
        """The span of `text` that stands for characters of the original within `span`; empty if none does."""
        start = self._visible_from(span.start)
        return Span(start, max(start, self._visible_from(span.end)))

    def _visible_from(self, at: int) -> int:
        """The first character of `text` that stands for one of the original from `at` on."""
        if self._runs is None:
            return min(max(at, 0), len(self.text))
        index = bisect_left(self._runs.originals, at)
        after = self._runs.starts[index] if index < len(self._runs.starts) else len(self.text)
        if index == 0:
            return after
        before = self._run(self._runs, index - 1)
        if before.copied and at < before.original.end:
            return before.visible.start + at - before.original.start
        return after

    def runs(self) -> Iterator[Run]:
        """The pieces of `text` in order, without a gap between two."""
        if self._runs is None:
            whole = Span(0, len(self.text))
            yield Run(whole, whole, True)
        else:
            yield from (self._run(self._runs, index) for index in range(len(self._runs.starts)))

    def _run(self, runs: Runs, index: int) -> Run:
        start, original, end = runs.starts[index], runs.originals[index], runs.ends[index]
        stop = runs.starts[index + 1] if index + 1 < len(runs.starts) else len(self.text)
        copied = end == _COPIED
        return Run(Span(start, stop), Span(original, original + stop - start if copied else end), copied)

    def _place(self, at: int) -> Span:
        """The span of the original that the single character `at` stands for."""
        assert self._runs is not None
        run = self._run(self._runs, bisect_right(self._runs.starts, at) - 1)
        if not run.copied:
            return run.original
        place = run.original.start + at - run.visible.start
        return Span(place, place + 1)


class Flow:
    """Collects visible text from left to right, and collapses the white space between its words.

    A gap (space, line break, block break) is held back until something visible follows, so that none
    stands at either end, and of neighbouring gaps only the widest shows.
    """

    def __init__(self, original: str) -> None:
        self._original = original
        self._pieces: list[str] = []
        self._length = 0
        self._copied_to = _COPIED
        self._runs = Runs(array("q"), array("q"), array("q"))
        self._gap, self._gap_start, self._gap_end = "", 0, 0

    def words(self, start: int, end: int) -> None:
        """Copies the original's `[start, end)`, each run of white space as one space."""
        at = start
        for match in _WORDS.finditer(self._original, start, end):
            if match.start() > at:
                self.gap(SPACE, at, match.start())
            at = match.end()
            self.copy(match.start(), at)
        if at < end:
            self.gap(SPACE, at, end)

    def copy(self, start: int, end: int) -> None:
        """Copies the original's `[start, end)` as it stands."""
        if start < end:
            self._close_gap()
            self._copy(start, end)

    def stand(self, visible: str, start: int, end: int) -> None:
        """Shows `visible` for the original's `[start, end)`; white space only counts as a gap."""
        if not visible.strip(BLANKS):
            if visible:
                self.gap(SPACE, start, end)
            return
        self._close_gap()
        self._stand(visible, start, end)

    def gap(self, kind: str, start: int, end: int) -> None:
        """Notes that the original's `[start, end)` separates what is before from what is after it."""
        if not self._gap:
            self._gap_start = start
        if kind == self._gap == LINE_BREAK:
            kind = BLOCK_BREAK
        if _WIDTH[kind] > _WIDTH[self._gap]:
            self._gap = kind
        self._gap_end = end

    def finish(self) -> Aligned:
        """All that was collected."""
        return Aligned("".join(self._pieces), self._runs)

    def _close_gap(self) -> None:
        gap, self._gap = self._gap, ""
        if not gap or not self._length:
            return
        start, end = self._gap_start, self._gap_end
        if gap == self._original[start : start + 1] and end == start + 1:
            self._copy(start, end)
        else:
            self._stand(gap, start, end)

    def _copy(self, start: int, end: int) -> None:
        if self._copied_to != start:
            self._open_run(start, _COPIED)
        self._append(self._original[start:end])
        self._copied_to = end

    def _stand(self, visible: str, start: int, end: int) -> None:
        self._open_run(start, end)
        self._append(visible)
        self._copied_to = _COPIED

    def _open_run(self, original: int, end: int) -> None:
        self._runs.starts.append(self._length)
        self._runs.originals.append(original)
        self._runs.ends.append(end)

    def _append(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)
