"""Which documents are taken and where they go, by hashes alone: the same whoever reads what, and when."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import accumulate

from entlink.errors import InputError

_RANGE = 2**64
_TOLERANCE = 1e-6


def hash_of(seed: int, purpose: str, name: str) -> int:
    """A number below 2**64; unlike purposes give unrelated numbers for one name."""
    return int.from_bytes(blake2b(f"{seed}\0{name}".encode(), digest_size=8, person=purpose.encode()).digest())


class Splits:
    """Names with their shares; a page has its place by its id, so that it is never in two of them."""

    def __init__(self, shares: Mapping[str, float], seed: int) -> None:
        self._seed = seed
        self._ends = [int(share * _RANGE) for share in accumulate(shares.values())][:-1]

    def place(self, page: str) -> int:
        """Which of the names is that of the page, from 0."""
        return bisect_right(self._ends, hash_of(self._seed, "split", page)) if self._ends else 0


def check_shares(shares: Mapping[str, float]) -> None:
    """Raises InputError where a share is none, or they are not the whole together."""
    for name, share in shares.items():
        if not name or not name.replace("-", "").replace("_", "").isalnum():
            raise InputError(f"{name!r} cannot be a split's name: use letters, digits, - and _")
        if not 0 < share <= 1:
            raise InputError(f"the split {name!r} has the share {share:g}: it must be above 0 and at most 1")
    if shares and abs(sum(shares.values()) - 1) > _TOLERANCE:
        raise InputError(f"the shares of the splits add up to {sum(shares.values()):g}: they must add up to 1")


class Sample:
    """The `size` smallest hashes of those seen; without a size, all.

    What is above `threshold` cannot be among them any more, so that it need not be kept.
    """

    def __init__(self, size: int | None) -> None:
        self._size = size
        self._smallest: list[int] = []  # negated, so that the heap has the largest of them on top

    def see(self, hashes: Iterable[int]) -> None:
        if self._size is None:
            return
        for value in hashes:
            if len(self._smallest) < self._size:
                heapq.heappush(self._smallest, -value)
            elif value < -self._smallest[0]:
                heapq.heapreplace(self._smallest, -value)

    @property
    def threshold(self) -> int:
        """The largest hash that may still be among the smallest."""
        return _RANGE if self._size is None or len(self._smallest) < self._size else -self._smallest[0]

    def taker(self) -> Taker:
        """Once all hashes were seen: tells of each, in order, whether it is taken."""
        threshold = self.threshold
        return Taker(threshold, self._smallest.count(-threshold))


class Taker:
    """Takes what lies below a threshold, and of what lies on it as many as are wanted."""

    def __init__(self, threshold: int, on_it: int) -> None:
        self._threshold, self._on_it = threshold, on_it

    def takes(self, value: int) -> bool:
        if value != self._threshold:
            return value < self._threshold
        self._on_it -= 1
        return self._on_it >= 0
