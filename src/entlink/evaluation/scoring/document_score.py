"""One document scored: its counts, the answer at each gold link's place, and the answers that are wrong."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from entlink.documents import Document, Link
from entlink.evaluation.scoring.conventions import Convention, NilRule
from entlink.evaluation.scoring.counts import Counts
from entlink.evaluation.scoring.items import Gold, Predicted, fits, gold_items, predicted_items
from entlink.evaluation.scoring.matching import Edges, edges, most_pairs
from entlink.evaluation.scoring.metrics import (
    distinct_answers,
    entity_counts,
    link_counts,
    mention_counts,
    nil_counts,
    right_edges,
    scored,
)
from entlink.evaluation.scoring.ranking import Outcome

Place = tuple[int, int] | tuple[int, str]


class DocumentScore(NamedTuple):
    """What was counted: `answers` and `right` go with the document's gold, one each.

    `placed` says of each gold link whether its mention was found; None: whether it has an answer. Of the answers that
    count and are not right, `confused` is how many have another entity than the gold at their place, `on_nil` are
    those where gold is NIL, `astray` those where no gold is, `nil` is how many say NIL, and `repeated` how many say
    again what is right. `outside` is how many predictions stand where nothing was annotated. `gold_places` and
    `places` are where gold and predictions stand, with strings as turn and mention. `is_plain` says that no gold is
    NIL or optional, `has_details` that some gold has meta or a type. `fates` has outcomes, counted already, as they
    are without candidates.
    """

    counts: dict[str, Counts]
    answers: list[Link | None]
    right: list[bool]
    placed: list[bool] | None
    predicted: Sequence[Link]
    gold_places: Collection[Place]
    places: Collection[Place]
    is_plain: bool
    has_details: bool
    fates: Mapping[Outcome, int] | None
    confused: int = 0
    on_nil: Sequence[Link] = ()
    astray: Sequence[Link] = ()
    nil: int = 0
    repeated: int = 0
    outside: int = 0


def general_score(
    gold_document: Document, predicted_document: Document, convention: Convention, rules: Sequence[NilRule] = ()
) -> DocumentScore:
    """Any document, by any convention."""
    gold, given = gold_items(gold_document), predicted_items(predicted_document, gold_document)
    matching = convention.matching
    predicted = list(distinct_answers(given, matching))
    met = edges(gold, predicted, matching)
    answers = _answers(gold, predicted, met)
    found = set(most_pairs(met, [one.optional for one in gold]).values())
    wrong = _wrong(gold, predicted, met, convention)
    place = _strings if matching.is_of_strings else _offsets
    return DocumentScore(
        _counts(gold, given, convention, rules),
        [None if one is None else one.link for one in answers],
        [answer is not None and fits(one, answer) for one, answer in zip(gold, answers, strict=True)],
        [number in found for number in range(len(gold))],
        [one.link for one in predicted],
        [place(one) for one in gold],
        [place(one) for one in predicted],
        all(one.entities and not one.optional for one in gold),
        any(one.link.meta or one.nil_type for one in gold),
        None,
        *wrong,
        outside=len(predicted_document.links) - len(given),
    )


def _offsets(item: Gold | Predicted) -> Place:
    return item.start, item.end


def _strings(item: Gold | Predicted) -> Place:
    return item.unit, item.surface


def _counts(
    gold: list[Gold], predicted: list[Predicted], convention: Convention, rules: Sequence[NilRule]
) -> dict[str, Counts]:
    matching = convention.matching
    linked = [one for one in gold if one.entities], [one for one in predicted if one.entity is not None]
    counts = {
        "md": mention_counts(gold, predicted, matching),
        "md_linked": mention_counts(*linked, matching),
        "nil": nil_counts(gold, predicted, matching),
        "nil_typed": nil_counts(gold, predicted, matching, typed=True),
    }
    for rule in dict.fromkeys((convention.nil, *rules)):
        own, suffix = convention.with_nil(rule), "" if rule is convention.nil else f":{rule}"
        counts[f"ed{suffix}"] = entity_counts(gold, predicted, own)
        counts[f"el{suffix}"] = link_counts(gold, predicted, own)
    return counts


def _answers(gold: list[Gold], predicted: list[Predicted], met: Edges) -> list[Predicted | None]:
    """For each gold link the answer at its place: a right one where there is one."""
    found: list[Predicted | None] = [None] * len(gold)
    is_optional = [one.optional for one in gold]
    paired = most_pairs(right_edges(gold, predicted, met), is_optional)
    for number, place in paired.items():
        found[place] = predicted[number]
    rest = [
        [] if number in paired else [place for place in choices if found[place] is None]
        for number, choices in enumerate(met)
    ]
    for number, place in most_pairs(rest, is_optional).items():
        found[place] = predicted[number]
    return found


class _Wrong(NamedTuple):
    """The answers that count and are not right, as `DocumentScore` has them."""

    confused: int
    on_nil: list[Link]
    astray: list[Link]
    nil: int
    repeated: int


def _wrong(gold: list[Gold], predicted: list[Predicted], met: Edges, convention: Convention) -> _Wrong:
    wanted, counted = scored(gold, predicted, convention)
    right = right_edges(wanted, counted, edges(wanted, counted, convention.matching))
    paired = most_pairs(right, [one.optional for one in wanted])
    at = {id(one): choices for one, choices in zip(predicted, met, strict=True)}
    confused = nil = repeated = 0
    on_nil: list[Link] = []
    astray: list[Link] = []
    for number, one in enumerate(counted):
        choices = [gold[place] for place in at[id(one)]]
        if number in paired:
            continue
        if right[number]:
            repeated += 1
        elif one.entity is None:
            nil += 1
        elif any(other.entities for other in choices):
            confused += 1
        else:
            (on_nil if choices else astray).append(one.link)
    return _Wrong(confused, on_nil, astray, nil, repeated)
