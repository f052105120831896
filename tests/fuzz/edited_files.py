"""A file from bytes: each four of them are one edit of a good file, so that a fuzzer need not find good ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

_STEP = 4


class Edit(NamedTuple):
    """What to do at a place of a file; `number` means something else to each of the ways."""

    place: int
    way: int
    number: int

    def applied(self, data: bytes, tokens: Sequence[bytes]) -> bytes:
        at = self.place % (len(data) + 1)
        before, after = data[:at], data[at:]
        token = tokens[self.number % len(tokens)]
        ways = (
            lambda: before + bytes([self.number]) + after[1:],
            lambda: before + after[self.number + 1 :],
            lambda: before + token + after,
            lambda: before + token + after[len(token) :],
            lambda: before + after[: 4 * self.number] + after,
            lambda: before,
            lambda: before + token * (20 * self.number) + after,
            lambda: self._at_token(data, tokens),
        )
        return ways[self.way % len(ways)]()

    def _at_token(self, data: bytes, tokens: Sequence[bytes]) -> bytes:
        """Take out the first occurrence of one token, or put another one in its place."""
        old, new = tokens[self.number % len(tokens)], tokens[self.place % len(tokens)]
        return data.replace(old, new if self.place % 2 else b"", 1)


def edits_of(data: bytes) -> Iterator[Edit]:
    """The edits that the bytes stand for."""
    for at in range(0, len(data) - _STEP + 1, _STEP):
        high, low, way, number = data[at : at + _STEP]
        yield Edit(high << 8 | low, way, number)


def edited(good: bytes, edits: Iterator[Edit] | Sequence[Edit], tokens: Sequence[bytes]) -> bytes:
    """The good file after all edits."""
    for edit in edits:
        good = edit.applied(good, tokens)
    return good
