"""Which runs of `*`, `_` and `~~` in Markdown prose delimit emphasis and therefore do not show."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_RUN = re.compile(r"\*++|_++|~++")


@dataclass(slots=True)
class _Run:
    """A run of one sign: `[start, end)` of it is not used up yet, closings from the left, openings from
    the right."""

    sign: str
    start: int
    end: int
    length: int
    opens: bool
    closes: bool

    def fits(self, closing: _Run) -> bool:
        """Whether `closing` may close what this opens: CommonMark's rule of three."""
        if self.sign != closing.sign:
            return False
        if self.sign == "~" or not (self.closes or closing.opens):
            return True
        return (self.length + closing.length) % 3 != 0 or (self.length % 3 == 0 == closing.length % 3)


class Delimiters:
    """The runs read so far that are not resolved; those that delimit become edits that show nothing."""

    def __init__(self, prose: str, edits: list[tuple[int, int, str]]) -> None:
        self._prose, self._edits = prose, edits
        self._runs: list[_Run] = []

    def __len__(self) -> int:
        return len(self._runs)

    def read(self, at: int) -> int:
        """Takes the run that starts at `at`; returns where it ends."""
        match = _RUN.match(self._prose, at)
        assert match is not None
        sign, end = match.group()[0], match.end()
        opens, closes = self._flanks(sign, at, end)
        if (opens or closes) and (sign != "~" or end - at == 2):
            self._runs.append(_Run(sign, at, end, end - at, opens, closes))
        return end

    def _flanks(self, sign: str, start: int, end: int) -> tuple[bool, bool]:
        """Whether the run may open and may close: `_` within a word does neither."""
        before = self._prose[start - 1] if start else " "
        after = self._prose[end] if end < len(self._prose) else " "
        space_before, space_after = before.isspace(), after.isspace()
        sign_before, sign_after = _is_punctuation(before), _is_punctuation(after)
        left = not space_after and (not sign_after or space_before or sign_before)
        right = not space_before and (not sign_before or space_after or sign_after)
        if sign != "_":
            return left, right
        return left and (not right or sign_before), right and (not left or sign_after)

    def resolve(self, first: int) -> None:
        """Pairs the runs from the `first` on with each other, and forgets them."""
        runs = self._runs[first:]
        del self._runs[first:]
        stack: list[_Run] = []
        # Below its floor, a kind of closing found nothing before and will not now: this keeps it linear.
        floors: dict[tuple[str, bool, int], int] = {}
        for run in runs:
            if run.closes:
                self._close(run, stack, floors)
            if run.opens and run.start < run.end:
                stack.append(run)

    def _close(self, run: _Run, stack: list[_Run], floors: dict[tuple[str, bool, int], int]) -> None:
        kind = (run.sign, run.opens, run.length % 3)
        while run.start < run.end:
            below = range(len(stack) - 1, floors.get(kind, 0) - 1, -1)
            index = next((index for index in below if stack[index].fits(run)), None)
            if index is None:
                floors[kind] = len(stack)
                return
            opening = stack[index]
            self._pair(opening, run)
            del stack[index + 1 if opening.start < opening.end else index :]
            for other, floor in floors.items():
                floors[other] = min(floor, len(stack))

    def _pair(self, opening: _Run, closing: _Run) -> None:
        used = min(2, opening.end - opening.start, closing.end - closing.start)
        self._edits.append((opening.end - used, opening.end, ""))
        self._edits.append((closing.start, closing.start + used, ""))
        opening.end -= used
        closing.start += used


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
