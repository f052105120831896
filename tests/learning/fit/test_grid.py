from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from entlink.candidates.fusion import QuotaFusion, WeightedFusion
from entlink.documents import Candidate
from entlink.learning.fit.grid import best_quotas, best_weights, share_grid, weight_grid
from entlink.learning.fit.tables import evidence_table

NAMES = ("names", "words", "vectors")


def candidates(*evidence: tuple[float, float, float]) -> list[Candidate]:
    return [Candidate(f"e{number}", 0.0, dict(zip(NAMES, one, strict=True))) for number, one in enumerate(evidence)]


# The right one is e0 throughout: names alone put it behind, vectors before, words say nothing.
POOLS = [
    candidates((0.5, 0.1, 0.9), (0.6, 0.1, 0.1), (0.7, 0.1, 0.1)),
    candidates((0.4, 0.2, 0.8), (0.9, 0.2, 0.2), (0.1, 0.2, 0.3)),
    candidates((0.9, 0.3, 0.2), (0.2, 0.3, 0.3)),
]
RIGHT = [frozenset({"e0"})] * 3


def test_the_best_weights_reach_what_brute_force_reaches():
    tried = best_weights(evidence_table(POOLS, RIGHT, NAMES), 1)
    reached = {
        weights: sum(
            WeightedFusion(dict(zip(NAMES, weights, strict=True)), keep=1).fuse([pool])[0][0].entity == "e0"
            for pool in POOLS
        )
        for weights in weight_grid(NAMES)
    }
    assert tried.recall == pytest.approx(max(reached.values()) / 3)
    assert tried.settings["vectors"] > 0
    assert tried.settings["words"] == 0, "what adds nothing is left out"


def test_the_best_quotas_reach_what_brute_force_reaches():
    tried = best_quotas(POOLS, RIGHT, NAMES, 2)
    reached = [
        sum("e0" in {one.entity for one in QuotaFusion(shares, keep=2).fuse([pool])[0]} for pool in POOLS)
        for shares in share_grid(NAMES)
    ]
    assert tried.recall == pytest.approx(max(reached) / 3)


def test_the_grid_of_weights_has_no_setting_twice():
    scaled = {tuple(weight / max(weights) for weight in weights) for weights in weight_grid(NAMES)}
    assert len(scaled) == len(list(weight_grid(NAMES)))
    assert (1, 0, 0) in set(weight_grid(NAMES))


def test_the_grid_of_shares_has_every_tenth():
    shares = list(share_grid(NAMES))
    assert len(shares) == 66  # ways to put ten slots into three heaps
    assert all(sum(one.values()) == pytest.approx(1.0) for one in shares)
    assert {"names": 0.8, "words": 0.1, "vectors": 0.1} in shares
    assert all(one != other for one, other in pairwise(shares))


def test_random_pools_reach_by_quotas_what_brute_force_reaches():
    """Short cuts of the search find what every setting, tried in full, finds."""
    chosen = Random(4)
    for _ in range(5):
        pools = [
            candidates(*(tuple(chosen.choice((0.0, chosen.random())) for _ in NAMES) for _ in range(15)))
            for _ in range(12)
        ]
        right = [frozenset({f"e{chosen.randrange(15)}"}) for _ in pools]
        reached = [
            sum(
                not entities.isdisjoint({one.entity for one in QuotaFusion(shares, keep=3).fuse([pool])[0]})
                for pool, entities in zip(pools, right, strict=True)
            )
            for shares in share_grid(NAMES)
        ]
        assert best_quotas(pools, right, NAMES, 3).recall == pytest.approx(max(reached) / len(pools))
