"""The best fusion of some retrievers, found by trying a grid of weights or slots on a development set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import gcd
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from entlink.candidates.fusion import QuotaFusion, filled, own_of, slots_of
from entlink.documents import Candidate
from entlink.learning.fit.tables import EvidenceTable, recall_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

Fused = Literal["weights", "quotas"]
_WEIGHTS = (0, 1, 2, 4, 8)
_SLOTS = 10  # a share is a tenth
_ORDERED = 100  # settings that reach the same, at most, whose order is compared


class Tried(NamedTuple):
    """A setting of the grid and what it reaches: R@keep, then the mean reciprocal rank, which breaks ties."""

    settings: dict[str, float]
    recall: float
    reciprocal: float


def best_weights(table: EvidenceTable, keep: int) -> Tried:
    """The weights with the best R@keep; a table's features are its retrievers."""
    tried = [_tried(table.features, weights, table.ranks(weights), keep) for weights in weight_grid(table.features)]
    return max(tried, key=_merit)


def best_quotas(
    lists: Sequence[Sequence[Candidate]], right: Sequence[frozenset[str]], names: Sequence[str], keep: int
) -> Tried:
    """The shares with the best R@keep."""
    ranked = [_ranked(pool, names, keep) for pool in lists]
    recalls = [(_reached(ranked, right, shares, keep), shares) for shares in share_grid(names)]
    most = max(recall for recall, _ in recalls)
    # Only of those is the order looked at, which takes long.
    best = [shares for recall, shares in recalls if recall == most]
    return max((_quota(lists, right, shares, keep) for shares in best[:: len(best) // _ORDERED + 1]), key=_merit)


def _ranked(pool: Sequence[Candidate], names: Sequence[str], keep: int) -> dict[str, list[str]]:
    """The entities that each retriever found, best first: more than twice the slots are never looked at."""
    return {name: [one.entity for one in own_of(name, pool)[: 2 * keep]] for name in names}


def _reached(
    ranked: Sequence[dict[str, list[str]]], right: Sequence[frozenset[str]], shares: dict[str, float], keep: int
) -> int:
    """How many mentions have a right entity among the slots."""
    slots = slots_of({name: share for name, share in shares.items() if share > 0}, keep)
    return sum(not entities.isdisjoint(filled(own, slots, keep)) for own, entities in zip(ranked, right, strict=True))


def weight_grid(names: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """Every combination of 0, 1, 2, 4 and 8 that is not another one scaled."""
    for weights in product(_WEIGHTS, repeat=len(names)):
        if gcd(*weights) == 1:
            yield weights


def share_grid(names: Sequence[str]) -> Iterator[dict[str, float]]:
    """Every way to share ten slots out."""
    for slots in _compositions(_SLOTS, len(names)):
        yield {name: number / _SLOTS for name, number in zip(names, slots, strict=True)}


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def _quota(
    lists: Sequence[Sequence[Candidate]], right: Sequence[frozenset[str]], shares: dict[str, float], keep: int
) -> Tried:
    fused = QuotaFusion(shares, keep=keep).fuse(lists)
    ranks = [
        next((place for place, one in enumerate(kept) if one.entity in entities), keep)
        for kept, entities in zip(fused, right, strict=True)
    ]
    reached = sum(rank < keep for rank in ranks) / len(ranks)
    reciprocal = sum(1 / (rank + 1) for rank in ranks if rank < keep) / len(ranks)
    return Tried(shares, reached, reciprocal)


def _tried(names: Sequence[str], weights: Sequence[int], ranks: NDArray[Any], keep: int) -> Tried:
    largest = max(weights)
    settings = {name: weight / largest for name, weight in zip(names, weights, strict=True)}
    return Tried(settings, recall_at(ranks, keep), float((1.0 / (ranks + 1.0)).mean()))


def _merit(tried: Tried) -> tuple[float, float, float]:
    """Of two that reach as much, the one with fewer retrievers is simpler."""
    used = sum(weight > 0 for weight in tried.settings.values())
    return round(tried.recall, 4), round(tried.reciprocal, 4), -used
