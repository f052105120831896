"""Chance by hashes: what is kept does not depend on the order in which it is seen."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from itertools import count
from typing import Generic, TypeVar

from entlink.datasets.selection import Splits

Item = TypeVar("Item")


class Sampled(Generic[Item]):
    """Of the items that were added, the `size` with the smallest hashes; without a size, all."""

    def __init__(self, size: int | None) -> None:
        self._size = size
        self._heap: list[tuple[int, int, Item]] = []  # negated hashes, so that the largest comes off first
        self._added = count()
        self.seen = 0

    def add(self, hash: int, item: Item) -> None:
        self.seen += 1
        entry = (-hash, -next(self._added), item)
        if self._size is None or len(self._heap) < self._size:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def items(self, most: int | None = None) -> list[Item]:
        """The items in the order of their hashes, the first `most` of them."""
        return [item for _, _, item in sorted(self._heap, key=lambda one: one[:2], reverse=True)[:most]]

    def __len__(self) -> int:
        return len(self._heap)


class Shares:
    """Names to splits, in the proportion of the splits' sizes: what has one name is never in two of them."""

    def __init__(self, sizes: Mapping[str, int], seed: int) -> None:
        self._names = list(sizes)
        total = sum(sizes.values())
        self._splits = Splits({name: size / total for name, size in sizes.items()}, seed)

    def split(self, name: str) -> str:
        return self._names[self._splits.place(name)]


def scaled(sizes: Mapping[str, int], there: int) -> dict[str, int]:
    """The sizes, made smaller in proportion where there are not enough rows; the first split gets the rest."""
    total = sum(sizes.values())
    if there >= total:
        return dict(sizes)
    shrunk = {name: size * there // total for name, size in sizes.items()}
    first = next(iter(sizes))
    shrunk[first] += there - sum(shrunk.values())
    return shrunk


def apportioned(parts: Mapping[int, int], wanted: int) -> dict[int, int]:
    """How many to take of each part so that all are `wanted`, in proportion to what each has."""
    total = sum(parts.values())
    if total <= wanted:
        return dict(parts)
    shares = {part: size * wanted // total for part, size in parts.items()}
    rests = sorted(parts, key=lambda part: (-(parts[part] * wanted % total), part))
    for part in rests[: wanted - sum(shares.values())]:
        shares[part] += 1
    return shares
