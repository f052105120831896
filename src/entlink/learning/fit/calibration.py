"""Calibrating a linker on the mentions that its knowledge base gives of itself: no annotated data is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

import msgspec

from entlink.documents import Candidate
from entlink.errors import InputError
from entlink.interfaces import Shortlist
from entlink.io.progress import Progress
from entlink.learning.fit.calibration_scores import (
    Bin,
    Judged,
    Scores,
    accuracies,
    best_threshold,
    reliability,
    scores,
    threshold_for_precision,
)
from entlink.learning.fit.logistic import Fitted, fit_logistic, numpy_or_told
from entlink.learning.own_texts.linking import ranked
from entlink.learning.own_texts.mentions import Kind, SelfMention, gathered
from entlink.linking.config import LinkerConfig, Stage
from entlink.linking.linker import Linker
from entlink.nil import CalibratedNil
from entlink.nil.measures import measure

NIL_SHARE = 0.2
FEWEST_ENTITIES, FEWEST_MENTIONS = 50, 100
_FEWEST_OF_TYPE = 100  # mentions whose best candidate has a type, before the type gets a threshold of its own
_FEWEST_OUTCOMES = 15  # of them right, and of them not
_PULL_OF_ALL = 50.0  # mentions that the general threshold counts for beside those of a type
# What tells whether the best candidate is right: more of any never tells against it. Retrievers' scores are added.
_MEASURES = ("lead", "named", "spelling", "initials", "count", "coherence")
_CROSS = "cross"  # of the ranker cross-encoder, whose scores are shares: they say which, not whether any
_SPELT_ALIKE = "edit"  # what the edit-distance retriever says where no fusion asks for its score
_DIGITS = 4


class CalibrationOptions(msgspec.Struct, frozen=True):
    """How many mentions to calibrate on, which share of mentions is NIL in the texts to come, and what to choose."""

    mentions: int = 2_000
    nil_share: float = NIL_SHARE
    per_type: bool = False
    precision: float | None = None
    seed: int = 0


class Calibration(msgspec.Struct, frozen=True):
    """What was fitted, on what, and how good it is on the half that nothing was fitted to."""

    mentions: int
    kinds: dict[str, int]
    from_names: bool
    weights: dict[str, float]
    bias: float
    threshold: float
    types: dict[str, float]
    before: Scores
    after: Scores
    bins_before: list[Bin]
    bins: list[Bin]


class _Case(NamedTuple):
    """A mention taken through the linker."""

    mention: SelfMention
    shortlist: Shortlist
    importance: float

    @property
    def candidates(self) -> Sequence[Candidate]:
        return self.shortlist.candidates

    @property
    def right(self) -> bool:
        right = self.mention.right
        return right is not None and bool(self.candidates) and self.candidates[0].entity == right


def calibrate(
    linker: Linker,
    config: LinkerConfig,
    options: CalibrationOptions,
    progress: Progress,
    settle: Callable[[CalibratedNil], float] | None = None,
) -> tuple[LinkerConfig, Calibration]:
    """The configuration with a calibrated NIL policy, and a report on it.

    `settle` gives the threshold that a policy is to have in the end, where that is not the one found best.
    """
    numpy_or_told()
    _check_size(linker)
    found = gathered(linker.kb, options.mentions, options.seed, progress)
    if len(found.mentions) < FEWEST_MENTIONS:
        raise InputError(
            f"{linker.kb.folder}: only {len(found.mentions)} mentions could be made of its names and descriptions, "
            f"and {FEWEST_MENTIONS} are needed. Add entities, names or descriptions, or ask for more --mentions"
        )
    weights = importances(found.mentions, options.nil_share)
    lists = ranked(linker, found.mentions, progress)
    cases = [_Case(*one) for one in zip(found.mentions, lists, weights, strict=True)]
    fit_on, report_on = _halves(cases, options.seed)
    settings = _fitted(linker, config, fit_on, cases, options)
    nil = _policy(linker, settings)
    if settle is not None:
        settings["threshold"] = _rounded(settle(nil))
        nil = _policy(linker, settings)
    before, after = _judged(linker.nil, report_on), _judged(nil, report_on)
    report = Calibration(
        mentions=len(cases),
        kinds=dict(Counter(str(one.kind) for one in found.mentions)),
        from_names=found.from_names,
        weights=settings["weights"],
        bias=settings["bias"],
        threshold=settings["threshold"],
        types=dict(settings.get("types", {})),
        before=scores(*before),
        after=scores(*after),
        bins_before=reliability(before[0]),
        bins=reliability(after[0]),
    )
    return msgspec.structs.replace(config, nil=settings), report


def _policy(linker: Linker, settings: Stage) -> CalibratedNil:
    return CalibratedNil(linker.kb, **{name: value for name, value in settings.items() if name != "name"})


def _check_size(linker: Linker) -> None:
    count = len(linker.kb)
    if count < FEWEST_ENTITIES:
        raise InputError(
            f"{linker.kb.folder}: {count} {'entity is' if count == 1 else 'entities are'} too few to calibrate on; "
            f"{FEWEST_ENTITIES} are needed. Set a threshold by hand: [nil] threshold, or --nil-threshold"
        )


def importances(mentions: Sequence[SelfMention], nil_share: float) -> list[float]:
    """What each mention counts, so that `nil_share` of the whole is NIL, half of it taken out and half never seen."""
    counts = Counter(one.kind for one in mentions)
    kinds = [kind for kind in (Kind.TAKEN_OUT, Kind.NEVER_SEEN) if counts[kind]]
    shares = {Kind.KNOWN: 1.0 - nil_share, **{kind: nil_share / len(kinds) for kind in kinds}}
    return [len(mentions) * shares[one.kind] / counts[one.kind] for one in mentions]


def _halves(cases: Sequence[_Case], seed: int) -> tuple[list[_Case], list[_Case]]:
    """Two halves, no document in both."""
    ids = list(dict.fromkeys(one.mention.document.id for one in cases))
    Random(seed).shuffle(ids)
    first = set(ids[: len(ids) // 2])
    return (
        [one for one in cases if one.mention.document.id in first],
        [one for one in cases if one.mention.document.id not in first],
    )


# Fitting


def _fitted(
    linker: Linker,
    config: LinkerConfig,
    fit_on: Sequence[_Case],
    cases: Sequence[_Case],
    options: CalibrationOptions,
) -> Stage:
    """The [nil] table."""
    names = _measures(linker, cases)
    fitted = _fit(names, [one for one in fit_on if one.candidates])
    kept = {name: weight for name, given in zip(names, fitted.weights, strict=True) if (weight := _rounded(given))}
    always, sometimes = _evidence(cases)
    settings: Stage = {
        "name": "calibrated",
        "threshold": 0.5,
        "weights": kept or {names[0]: 0.0},
        "bias": _rounded(fitted.bias),
        "ranker": config.ranker.get("name", ""),
        "always": always,
        "sometimes": sometimes,
    }
    probability = CalibratedNil(linker.kb, weights=settings["weights"], bias=settings["bias"]).probability
    judged = [_with_probability(linker, one, probability(one.candidates)) for one in fit_on]
    if options.precision is None:
        settings["threshold"] = _rounded(best_threshold(judged))
    else:
        settings["threshold"] = _rounded(threshold_for_precision(judged, options.precision), up=True)
    if options.per_type and (types := _type_thresholds(judged, options.precision)):
        settings["types"] = types
    return settings


def _measures(linker: Linker, cases: Sequence[_Case]) -> list[str]:
    """The ranker's sum, or its score, and with it that of a cross-encoder; what is known to help; the retrievers'."""
    lists = [one.candidates for one in cases if one.candidates]
    if not lists:
        raise InputError(
            f"{linker.kb.folder}: the linker finds no candidate for any of its names: nothing can be calibrated. "
            "Check its retrievers and types"
        )
    first = "sum" if _all_have("sum", lists) else "score"
    # A sum has it already, by a weight of its own.
    cross = (_CROSS,) if first == "score" and _all_have(_CROSS, lists) else ()
    pooling = linker.pooling
    found = (*pooling.retrievers, *pooling.scorers) if pooling else (_SPELT_ALIKE,)
    return list(dict.fromkeys((first, *cross, *_MEASURES, *found)))


def _all_have(name: str, lists: Sequence[Sequence[Candidate]]) -> bool:
    return all(name in candidates[0].evidence for candidates in lists)


def _fit(names: Sequence[str], cases: Sequence[_Case]) -> Fitted:
    numpy = numpy_or_told()
    values = numpy.array([[measure(name, one.candidates) for name in names] for one in cases], float)
    right = numpy.array([one.right for one in cases], bool)
    yes, no = int(right.sum()), int((~right).sum())
    # As if there were one more of each: nothing is ever quite certain.
    chances = numpy.where(right, (yes + 1) / (yes + 2), 1 / (no + 2))
    return fit_logistic(values, chances, numpy.array([one.importance for one in cases]))


def _evidence(cases: Sequence[_Case]) -> tuple[list[str], list[str]]:
    """What every best candidate has evidence of, and what else there is."""
    best = [set(one.candidates[0].evidence) for one in cases if one.candidates]
    every = {name for one in cases for candidate in one.candidates for name in candidate.evidence}
    always = set.intersection(*best)
    return sorted(always), sorted(every - always)


def _type_thresholds(judged: Sequence[Judged], precision: float | None) -> dict[str, float]:
    """Thresholds for the types of enough best candidates, each drawn towards the general one."""
    by_type: dict[str, list[Judged]] = {}
    for one in judged:
        for name in one.types:
            by_type.setdefault(name, []).append(one)
    total = sum(one.importance for one in judged)
    general = [_PULL_OF_ALL * value / total for value in accuracies(judged)]
    found: dict[str, float] = {}
    for name, mentions in sorted(by_type.items()):
        right = sum(one.right for one in mentions)
        if len(mentions) < _FEWEST_OF_TYPE or min(right, len(mentions) - right) < _FEWEST_OUTCOMES:
            continue
        if precision is None:
            found[name] = _rounded(best_threshold(mentions, general.__getitem__))
            continue
        try:
            found[name] = _rounded(threshold_for_precision(mentions, precision), up=True)
        except InputError:
            continue  # too few of this type are ever right: the general threshold has to do
    return found


def _rounded(number: float, *, up: bool = False) -> float:
    """As many digits as a file for people needs; `up` for a threshold that must not let more through."""
    size = 10**_DIGITS
    return -(-number * size // 1) / size if up and number * size % 1 else round(number, _DIGITS)


# Judging


def _judged(nil: Any, cases: Sequence[_Case]) -> tuple[list[Judged], list[bool]]:
    """What a policy makes of the mentions: its probabilities, and whether it links."""
    links = nil.decide([one.shortlist for one in cases])
    return (
        [
            Judged(
                1.0 - link.score if link.is_nil else link.score, one.right, one.mention.right is None, one.importance
            )
            for link, one in zip(links, cases, strict=True)
        ],
        [not link.is_nil for link in links],
    )


def _with_probability(linker: Linker, case: _Case, probability: float) -> Judged:
    types = tuple(linker.kb.types(case.candidates[0].entity)) if case.candidates else ()
    return Judged(probability, case.right, case.mention.right is None, case.importance, types)
