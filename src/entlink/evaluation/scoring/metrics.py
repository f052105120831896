"""What is counted in one document: mentions, entities, links and NILs, as pure functions of gold and answers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

from entlink.evaluation.scoring.conventions import Convention, Matching, NilRule
from entlink.evaluation.scoring.counts import Counts
from entlink.evaluation.scoring.items import Gold, Predicted, fits
from entlink.evaluation.scoring.matching import Edges, edges, most_pairs, place_of

Item = TypeVar("Item", Gold, Predicted)


def mention_counts(gold: Sequence[Gold], predicted: Sequence[Predicted], matching: Matching) -> Counts:
    """Mention detection (MD): places only."""
    gold, predicted = _distinct(gold, matching), _distinct(predicted, matching)
    return _counted(gold, predicted, edges(gold, predicted, matching))


def link_counts(gold: Sequence[Gold], predicted: Sequence[Predicted], convention: Convention) -> Counts:
    """Entity linking (EL): place and entity."""
    gold, predicted = scored(gold, predicted, convention)
    return _counted(gold, predicted, right_edges(gold, predicted, edges(gold, predicted, convention.matching)))


def right_edges(gold: Sequence[Gold], predicted: Sequence[Predicted], met: Edges) -> Edges:
    """Of the gold whose place is met, that for which the answer is right."""
    return [
        [number for number in choices if fits(gold[number], one)] for one, choices in zip(predicted, met, strict=True)
    ]


def entity_counts(gold: Sequence[Gold], predicted: Sequence[Predicted], convention: Convention) -> Counts:
    """Entity disambiguation (ED): the set of entities of each document or turn, wherever they stand.

    NIL is one more member of the set where the rule for NIL counts it. Of alternatives, gold has those members that
    fit the answers best.
    """
    gold, predicted = scored(gold, predicted, convention)
    answers = {(one.unit, one.entity) for one in predicted}
    if any(one.optional or len(one.entities) > 1 for one in gold):
        return _counts_with_alternatives(gold, answers)
    wanted = {(one.unit, one.entities[0] if one.entities else None) for one in gold}
    return Counts(len(wanted & answers), len(answers), len(wanted))


def nil_counts(
    gold: Sequence[Gold], predicted: Sequence[Predicted], matching: Matching, *, typed: bool = False
) -> Counts:
    """NIL as a class of its own: NIL predicted where gold is NIL, if `typed` of the same type."""
    nils = _distinct([one for one in gold if not one.entities], matching, with_type=typed)
    answers = _distinct([one for one in predicted if one.entity is None], matching, with_type=typed)
    met = edges(nils, answers, matching)
    if typed:
        met = [
            [number for number in choices if nils[number].nil_type == one.nil_type]
            for one, choices in zip(answers, met, strict=True)
        ]
    return _counted(nils, answers, met)


def scored(
    gold: Sequence[Gold], predicted: Sequence[Predicted], convention: Convention
) -> tuple[Sequence[Gold], Sequence[Predicted]]:
    """The gold and the answers that count in ED and EL."""
    rule, matching = convention.nil, convention.matching
    if rule is NilRule.DROPPED:
        predicted = _off_nil_gold(gold, predicted, matching)
    if rule is not NilRule.REQUIRED:
        gold = [one for one in gold if one.entities]
    if rule in (NilRule.IGNORED, NilRule.DROPPED):
        predicted = [one for one in predicted if one.entity is not None]
    if matching.is_of_strings:
        gold, predicted = (
            _distinct(gold, matching, with_entity=True),
            _distinct(predicted, matching, with_entity=True),
        )
    return gold, predicted


def _off_nil_gold(gold: Sequence[Gold], predicted: Sequence[Predicted], matching: Matching) -> list[Predicted]:
    """The answers that do not stand on NIL gold; one that also meets other gold stays."""
    return [
        one
        for one, choices in zip(predicted, edges(gold, predicted, matching), strict=True)
        if not choices or any(gold[number].entities for number in choices)
    ]


def _counted(gold: Sequence[Gold], predicted: Sequence[Predicted], met: Edges) -> Counts:
    """Optional gold that is met counts neither for nor against; optional gold that is not met is no miss."""
    is_optional = [one.optional for one in gold]
    pairs = most_pairs(met, is_optional)
    excused = sum(is_optional[number] for number in pairs.values())
    return Counts(len(pairs) - excused, len(predicted) - excused, len(gold) - sum(is_optional))


def _counts_with_alternatives(gold: Sequence[Gold], answers: set[tuple[int, str | None]]) -> Counts:
    """As many answers as possible are paired off with a gold link each; what other gold they satisfy is no miss.

    Of the gold that no answer satisfies, links with the same alternatives are one member of the set.
    """
    given = sorted(answers, key=lambda answer: (answer[0], answer[1] or ""))
    met = [
        [
            number
            for number, one in enumerate(gold)
            if one.unit == unit and (entity in one.entities if one.entities else entity is None)
        ]
        for unit, entity in given
    ]
    pairs = most_pairs(met, [one.optional for one in gold])
    excused = sum(gold[number].optional for number in pairs.values())
    satisfied = {number for choices in met for number in choices}
    lost = {
        (one.unit, frozenset(one.entities))
        for number, one in enumerate(gold)
        if number not in satisfied and not one.optional
    }
    right = len(pairs) - excused
    return Counts(right, len(given) - excused, right + len(lost))


def distinct_answers(predicted: Sequence[Predicted], matching: Matching) -> Sequence[Predicted]:
    """Matching by strings is of sets: an answer given twice in a turn is one."""
    return _distinct(predicted, matching, with_entity=True)


def _distinct(
    items: Sequence[Item], matching: Matching, *, with_entity: bool = False, with_type: bool = False
) -> Sequence[Item]:
    """Matching by strings is of sets: what is written twice in a turn counts once."""
    if not matching.is_of_strings:
        return items
    place = place_of(matching)
    first: dict[Hashable, Item] = {}
    for item in sorted(items, key=_is_optional):
        key = place(item), _meaning(item) if with_entity else None, item.nil_type if with_type else None
        first.setdefault(key, item)
    return list(first.values())


def _meaning(item: Gold | Predicted) -> Hashable:
    return item.entities if isinstance(item, Gold) else item.entity


def _is_optional(item: Gold | Predicted) -> bool:
    return isinstance(item, Gold) and item.optional
