"""Lists and seconds of a linker's parts, batch by batch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from time import perf_counter

from entlink.documents import Candidate, GoldLink
from entlink.evaluation.scoring.ranking import Outcome, rank_of, recall_at, reciprocal_rank
from entlink.interfaces import Evidence, Fusion, Shortlist
from entlink.studies.candidates.results import Found, SliceFound

Labels = Sequence[tuple[str, str]]  # slice and value, of one mention
_EVERYTHING = ("", "")


class Tally:
    """At which place the right entity stands, counted for all mentions and for each slice."""

    def __init__(self) -> None:
        self._ranks: defaultdict[tuple[str, str], Counter[Outcome]] = defaultdict(Counter)
        self._lengths: Counter[tuple[str, str]] = Counter()
        self.longest = 0

    def add(self, gold: GoldLink, candidates: Sequence[Candidate], labels: Labels) -> None:
        rank = rank_of(gold, candidates)
        outcome = Outcome(False, False, rank == 1, rank, rank)
        self.longest = max(self.longest, len(candidates))
        for part in (_EVERYTHING, *labels):
            self._ranks[part][outcome] += 1
            self._lengths[part] += len(candidates)

    def found(self, ks: Sequence[int]) -> Found:
        return self._found(_EVERYTHING, ks)

    def slices(self, ks: Sequence[int]) -> tuple[SliceFound, ...]:
        parts = sorted(part for part in self._ranks if part != _EVERYTHING)
        return tuple(SliceFound(*part, self._found(part, ks)) for part in parts)

    def _found(self, part: tuple[str, str], ks: Sequence[int]) -> Found:
        ranks = self._ranks[part]
        mentions = ranks.total()
        return Found(
            mentions,
            {k: recall_at(ranks, k) for k in ks},
            reciprocal_rank(ranks),
            self._lengths[part] / mentions if mentions else 0.0,
        )


class Times:
    """Milliseconds a mention, a number for each batch of each pass."""

    def __init__(self) -> None:
        self._passes: list[list[float]] = [[], []]

    def add(self, number: int, seconds: float, mentions: int) -> None:
        self._passes[number].append(1000.0 * seconds / mentions)

    def median(self, number: int) -> float | None:
        return median(self._passes[number]) if self._passes[number] else None


class Stopwatch:
    """The seconds that a retriever in a fusion takes for what others found.

    The retriever stays the object it is, only its method is timed.
    """

    def __init__(self, retriever: Evidence) -> None:
        self.seconds = 0.0
        self._gather = retriever.gather
        setattr(retriever, "gather", self._timed)  # noqa: B010 - mypy lets no method be assigned

    def _timed(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        start = perf_counter()
        try:
            return self._gather(shortlists)
        finally:
            self.seconds += perf_counter() - start


class KeptPools:
    """A fusion that keeps the pools it was given last."""

    def __init__(self, fusion: Fusion) -> None:
        self.fusion = fusion
        self.pools: Sequence[Sequence[Candidate]] = ()

    def fuse(self, pools: Sequence[Sequence[Candidate]]) -> list[Sequence[Candidate]]:
        self.pools = pools
        return self.fusion.fuse(pools)


def by_evidence(pool: Sequence[Candidate], name: str) -> list[Candidate]:
    """A pool in the order that one retriever would give it; what it has nothing to say of is left out."""
    known = [one for one in pool if one.evidence.get(name)]
    return sorted(known, key=lambda one: -one.evidence[name])
