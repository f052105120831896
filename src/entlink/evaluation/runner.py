"""Scores a run: documents with gold and documents with predictions in, an `Evaluation` out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from entlink.documents import Document, Record
from entlink.errors import ConfigError, InputError
from entlink.evaluation.aligning import Aligned, Missing
from entlink.evaluation.identities import Identities
from entlink.evaluation.leakage import Leakage, LeakIndex
from entlink.evaluation.results import Evaluation
from entlink.evaluation.scoring.conventions import Convention, GoldMatch, Matching, NilRule
from entlink.evaluation.scoring.items import surface_of
from entlink.evaluation.scoring.scorer import Scorer, ScorerOptions
from entlink.evaluation.scoring.slices import Training, slicers
from entlink.evaluation.summary import Resampling, summarise
from entlink.io.progress import Progress

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase

_NOTHING_TO_SCORE = "the gold has no links: there is nothing to score. Check that it is the file with the gold"


class EvaluationOptions(Record, frozen=True):
    """How to evaluate.

    `matching` None is strict, or by strings where one side has no offsets. `rules` are further rules for NIL, scored
    side by side. `slices` None are all that can be had. `missing` says what a document is that only one side has.
    Gold links with one of the fields `without` in their meta are left out, such as ConEL's `personal` ones, and
    predicted links whose mention has it as its type. `leaks` looks for passages of the test in the knowledge base
    even without training data. `match_gold` says whether titles lead to entities of the knowledge base, too.
    """

    matching: Matching | None = None
    nil: NilRule = NilRule.IGNORED
    match_gold: GoldMatch = GoldMatch.IDENTIFIER
    rules: tuple[NilRule, ...] = ()
    macro_by: str | None = None
    slices: tuple[str, ...] | None = None
    evidence: str | None = None
    without: tuple[str, ...] = ()
    missing: Missing = "stop"
    leaks: bool = False
    rounds: int = 1000
    level: float = 0.95
    seed: int = 0
    examples: int = 8


def evaluate(
    gold: Iterable[Document],
    predictions: Iterable[Document],
    options: EvaluationOptions | None = None,
    *,
    kb: KnowledgeBase | None = None,
    training: Callable[[], Iterable[Document]] | None = None,
    lists: tuple[bool, bool] = (False, False),
    name: str = "run",
    progress: Progress | None = None,
) -> Evaluation:
    """Score predictions against gold; both are read once, side by side.

    With `kb`, identifiers on both sides are looked up in it first, and coverage and further slices are told.
    `training` gives the documents a linker was trained on, each time anew: for slices of what was seen, and leaks.
    `lists` says of gold and predictions whether they leave out documents without links.
    """
    options = options or EvaluationOptions()
    if kb is None and options.match_gold is GoldMatch.TITLE:
        raise ConfigError("gold is matched by title in a knowledge base, and none is given. Give one (--kb NAME.kb)")
    identities = None if kb is None else Identities(kb, options.match_gold)
    seen = None if training is None else Training(training(), identities)
    first_gold, gold = _first(_Without(gold, options.without) if options.without else gold)
    first_predicted, predictions = _first(unmarked(predictions, options.without))
    matching, chosen = _matching_of(first_gold, first_predicted, options.matching)
    any_text = matching.is_of_strings
    aligned = Aligned(gold, predictions, missing=options.missing, lists=lists, any_text=any_text)
    scorer = Scorer(
        _scorer_options(options, matching),
        slicers(
            options.slices,
            identities=identities,
            names=kb,
            training=seen,
            coarse=kb.types.coarse_of if kb is not None and kb.types.are_coarse else None,
        ),
        identities,
    )
    leaks = LeakIndex() if options.leaks or training is not None else None
    for number, pair in enumerate(aligned, 1):
        scorer.add(pair)
        if leaks is not None:
            leaks.add(identities.gold(pair.gold) if identities else pair.gold)
        if progress is not None and number % 50 == 0:
            progress("scoring", number, 0)
    _check_scored(scorer, options, first_predicted)
    return summarise(
        scorer,
        name=name,
        resampling=Resampling(options.rounds, options.seed, options.level),
        kb="" if kb is None else kb.folder.name,
        leaks=None if leaks is None else _leaks(leaks, training, kb, identities, progress),
        notes=_told(aligned, options.missing),
        chosen=chosen,
        settings={
            "kb": "" if kb is None else kb.folder.name,
            "without": list(options.without),
            "missing": options.missing,
        },
    )


def _scorer_options(options: EvaluationOptions, matching: Matching) -> ScorerOptions:
    return ScorerOptions(
        Convention(matching, options.nil, options.match_gold),
        options.rules,
        options.macro_by,
        options.evidence,
        options.examples,
        options.seed,
    )


def _check_scored(scorer: Scorer, options: EvaluationOptions, first: Document | None) -> None:
    """Raises where there was nothing to score, or an option named what is not there: it would pass for a score."""
    if not scorer.gold_spans:
        raise InputError(_NOTHING_TO_SCORE)
    if not scorer.spans and not scorer.outside and first is not None and first.gold:
        raise InputError("the predictions have gold and no links: are GOLD and PREDICTIONS swapped?")
    if options.evidence and scorer.has_candidates and not scorer.has_evidence:
        raise ConfigError(
            f"no candidate has the evidence {options.evidence!r}. `entlink explain` shows what there is"
        )
    for wanted in options.slices or ():
        if wanted.startswith(("meta:", "gold:")) and not scorer.slices.has_labels(wanted):
            raise ConfigError(f"the slice {wanted!r} is empty: no document has the field {wanted[5:]!r} there")


class _Without:
    """Documents without the gold that has one of the fields; a field that no gold has is an error."""

    def __init__(self, documents: Iterable[Document], fields: Sequence[str]) -> None:
        self._documents, self._fields = documents, fields

    def __iter__(self) -> Iterator[Document]:
        missing = set(self._fields)
        for document in self._documents:
            kept = []
            for link in document.gold:
                met = {field for field in self._fields if link.meta.get(field)}
                missing -= met
                if not met:
                    kept.append(link)
            yield msgspec.structs.replace(document, gold=tuple(kept))
        if missing:
            raise ConfigError(f"no gold link has the field {min(missing)!r} in its meta, which was to be left out")


def unmarked(predictions: Iterable[Document], fields: Sequence[str]) -> Iterable[Document]:
    """Predictions without the links that say themselves that they are of what is left out."""
    if not fields:
        return predictions
    return (
        msgspec.structs.replace(one, links=tuple(link for link in one.links if link.mention.type not in fields))
        for one in predictions
    )


def _first(documents: Iterable[Document]) -> tuple[Document | None, Iterable[Document]]:
    """The first of them, and all of them still."""
    coming = iter(documents)
    first = next(coming, None)
    return first, coming if first is None else chain([first], coming)


def _matching_of(gold: Document | None, predicted: Document | None, wanted: Matching | None) -> tuple[Matching, str]:
    """The rule of matching, and why if it was not asked for: the first of each side tells what its format lacks."""
    sides = (("gold", gold), ("the predictions", predicted))
    lacking = {
        kind: " and ".join(role for role, document in sides if document and document.meta.get("lacks") == kind)
        for kind in ("offsets", "text")
    }
    by_strings = bool(lacking["offsets"]) or (wanted is not None and wanted.is_of_strings)
    if lacking["text"] and by_strings and _has_no_strings(gold, predicted):
        raise InputError(f"{lacking['text']} have no texts, so that mentions cannot be compared as strings")
    if not lacking["offsets"]:
        return wanted or Matching.STRICT, ""
    if wanted is None:
        return Matching.STRING, f"by strings, since {lacking['offsets']} have no offsets"
    if not wanted.is_of_strings:
        raise InputError(
            f"{lacking['offsets']} have no offsets, so that {wanted} matching cannot be. Use --match string"
        )
    return wanted, ""


def _has_no_strings(gold: Document | None, predicted: Document | None) -> bool:
    """Whether a side without a text does not bring its mentions as written, either."""
    surfaces = [surface_of(gold, link) for link in gold.gold] if gold and gold.meta.get("lacks") == "text" else []
    if predicted and predicted.meta.get("lacks") == "text":
        surfaces += [link.mention.text for link in predicted.links]
    return "" in surfaces


def _leaks(
    index: LeakIndex,
    training: Callable[[], Iterable[Document]] | None,
    kb: KnowledgeBase | None,
    identities: Identities | None,
    progress: Progress | None,
) -> Leakage:
    if progress is not None:
        progress("looking for leaks", 0, 0)
    seen = () if training is None else training()
    return index.compare(map(identities.gold, seen) if identities else seen, kb)


def _told(aligned: Aligned, missing: Missing) -> list[str]:
    kept = missing != "skip"
    sides: Sequence[tuple[list[str], str, str]] = (
        (aligned.only_gold, "gold documents without predictions", "all their gold is missed"),
        (aligned.only_predicted, "documents with predictions that are not in the gold", "all their links are wrong"),
    )
    return [f"{what}: {len(ids)}; {fate if kept else 'they are left out'}" for ids, what, fate in sides if ids]
