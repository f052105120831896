"""Retrievers together, as paper 4 has them: by weights and by slots, both chosen on development data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import NamedTuple

import msgspec

from entlink.candidates.fusion import QuotaFusion, WeightedFusion
from entlink.documents import Candidate
from entlink.errors import ConfigError, InputError
from entlink.interfaces import Fusion
from entlink.learning.fit.grid import Tried, best_quotas, best_weights
from entlink.learning.fit.tables import evidence_table
from entlink.linking.config import LinkerConfig, retriever_names
from entlink.linking.linker import Linker
from entlink.studies.candidates.asked import Batch
from entlink.studies.candidates.results import Found, How, Method, SliceFound
from entlink.studies.timing import KeptPools, Tally, Times
from entlink.text.nearest import did_you_mean

PAPER = (0.8, 0.1, 0.1)  # the shares of prior, text and picture in paper 4
_TUNED_AT = 10  # candidates a mention, as in the paper


class _Way(NamedTuple):
    """A way to fuse: its name, what was chosen, and a fusion for lists of each length."""

    how: How
    settings: dict[str, float]
    fusions: dict[int, Fusion]


class Ensemble:
    """Some retrievers, each asked once; their pools are fused in each way that was chosen."""

    def __init__(self, names: Sequence[str], linker: Linker, ks: Sequence[int]) -> None:
        self.names, self.linker, self._ks = tuple(names), linker, tuple(ks)
        assert linker.pooling is not None
        self._kept = linker.pooling.fusion = KeptPools(linker.pooling.fusion)
        self._ways: list[_Way] = []
        self._tallies: list[dict[int, Tally]] = []
        self._times: list[Times] = []
        self.notes: list[str] = []

    def tune(self, batches: Iterable[Batch]) -> None:
        """Choose weights and slots with the best R@10 of some mentions."""
        pools: list[Sequence[Candidate]] = []
        right: list[frozenset[str]] = []
        for batch in batches:
            self.linker.retrieve(batch.questions)
            pools += self._kept.pools
            right += [frozenset(gold.entities) for gold in batch.gold]
        weights = best_weights(evidence_table(pools, right, self.names), _TUNED_AT)
        self._add("weights", weights)
        self._add("slots", best_quotas(pools, right, self.names, _TUNED_AT))
        if len(self.names) == len(PAPER):
            slots = dict(zip(self.names, PAPER, strict=True))
            shown = ", ".join(f"{name} {share:g}" for name, share in slots.items())
            self.notes.append(f"{self.name} by slots of paper 4, in this order: {shown}")
            self._put("slots of paper 4", slots)

    def _add(self, how: How, tried: Tried) -> None:
        chosen = {name: value for name, value in tried.settings.items() if value}
        shown = ", ".join(f"{name} {value:g}" for name, value in chosen.items())
        self.notes.append(f"{self.name} by {how}: {shown}; R@{_TUNED_AT} of the development data {tried.recall:.3f}")
        self._put(how, chosen)

    def _put(self, how: How, settings: dict[str, float]) -> None:
        make = WeightedFusion if how == "weights" else QuotaFusion
        self._ways.append(_Way(how, settings, {k: make(settings, keep=k) for k in self._ks}))
        self._tallies.append({k: Tally() for k in self._ks})
        self._times.append(Times())

    @property
    def name(self) -> str:
        return " + ".join(self.names)

    def ask(self, batch: Batch, number: int) -> None:
        """Fuse what is found for a batch in every way; its lists count in the first pass."""
        start = perf_counter()
        self.linker.retrieve(batch.questions)
        seconds = perf_counter() - start
        pools = self._kept.pools
        longest = max(self._ks)
        for way, tallies, times in zip(self._ways, self._tallies, self._times, strict=True):
            start = perf_counter()
            lists = {longest: way.fusions[longest].fuse(pools)}
            times.add(number, seconds + perf_counter() - start, len(batch.gold))
            if number == 0:
                for k, tally in tallies.items():
                    found = lists[k] if k in lists else way.fusions[k].fuse(pools)
                    for gold, candidates, labels in zip(batch.gold, found, batch.labels, strict=True):
                        tally.add(gold, candidates, labels)

    def results(self) -> Iterator[Method]:
        for way, tallies, times in zip(self._ways, self._tallies, self._times, strict=True):
            found = _joined([tally.found((k,)) for k, tally in tallies.items()])
            parts = zip(*(tally.slices((k,)) for k, tally in tallies.items()), strict=True)
            slices = tuple(
                SliceFound(own[0].slice, own[0].value, _joined([one.found for one in own])) for own in parts
            )
            yield Method(f"{self.name} by {way.how}", way.how, found, slices, times.median(0), times.median(1))


def _joined(found: Sequence[Found]) -> Found:
    """The recall at each K of lists that were made for it; the rest is of the longest."""
    recalls = {k: recall for one in found for k, recall in one.recall_at.items()}
    return msgspec.structs.replace(found[-1], recall_at=recalls)


def ensembles_of(
    config: LinkerConfig, wanted: Sequence[Sequence[str]], missing: Mapping[str, str]
) -> list[tuple[str, ...]]:
    """The retrievers of each ensemble; without any wanted, all that the configuration has.

    `missing` says why others that it named are not there.
    """
    known = retriever_names(config.retriever)
    found = [tuple(dict.fromkeys(names)) for names in wanted] or [tuple(known)]
    for names in found:
        for name in names:
            if name in missing:
                raise ConfigError(f"the retriever {name!r} cannot be part of an ensemble: {missing[name]}")
            if name not in known:
                raise ConfigError(f"no retriever {name!r} in the configuration{did_you_mean(name, known)}")
        if len(names) < 2:
            why = "".join(f" {name!r} is left out: {reason}" for name, reason in missing.items())
            raise InputError(f"an ensemble has several retrievers, not {names[0]!r} alone. Join them with a +.{why}")
    return found


def of_ensemble(config: LinkerConfig, names: Sequence[str], longest: int) -> LinkerConfig:
    """The configuration with these retrievers alone, and pools that nothing is cut from."""
    stages = dict(zip(retriever_names(config.retriever), config.retriever, strict=True))
    return msgspec.structs.replace(
        config,
        retriever=[stages[name] for name in names],
        fusion={"name": "weights", "keep": longest, "weights": dict.fromkeys(names, 1.0)},
        evidence=[],
        ranker={"name": "prior"},
        pool=max(config.pool, len(names) * longest),
    )
