"""Which revisions of a page stood in the time before a snapshot, found while they are read one after the other."""

from __future__ import annotations

import re
from bisect import bisect_right
from datetime import datetime

import msgspec

from entlink.documents import Leaf, Record

_STAMP = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_NEVER = (b"~", 0)  # after every stamp


class Windows(Record, frozen=True):
    """The stretches of time `[start, end)` that decide, each before a snapshot, both ends ascending.

    Times are stamps in UTC, which sort as texts.
    """

    starts: tuple[str, ...]
    ends: tuple[str, ...]


class StableRevision(Leaf, frozen=True):
    """The XML of a revision, the snapshots at which it is the stable one, and whether it is the page's latest."""

    data: bytes
    snapshots: tuple[int, ...]
    is_latest: bool


class LostTextError(Exception):
    """A text was let go to save memory that turned out to be the stable one."""


class _Standing(msgspec.Struct):
    """A revision, and what it was followed by."""

    begins: tuple[bytes, int]  # time and id: some share a second
    ends: tuple[bytes, int]
    data: bytes | None  # None where there is no text, so that it is never chosen
    is_lost: bool = False


class StandingRevisions:
    """The revisions of one page that can still be chosen; all others are forgotten as soon as that is known.

    A revision stands until the next one. Those that come out of order only shorten the time that others stood: what
    stood in no window need not be kept, nor what came while it stood.
    """

    def __init__(self, windows: Windows) -> None:
        self._starts = [start.encode() for start in windows.starts]
        self._ends = [end.encode() for end in windows.ends]
        self._kept: list[_Standing] = []
        self._first: tuple[bytes, int] = _NEVER
        self._latest: tuple[bytes, int] = (b"", 0)
        self.held = 0  # bytes

    def add(self, time: bytes, id: int, data: bytes | None) -> None:
        """Take in a revision; `data` is None where it has no text."""
        key, kept = (time, id), self._kept
        if key >= self._latest:  # as nearly all come
            if kept and kept[-1].ends is _NEVER:
                kept[-1].ends = key
                self._drop_if_idle(len(kept) - 1)
            self._latest = key
            self._first = min(self._first, key)
            self._insert(len(kept), _Standing(key, _NEVER, data))
            return
        place = bisect_right(kept, key, key=_begins)
        if key < self._first:
            ends, self._first = self._first, key
        elif place and key < kept[place - 1].ends:
            ends, kept[place - 1].ends = kept[place - 1].ends, key
        else:
            return  # what stood before it stood in no window, and so does what is left to it
        self._insert(place, _Standing(key, ends, data))
        self._drop_if_idle(place)
        if place:
            self._drop_if_idle(place - 1)

    def stable(self) -> tuple[StableRevision, ...]:
        """The chosen revisions in order of time; a LostTextError if one of their texts was let go."""
        snapshots: dict[int, list[int]] = {}
        for snapshot in range(len(self._ends)):
            if (place := self._chosen(snapshot)) is not None:
                snapshots.setdefault(place, []).append(snapshot)
        return tuple(
            StableRevision(_text(self._kept[place]), tuple(chosen), self._kept[place].begins == self._latest)
            for place, chosen in sorted(snapshots.items())
        )

    def let_go(self) -> None:
        """Forget the texts that are not the stable ones so far: only revisions out of order can change that."""
        needed = {self._chosen(snapshot) for snapshot in range(len(self._ends))}
        for place, one in enumerate(self._kept[:-1]):
            if place not in needed and one.data:
                self.held -= len(one.data)
                one.data, one.is_lost = b"", True

    def _insert(self, place: int, one: _Standing) -> None:
        self._kept.insert(place, one)
        self.held += len(one.data or b"")

    def _drop_if_idle(self, place: int) -> None:
        """Forget a revision that stood in no window."""
        one = self._kept[place]
        window = bisect_right(self._ends, one.begins[0])  # the first that ends after it began
        if window == len(self._ends) or self._starts[window] >= one.ends[0]:
            self.held -= len(one.data or b"")
            del self._kept[place]

    def _chosen(self, snapshot: int) -> int | None:
        """The place of the version that stood longest before a snapshot, of several the last."""
        start, end = self._starts[snapshot], self._ends[snapshot]
        best, longest = None, -1.0
        for place in range(bisect_right(self._kept, start, key=_end_time), len(self._kept)):
            one = self._kept[place]
            if one.begins[0] >= end:
                break
            if one.data is not None:
                stood = _seconds(min(one.ends[0], end)) - _seconds(max(one.begins[0], start))
                if stood >= longest:
                    best, longest = place, stood
        return best


def is_stamp(time: bytes) -> bool:
    """Whether a time is written as MediaWiki writes it, so that it sorts as a text."""
    if _STAMP.fullmatch(time) is None:
        return False
    try:
        datetime.fromisoformat(time.decode())
    except ValueError:  # the 30th of February
        return False
    return True


def _begins(one: _Standing) -> tuple[bytes, int]:
    return one.begins


def _end_time(one: _Standing) -> bytes:
    return one.ends[0]


def _text(one: _Standing) -> bytes:
    if one.is_lost or one.data is None:
        raise LostTextError
    return one.data


def _seconds(stamp: bytes) -> float:
    return datetime.fromisoformat(stamp.decode()).timestamp()
