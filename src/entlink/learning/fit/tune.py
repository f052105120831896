"""Tuning a linker on documents with gold: first how its retrievers are fused, then what its ranker weighs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from random import Random
from typing import Any

import msgspec

from entlink.candidates.fusion import QuotaFusion, WeightedFusion
from entlink.documents import Candidate, Document
from entlink.errors import ConfigError, MissingExtraError
from entlink.interfaces import Fusion, Shortlist
from entlink.io.progress import Progress
from entlink.learning.fit.grid import Fused, Tried, best_quotas, best_weights
from entlink.learning.fit.tables import Asked, EvidenceTable, asked, evidence_table, questions_of, recall_at
from entlink.learning.fit.weights import fit_weights
from entlink.linking.config import LinkerConfig, Stage
from entlink.linking.linker import Linker
from entlink.nil.threshold import THRESHOLD
from entlink.ranking.combination import CombinationRanker

_MOST_TRIED = 6  # retrievers: each more takes five times as long
_BATCH = 64
_SACRIFICED = 0.001
_FITS = 2  # coherence looks at the leaders, which other weights change


class TuneOptions(msgspec.Struct, frozen=True):
    """What to tune, for lists of `keep` candidates; `limit` mentions at most, drawn by `seed`."""

    by: Fused = "weights"
    keep: int = 10
    limit: int = 5_000
    seed: int = 0
    fusion: bool = True
    ranker: bool = True


class Tuned(msgspec.Struct, frozen=True):
    """What was chosen, and what it reaches: all figures are of the development set, `held_out` of its unseen half."""

    mentions: int
    keep: int
    pool_recall: float
    fusion: dict[str, float]
    recall: float
    recall_before: float
    weights: dict[str, float]
    accuracy: float
    accuracy_before: float
    held_out: float
    held_out_before: float


def tune(
    linker: Linker, config: LinkerConfig, documents: Iterable[Document], options: TuneOptions, progress: Progress
) -> tuple[LinkerConfig, Tuned]:
    """The configuration with its fusion and weights chosen on the documents' gold, and a report."""
    if linker.pooling is None:
        raise ConfigError("only a linker with a [fusion] can be tuned: the one called zero-shot has one")
    _need_numpy()
    mentions = sample(linker, documents, options, progress)
    pools = list(_pools(linker, mentions, progress))
    right = [one.right for one in mentions]
    before = linker.pooling.fusion
    names = _fused(before, list(linker.pooling.retrievers))
    table = evidence_table(pools, right, names)
    fused, tried = _choose_fusion(table, pools, right, names, before, options, progress)
    ranked = _Ranking(linker, mentions, fused.fuse(pools), progress)
    weights, bias = (
        ranked.fitted(options.seed) if options.ranker and ranked.ranker else (ranked.weights(), ranked.bias())
    )
    report = Tuned(
        mentions=len(mentions),
        keep=options.keep,
        pool_recall=float(table.reached.mean()),
        fusion=tried.settings,
        recall=tried.recall,
        recall_before=_recall(before.fuse(pools), right, options.keep),
        weights=weights,
        accuracy=ranked.accuracy(weights),
        accuracy_before=ranked.accuracy_before,
        held_out=ranked.held_out,
        held_out_before=ranked.held_out_before,
    )
    return _with(config, fused, report, bias, tuned_ranker=options.ranker and ranked.ranker is not None), report


def _need_numpy() -> None:
    try:
        import numpy  # noqa: F401
    except ImportError as problem:
        raise MissingExtraError("tuning", "retrieval") from problem


def sample(linker: Linker, documents: Iterable[Document], options: TuneOptions, progress: Progress) -> list[Asked]:
    """Mentions of whole documents, drawn at random, in the order of the file."""
    progress("reading", 0, 0)
    by_document = [list(group) for _, group in groupby(asked(linker.kb, documents), key=lambda one: id(one.document))]
    order = list(range(len(by_document)))
    Random(options.seed).shuffle(order)
    chosen: list[int] = []
    count = 0
    for number in order:
        if count >= options.limit:
            break
        chosen.append(number)
        count += len(by_document[number])
    return [one for number in sorted(chosen) for one in by_document[number]]


def _pools(linker: Linker, mentions: Sequence[Asked], progress: Progress) -> Iterator[Sequence[Candidate]]:
    assert linker.pooling is not None
    questions = iter(questions_of(mentions))
    done = 0
    while batch := list(islice(questions, _BATCH)):
        for shortlist in linker.pooling.pools(batch):
            yield shortlist.candidates
            done += 1
        progress("asking the retrievers", done, len(mentions))


def _choose_fusion(
    table: EvidenceTable,
    pools: Sequence[Sequence[Candidate]],
    right: Sequence[frozenset[str]],
    names: Sequence[str],
    before: Fusion,
    options: TuneOptions,
    progress: Progress,
) -> tuple[Fusion, Tried]:
    if not options.fusion:
        return before, Tried({}, _recall(before.fuse(pools), right, options.keep), 0.0)
    progress("trying fusions", 0, 0)
    if options.by == "weights":
        tried = best_weights(table, options.keep)
        now = _as_it_is(before, table, options.keep)
        if now is not None and tried.recall <= now.recall:
            tried = now
        return WeightedFusion(_used(tried), keep=options.keep), tried
    tried = best_quotas(pools, right, names, options.keep)
    return QuotaFusion(_used(tried), keep=options.keep), tried


def _fused(fusion: Fusion, names: list[str]) -> list[str]:
    """The retrievers to weigh: all, or of more than can be tried together, those that the fusion names."""
    if len(names) <= _MOST_TRIED or not isinstance(fusion, WeightedFusion):
        return names
    return [name for name in names if name in fusion.weights] or names


def _as_it_is(fusion: Fusion, table: EvidenceTable, keep: int) -> Tried | None:
    """What the weights there are reach: those of a grid that reach no more are no better."""
    if not isinstance(fusion, WeightedFusion):
        return None
    ranks = table.ranks([fusion.weights.get(name, 0.0) for name in table.features])
    return Tried(dict(fusion.weights), recall_at(ranks, keep), 0.0)


def _used(tried: Tried) -> dict[str, float]:
    return {name: weight for name, weight in tried.settings.items() if weight}


def _recall(lists: Sequence[Sequence[Candidate]], right: Sequence[frozenset[str]], keep: int) -> float:
    reached = sum(
        any(one.entity in entities for one in candidates[:keep])
        for candidates, entities in zip(lists, right, strict=True)
    )
    return reached / len(lists)


class _Ranking:
    """The evidence of the ranker for the fused lists, and weights for it."""

    def __init__(
        self, linker: Linker, mentions: Sequence[Asked], lists: Sequence[Sequence[Candidate]], progress: Progress
    ) -> None:
        self.ranker = linker.ranker if isinstance(linker.ranker, CombinationRanker) else None
        self._linker, self._progress, self._mentions = linker, progress, mentions
        self._shortlists = [
            Shortlist(one.document, one.mention, found) for one, found in zip(mentions, lists, strict=True)
        ]
        self._table = self._evidence()
        self.accuracy_before = self.held_out = self.held_out_before = self.accuracy(self.weights())

    def _evidence(self) -> EvidenceTable:
        self._progress("weighing evidence", 0, 0)
        ranked = self._linker.rank(self._shortlists)
        features = list(self.ranker.weights) if self.ranker else ["score"]
        if self.ranker is None:
            ranked = [[_scored(one) for one in candidates] for candidates in ranked]
        return evidence_table(ranked, [one.right for one in self._mentions], features)

    def weights(self) -> dict[str, float]:
        return dict(self.ranker.weights) if self.ranker else {"score": 1.0}

    def bias(self) -> float:
        return self.ranker.bias if self.ranker else 0.0

    def accuracy(self, weights: dict[str, float]) -> float:
        return recall_at(self._table.ranks(list(weights.values())), 1)

    def fitted(self, seed: int) -> tuple[dict[str, float], float]:
        """Weights fitted to all mentions; how well half of them does on the other half is kept in `held_out`.

        If that is worse than the weights there were, those stay.
        """
        assert self.ranker is not None
        before = list(self.ranker.weights.values())
        first, second = _halves(self._table, self._mentions, seed)
        if len(second.right):
            self.held_out_before = recall_at(second.ranks(before), 1)
            self.held_out = recall_at(second.ranks(fit_weights(first, before)), 1)
        if self.held_out < self.held_out_before:
            return self.weights(), self.bias()
        for _ in range(_FITS):
            weights = [round(weight, 4) for weight in fit_weights(self._table, before)]
            self.ranker.weights = dict(zip(self.ranker.weights, weights, strict=True))
            self._table = self._evidence()
        return dict(self.ranker.weights), round(self._fitted_bias(weights), 4)

    def _fitted_bias(self, weights: Sequence[float]) -> float:
        """Such that one right leader in a thousand would be NIL by the default threshold; calibration does better."""
        import numpy

        scores = self._table.scores(weights)[self._table.ranks(weights) == 0]
        if not len(scores):
            return self.bias()
        sums = scores.max(1)
        shares = numpy.maximum(1 / numpy.exp(scores - sums[:, None]).sum(1), 2 * THRESHOLD)
        # A leader's score is its share times the logistic of its sum less the bias.
        largest = sums - numpy.log(THRESHOLD / (shares - THRESHOLD))
        return float(numpy.quantile(largest, _SACRIFICED))


def _halves(table: EvidenceTable, mentions: Sequence[Asked], seed: int) -> tuple[EvidenceTable, EvidenceTable]:
    """Two halves of the mentions, no document in both if there are several; the first has something to fit to."""
    import numpy

    of: list[object] = [one.document.id for one in mentions]
    if len(set(of)) == 1:
        of = list(range(len(mentions)))
    ids = list(dict.fromkeys(of))
    Random(seed).shuffle(ids)
    chosen = set(ids[: len(ids) // 2])
    mask = numpy.array([id in chosen for id in of])
    if not table.reached[mask].any():
        mask = ~mask
    return _part(table, mask), _part(table, ~mask)


def _part(table: EvidenceTable, mask: Any) -> EvidenceTable:
    return EvidenceTable(table.features, table.values[mask], table.present[mask], table.right[mask])


def _scored(candidate: Candidate) -> Candidate:
    return Candidate(candidate.entity, candidate.score, {"score": candidate.score}, candidate.title)


def _with(config: LinkerConfig, fused: Fusion, report: Tuned, bias: float, *, tuned_ranker: bool) -> LinkerConfig:
    settings: dict[str, Any] = {}
    if isinstance(fused, WeightedFusion):
        settings["fusion"] = {"name": "weights", "keep": fused.keep, "weights": fused.weights}
    elif isinstance(fused, QuotaFusion):
        settings["fusion"] = {"name": "quotas", "keep": fused.keep, "shares": fused.shares}
    if tuned_ranker:
        ranker: Stage = {**config.ranker, "weights": report.weights, "bias": bias}
        settings["ranker"] = ranker
    if config.nil.get("name") == "calibrated":
        settings["nil"] = {"name": "calibrated"}  # it was fitted to other scores: until it is again, it says so
    return msgspec.structs.replace(config, **settings)
