"""Scores a run: documents with gold and documents with predictions in, an `Evaluation` out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from entlink.documents import Document, Record
from entlink.errors import InputError
from entlink.evaluation.aligning import Aligned, Missing, Pair
from entlink.evaluation.conventions import Convention, Matching, NilRule
from entlink.evaluation.identities import Identities
from entlink.evaluation.leakage import Leakage, leakage
from entlink.evaluation.results import Evaluation
from entlink.evaluation.scorer import Scorer, ScorerOptions
from entlink.evaluation.slices import Training, slicers
from entlink.evaluation.summary import Resampling, summarise

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase

Progress = Callable[[str, float, float], None]
_NOTHING_TO_SCORE = "the gold has no links: there is nothing to score. Check that it is the file with the gold"


class EvaluationOptions(Record, frozen=True):
    """How to evaluate.

    `matching` None is strict, or by strings where one side has no offsets. `rules` are further rules for NIL, scored
    side by side. `slices` None are all that can be had. `missing` says what a document is that only one side has.
    Gold links with one of the fields `without` in their meta are left out, such as ConEL's `personal` ones.
    """

    matching: Matching | None = None
    nil: NilRule = NilRule.IGNORED
    rules: tuple[NilRule, ...] = ()
    macro_by: str | None = None
    slices: tuple[str, ...] | None = None
    evidence: str | None = None
    without: tuple[str, ...] = ()
    missing: Missing = "stop"
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
    name: str = "run",
    progress: Progress | None = None,
) -> Evaluation:
    """Score predictions against gold; both are read once, side by side.

    With `kb`, identifiers on both sides are looked up in it first, and coverage and further slices are told.
    `training` gives the documents a linker was trained on, each time anew: for slices of what was seen, and leaks.
    """
    options = options or EvaluationOptions()
    identities = None if kb is None else Identities(kb)
    seen = None if training is None else Training(training(), identities)
    if options.without:
        gold = (_less(document, options.without) for document in gold)
    aligned = Aligned(gold, predictions, missing=options.missing)
    pairs, matching, chosen = _matching_of(iter(aligned), options.matching)
    scorer = Scorer(
        ScorerOptions(
            Convention(matching, options.nil),
            options.rules,
            options.macro_by,
            options.evidence,
            options.examples,
            options.seed,
        ),
        slicers(options.slices, identities=identities, names=kb, training=seen),
        identities,
    )
    kept: list[Document] = []
    for number, pair in enumerate(pairs, 1):
        scorer.add(pair)
        if training is not None:
            kept.append(msgspec.structs.replace(pair.gold, links=()))
        if progress is not None and number % 50 == 0:
            progress("scoring", number, 0)
    mentions = scorer.tally.columns.get("md")
    if mentions is None or not mentions.total().gold:
        raise InputError(_NOTHING_TO_SCORE)
    leaks = None if training is None else _leaks(kept, training, kb, progress)
    return summarise(
        scorer,
        name=name,
        resampling=Resampling(options.rounds, options.seed, options.level),
        kb="" if kb is None else kb.folder.name,
        leaks=leaks,
        notes=_told(aligned, options.missing),
        chosen=chosen,
    )


def _less(document: Document, fields: Sequence[str]) -> Document:
    kept = tuple(link for link in document.gold if not any(link.meta.get(field) for field in fields))
    return msgspec.structs.replace(document, gold=kept)


def _matching_of(pairs: Iterator[Pair], wanted: Matching | None) -> tuple[Iterator[Pair], Matching, str]:
    """The rule of matching, and why if it was not asked for: the first pair tells whether there are offsets."""
    first = next(pairs, None)
    if first is None:
        return pairs, wanted or Matching.STRICT, ""
    pairs = chain([first], pairs)
    lacking = [
        role
        for role, document in (("gold", first.gold), ("the predictions", first.predicted))
        if document.meta.get("lacks") == "offsets"
    ]
    if not lacking:
        return pairs, wanted or Matching.STRICT, ""
    if wanted is None:
        return pairs, Matching.STRING, f"by strings, since {' and '.join(lacking)} have no offsets"
    if not wanted.is_of_strings:
        raise InputError(
            f"{' and '.join(lacking)} have no offsets, so that {wanted} matching cannot be. Use --match string"
        )
    return pairs, wanted, ""


def _leaks(
    test: list[Document],
    training: Callable[[], Iterable[Document]],
    kb: KnowledgeBase | None,
    progress: Progress | None,
) -> Leakage:
    if progress is not None:
        progress("looking for leaks", 0, 0)
    return leakage(test, training(), kb)


def _told(aligned: Aligned, missing: Missing) -> list[str]:
    fate = "count as documents without links" if missing == "empty" else "are left out"
    sides: Sequence[tuple[list[str], str]] = (
        (aligned.only_gold, "gold documents without predictions"),
        (aligned.only_predicted, "documents with predictions that are not in the gold"),
    )
    return [f"{what}: {len(ids)}; they {fate}" for ids, what in sides if ids]
