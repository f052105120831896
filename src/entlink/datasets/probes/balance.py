"""As many rows of one class as of the other, in every bin of similarity, so that similarity alone says nothing."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Generic, TypeVar

from entlink.datasets.probes.chance import Sampled, apportioned

Item = TypeVar("Item")

UNKNOWN = -99  # the bin of pairs of which one has no vector
_BINS = 10  # from 0 to 1, and as many below 0
_SAME = 0.999  # from here on two names have the same words


def bin_of(cosine: float | None) -> int:
    """The bin of a cosine, a tenth wide; names with the same words have one of their own."""
    if cosine is None:
        return UNKNOWN
    return _BINS if cosine > _SAME else math.floor(cosine * _BINS)


class Balanced(Generic[Item]):
    """Keeps what may be chosen: of each bin and class at most `size` / 2 items, by chance."""

    def __init__(self, size: int) -> None:
        self._half = size // 2
        self._bins: dict[int, tuple[Sampled[Item], Sampled[Item]]] = defaultdict(
            lambda: (Sampled(self._half), Sampled(self._half))
        )

    def add(self, bin: int, is_positive: bool, hash: int, item: Item) -> None:
        self._bins[bin][is_positive].add(hash, item)

    def chosen(self) -> dict[int, tuple[list[Item], list[Item]]]:
        """Of each bin the negative and the positive items, as many of one as of the other."""
        there = {bin: min(len(no), len(yes)) for bin, (no, yes) in sorted(self._bins.items())}
        wanted = apportioned({bin: size for bin, size in there.items() if size}, self._half)
        return {
            bin: (self._bins[bin][False].items(size), self._bins[bin][True].items(size))
            for bin, size in wanted.items()
            if size
        }
