"""What several retrievers found as one list: by weighted scores, or by slots for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Annotated

from msgspec import Meta

from entlink.documents import Candidate
from entlink.errors import ConfigError

Share = Annotated[float, Meta(ge=0)]
Many = Annotated[int, Meta(ge=1)]
_score = attrgetter("score")


class WeightedFusion:
    """The `keep` best by Σ weight · score; a retriever that is not named has no say, one that is silent gives 0."""

    def __init__(self, weights: Mapping[str, Share], *, keep: Many = 10) -> None:
        self.weights, self.keep = _checked("weights", weights), keep
        self.names = tuple(self.weights)  # the retrievers it speaks of

    def fuse(self, pools: Sequence[Sequence[Candidate]]) -> list[Sequence[Candidate]]:
        return [sorted(_weighted(pool, self.weights), key=_score, reverse=True)[: self.keep] for pool in pools]


class QuotaFusion:
    """`keep` slots, of which each retriever fills its share with its own best; paper 4 found 80 % prior, 10 % text.

    A slot that a retriever cannot fill goes to the others that have a share, the largest first. The list is ordered
    by the scores weighted with the shares.
    """

    def __init__(self, shares: Mapping[str, Share], *, keep: Many = 10) -> None:
        self.shares, self.keep = _checked("shares", shares), keep
        self.slots = slots_of({name: share for name, share in self.shares.items() if share > 0}, keep)
        self.names = tuple(self.shares)  # the retrievers it speaks of

    def fuse(self, pools: Sequence[Sequence[Candidate]]) -> list[Sequence[Candidate]]:
        return [sorted(self._filled(_weighted(pool, self.shares)), key=_score, reverse=True) for pool in pools]

    def _filled(self, pool: Sequence[Candidate]) -> list[Candidate]:
        found = {one.entity: one for one in pool}
        ranked = {name: [one.entity for one in own_of(name, pool)] for name in self.slots}
        return [found[entity] for entity in filled(ranked, self.slots, self.keep)]


def filled(ranked: Mapping[str, Sequence[str]], slots: Mapping[str, int], keep: int) -> dict[str, None]:
    """The entities in the slots, by what each retriever found, best first."""
    taken: dict[str, None] = {}
    for name, count in slots.items():
        _fill(taken, ranked[name], len(taken) + count)
    for name in slots:
        _fill(taken, ranked[name], keep)
    return taken


def slots_of(shares: Mapping[str, float], keep: int) -> dict[str, int]:
    """How many of `keep` slots each has, the largest share first; the largest remainders get what is left over."""
    total = sum(shares.values())
    exact = {name: keep * share / total for name, share in shares.items()}
    slots = {name: int(number + 1e-9) for name, number in exact.items()}
    order = sorted(exact, key=lambda name: slots[name] - exact[name])
    for name in order[: keep - sum(slots.values())]:
        slots[name] += 1
    return {name: slots[name] for name in sorted(shares, key=lambda name: -shares[name])}


def own_of(name: str, pool: Iterable[Candidate]) -> list[Candidate]:
    """A retriever's own candidates, best first."""
    known = [one for one in pool if one.evidence.get(name, 0.0) > 0.0]
    return sorted(known, key=lambda one: one.evidence[name], reverse=True)


def _fill(taken: dict[str, None], entities: Iterable[str], until: int) -> None:
    for entity in entities:
        if len(taken) >= until:
            break
        taken.setdefault(entity)


def _weighted(pool: Sequence[Candidate], weights: Mapping[str, float]) -> list[Candidate]:
    total = sum(weights.values())
    return [
        Candidate(
            one.entity,
            sum(weight * one.evidence.get(name, 0.0) for name, weight in weights.items()) / total,
            one.evidence,
            one.title,
        )
        for one in pool
    ]


def _checked(what: str, weights: Mapping[str, float]) -> dict[str, float]:
    if not weights or min(weights.values()) < 0 or sum(weights.values()) <= 0:
        raise ConfigError(
            f"the {what} of a fusion are numbers from 0 up, one a retriever, not all of them 0; got {dict(weights)}"
        )
    return dict(weights)
