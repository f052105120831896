"""Weighted sums of named features, without numpy: linking needs nothing more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp


def total(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """What the features add up to; one without a weight counts nothing."""
    return sum(weights[name] * value for name, value in features.items() if name in weights)


def chance(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """The probability of a logistic regression."""
    summed = total(weights, features)
    return 1 / (1 + exp(-summed)) if summed >= 0 else exp(summed) / (1 + exp(summed))


def shares(weights: Mapping[str, float], rows: Sequence[Mapping[str, float]]) -> list[float]:
    """The probability of each row to be the one that is chosen: a softmax."""
    totals = [total(weights, row) for row in rows]
    most = max(totals)
    powers = [exp(one - most) for one in totals]
    whole = sum(powers)
    return [power / whole for power in powers]


def chosen(entities: Sequence[str], chances: Sequence[float]) -> tuple[str | None, dict[str, float]]:
    """The entity with the largest chance, all its places added up, and the chance of each.

    `chances` has one more than `entities`: that of none. No entity is chosen that is not likelier than none.
    """
    by_entity: dict[str, float] = {}
    for entity, one in zip(entities, chances, strict=False):
        by_entity[entity] = by_entity.get(entity, 0.0) + one
    best = min(by_entity, key=lambda entity: (-by_entity[entity], entity), default=None)
    return (best if best is not None and by_entity[best] > chances[-1] else None), by_entity
