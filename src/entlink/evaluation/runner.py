"""Scores a run: documents with gold and documents with predictions in, an `Evaluation` out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from entlink.documents import Document, Record
from entlink.errors import InputError
from entlink.evaluation.aligning import Aligned, Missing
from entlink.evaluation.conventions import Convention, Matching, NilRule
from entlink.evaluation.identities import Identities
from entlink.evaluation.items import surface_of
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
    first_gold, gold = _first(gold)
    first_predicted, predictions = _first(predictions)
    matching, chosen = _matching_of(first_gold, first_predicted, options.matching)
    aligned = Aligned(gold, predictions, missing=options.missing)
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
    for number, pair in enumerate(aligned, 1):
        scorer.add(pair)
        if training is not None:
            kept.append(identities.gold(pair.gold) if identities else pair.gold)
        if progress is not None and number % 50 == 0:
            progress("scoring", number, 0)
    mentions = scorer.tally.columns.get("md")
    if mentions is None or not mentions.total().gold:
        raise InputError(_NOTHING_TO_SCORE)
    leaks = None if training is None else _leaks(kept, training(), kb, identities, progress)
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
    if (
        lacking["text"]
        and (lacking["offsets"] or (wanted and wanted.is_of_strings))
        and _has_no_strings(gold, predicted)
    ):
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
    test: list[Document],
    training: Iterable[Document],
    kb: KnowledgeBase | None,
    identities: Identities | None,
    progress: Progress | None,
) -> Leakage:
    if progress is not None:
        progress("looking for leaks", 0, 0)
    return leakage(test, map(identities.gold, training) if identities else training, kb)


def _told(aligned: Aligned, missing: Missing) -> list[str]:
    fate = "count as documents without links" if missing == "empty" else "are left out"
    sides: Sequence[tuple[list[str], str]] = (
        (aligned.only_gold, "gold documents without predictions"),
        (aligned.only_predicted, "documents with predictions that are not in the gold"),
    )
    return [f"{what}: {len(ids)}; they {fate}" for ids, what in sides if ids]
