"""The weights of a ranker fitted to cases, and how often the right candidate comes first with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from entlink.documents import Candidate
from entlink.errors import ConfigError
from entlink.interfaces import NilPolicy, Shortlist
from entlink.io.progress import Progress
from entlink.learning.fit.tables import EvidenceTable, evidence_table
from entlink.learning.fit.weights import fit_weights
from entlink.learning.own_texts.cases import RARE
from entlink.linking.config import LinkerConfig
from entlink.ranking.combination import CombinationRanker

if TYPE_CHECKING:
    from entlink.learning.own_texts.cases import Case
    from entlink.linking.linker import Linker

_BATCH = 64
# What a link with an unusual meaning counts: with 1, a name would hardly ever mean anything else. Where more of them
# were drawn than come by themselves, they share what those alone would count for.
_UNUSUAL = 5.0
_PULL = 2.0  # over the number of mentions: evidence of a new model starts from nothing, and is to be found by the fit
# Fitted on the development mentions of Schools Wikipedia with the company that names keep, and rounded, but for two.
# Company says how often an entity is spoken of, too: popularity has nothing to add there, and is not to subtract.
# Names cut short have few entities there, and their shares say nothing; where they have many, they do.
START_WEIGHTS: Mapping[str, float] = {
    "alias": 1.05,
    "dense": 16.9,
    "bm25": 2.85,
    "count": 0.67,
    "spelling": 1.3,
    "initials": 3.6,
    "popularity": 0.0,
    "coherence": 2.8,
    "edit-distance": 0.7,
    "company": 0.65,
    "expected": 0.0,
    "shortened": 0.25,
}


class Score(NamedTuple):
    """The share of cases whose entity comes first; and where unusual meanings count as much as they are worth."""

    accuracy: float
    balanced: float


class Fit(NamedTuple):
    """Weights and a bias, and how well they do on what is held back."""

    weights: dict[str, float]
    bias: float
    score: Score


def ranker_of(linker: Linker) -> CombinationRanker:
    """The ranker whose weights are fitted."""
    if not isinstance(linker.ranker, CombinationRanker) or linker.pooling is None:
        raise ConfigError(
            'only a linker with a [fusion] and the ranker "combination" can be adapted: the one called zero-shot has '
            "both"
        )
    return linker.ranker


def evidence(linker: Linker, cases: Sequence[Case], progress: Progress) -> list[Sequence[Candidate]]:
    """The candidates of cases with all the evidence that the linker has for them, in its order."""
    assert linker.pooling is not None
    lists: list[Sequence[Candidate]] = []
    for start in range(0, len(cases), _BATCH):
        progress("weighing evidence", start, len(cases))
        shortlists = [one.shortlist for one in cases[start : start + _BATCH]]
        for name, scorer in linker.pooling.scorers.items():
            unknown = any(name not in one.evidence for found in shortlists for one in found.candidates)
            if name != "alias" and unknown:
                told = zip(shortlists, scorer.gather(shortlists), strict=True)
                shortlists = [
                    _with(name, one, [own.get(scorer.gives[0], 0.0) for own in numbers]) for one, numbers in told
                ]
        lists += linker.rank(shortlists)
    return lists


def _with(name: str, shortlist: Shortlist, scores: Sequence[float]) -> Shortlist:
    candidates = [
        one if name in one.evidence else Candidate(one.entity, one.score, {**one.evidence, name: score}, one.title)
        for one, score in zip(shortlist.candidates, scores, strict=True)
    ]
    return shortlist._replace(candidates=candidates)


def scored(linker: Linker, cases: Sequence[Case], progress: Progress) -> Score:
    """How well the linker does as it is."""
    return _score(_table(linker, cases, progress), cases, list(ranker_of(linker).weights.values()))


def fitted(linker: Linker, tune: Sequence[Case], held_back: Sequence[Case], progress: Progress) -> Fit:
    """Weights fitted to some cases, from those of the ranker on, and what they do on others."""
    weights, bias = fitted_weights(linker, tune, progress)
    return Fit(weights, bias, _score(_table(linker, held_back, progress), held_back, list(weights.values())))


def fitted_weights(linker: Linker, cases: Sequence[Case], progress: Progress) -> tuple[dict[str, float], float]:
    """Weights fitted to some cases, from those of the ranker on, and the bias that goes with them."""
    ranker = ranker_of(linker)
    start = list(ranker.weights.values())
    table = _table(linker, cases, progress)
    found = fit_weights(table, start, pull=_PULL / len(cases), importance=_importance(cases))
    found = [round(weight, 4) for weight in found]
    return dict(zip(ranker.weights, found, strict=True)), round(ranker.bias + _shift(table, start, found), 4)


def taken(linker: Linker, before: Mapping[str, float], held_back: Sequence[Case], progress: Progress) -> Fit:
    """The weights that the ranker has, with a bias that follows from those it had `before`."""
    ranker = ranker_of(linker)
    table = _table(linker, held_back, progress)
    weights = list(ranker.weights.values())
    had = [before.get(name, 0.0) for name in ranker.weights]
    bias = round(ranker.bias + _shift(table, had, weights), 4)
    return Fit(dict(ranker.weights), bias, _score(table, held_back, weights))


def _score(table: EvidenceTable, cases: Sequence[Case], weights: Sequence[float]) -> Score:
    import numpy

    right = table.ranks(weights) < 1
    as_they_come = numpy.array([one.kind != RARE for one in cases])
    return Score(float(right[as_they_come].mean()), float(numpy.average(right, weights=_importance(cases))))


def ranked_by_evidence(linker: Linker, cases: Sequence[Case], progress: Progress) -> list[Case]:
    """The cases with their candidates in the order that their evidence, as it is told there, gives them."""
    lists = evidence(linker, cases, progress)
    return [one._replace(candidates=found) for one, found in zip(cases, lists, strict=True)]


def surest_lost(nil: NilPolicy, cases: Sequence[Case], share: float) -> float:
    """The score below which that share of what a linker found rightly would be lost, links counting as they do."""
    import numpy

    links = nil.decide([one.shortlist for one in cases])
    told = sorted(
        # The score of a NIL is how sure that is, and not the link.
        (1.0 - link.score if link.entity is None else link.score, counted)
        for one, link, counted in zip(cases, links, _importance(cases), strict=True)
        if one.candidates and one.candidates[0].entity == one.entity
    )
    if not told:
        return 0.0
    below = numpy.cumsum([counted for _, counted in told])
    return told[int(numpy.searchsorted(below, share * below[-1]))][0]


def counted_for(cases: Sequence[Case]) -> float:
    """How many cases of equal importance tell as much as these do."""
    importance = _importance(cases)
    return sum(importance) ** 2 / sum(one**2 for one in importance)


def _importance(cases: Sequence[Case]) -> list[float]:
    drawn = sum(one.kind == RARE for one in cases)
    unusual = sum(one.is_unusual for one in cases if one.kind != RARE)
    counted = _UNUSUAL * max(unusual, 1) / max(unusual + drawn, 1)
    return [counted if one.kind == RARE or one.is_unusual else 1.0 for one in cases]


def _table(linker: Linker, cases: Sequence[Case], progress: Progress) -> EvidenceTable:
    right = [frozenset((one.entity,)) for one in cases]
    return evidence_table(evidence(linker, cases, progress), right, list(ranker_of(linker).weights))


def _shift(table: EvidenceTable, before: Sequence[float], after: Sequence[float]) -> float:
    """How much larger the sums of right candidates are than they were: the bias follows them."""
    import numpy

    right = table.right & table.present
    if not right.any():
        return 0.0
    return float(numpy.median(table.scores(after)[right]) - numpy.median(table.scores(before)[right]))


def with_ranker(config: LinkerConfig, **settings: object) -> LinkerConfig:
    """The configuration with other settings of its ranker."""
    return msgspec.structs.replace(config, ranker={**config.ranker, **settings})


def with_weights(config: LinkerConfig, weights: Mapping[str, float]) -> LinkerConfig:
    """The configuration with some more weights of its ranker."""
    return with_ranker(config, weights={**config.ranker.get("weights", {}), **weights})
