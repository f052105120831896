"""One document scored: its counts, the answer at each gold link's place, and the answers that are wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from entlink.documents import Document, Link
from entlink.evaluation.conventions import Convention, NilRule
from entlink.evaluation.counts import Counts
from entlink.evaluation.items import Gold, Predicted, fits, gold_items, predicted_items
from entlink.evaluation.matching import Edges, edges, most_pairs
from entlink.evaluation.metrics import entity_counts, link_counts, mention_counts, nil_counts, scored

Place = tuple[int, int]


class DocumentScore(NamedTuple):
    """What was counted: `answers` and `right` go with the document's gold, one each.

    Of the answers that count and are not right, `confused` is how many have another entity than the gold at their
    place, `on_nil` are those where gold is NIL, `astray` those where no gold is, and `nil` is how many say NIL.
    `outside` is how many predictions stand where nothing was annotated. `gold_places` and `places` are where gold and
    predictions stand. `is_plain` says that no gold is NIL or optional.
    """

    counts: dict[str, Counts]
    answers: list[Link | None]
    right: list[bool]
    predicted: Sequence[Link]
    gold_places: Collection[Place]
    places: Collection[Place]
    is_plain: bool
    confused: int = 0
    on_nil: Sequence[Link] = ()
    astray: Sequence[Link] = ()
    nil: int = 0
    outside: int = 0


def general_score(
    gold_document: Document, predicted_document: Document, convention: Convention, rules: Sequence[NilRule] = ()
) -> DocumentScore:
    """Any document, by any convention."""
    gold, predicted = gold_items(gold_document), predicted_items(predicted_document, gold_document)
    met = edges(gold, predicted, convention.matching)
    answers = _answers(gold, predicted, met)
    confused, on_nil, astray, nil = _wrong(gold, predicted, met, convention)
    return DocumentScore(
        _counts(gold, predicted, convention, rules),
        [None if one is None else one.link for one in answers],
        [answer is not None and fits(one, answer) for one, answer in zip(gold, answers, strict=True)],
        [one.link for one in predicted],
        [(one.start, one.end) for one in gold],
        [(one.start, one.end) for one in predicted],
        all(one.entities and not one.optional for one in gold),
        confused,
        on_nil,
        astray,
        nil,
        len(predicted_document.links) - len(predicted),
    )


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
        own, suffix = Convention(matching, rule), "" if rule is convention.nil else f":{rule}"
        counts[f"ed{suffix}"] = entity_counts(gold, predicted, own)
        counts[f"el{suffix}"] = link_counts(gold, predicted, own)
    return counts


def _answers(gold: list[Gold], predicted: list[Predicted], met: Edges) -> list[Predicted | None]:
    """For each gold link the answer at its place: a right one where there is one."""
    found: list[Predicted | None] = [None] * len(gold)
    none_optional = [False] * len(gold)
    right = [
        [number for number in choices if fits(gold[number], one)] for one, choices in zip(predicted, met, strict=True)
    ]
    paired = most_pairs(right, none_optional)
    for number, place in paired.items():
        found[place] = predicted[number]
    rest = [
        [] if number in paired else [place for place in choices if found[place] is None]
        for number, choices in enumerate(met)
    ]
    for number, place in most_pairs(rest, none_optional).items():
        found[place] = predicted[number]
    return found


def _wrong(
    gold: list[Gold], predicted: list[Predicted], met: Edges, convention: Convention
) -> tuple[int, list[Link], list[Link], int]:
    wanted, counted = scored(gold, predicted, convention)
    counts = {id(one) for one in wanted}
    at = {id(one): choices for one, choices in zip(predicted, met, strict=True)}
    confused = nil = 0
    on_nil: list[Link] = []
    astray: list[Link] = []
    for one in counted:
        choices = [gold[number] for number in at[id(one)]]
        if any(id(other) in counts and fits(other, one) for other in choices):
            continue
        if one.entity is None:
            nil += 1
        elif any(other.entities for other in choices):
            confused += 1
        else:
            (on_nil if choices else astray).append(one.link)
    return confused, on_nil, astray, nil
