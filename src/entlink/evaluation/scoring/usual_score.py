"""The score of a usual document, several times as fast as the general way, and the same.

Usual is: strict offsets, one text without turns, one link a span, one entity a link, nothing optional. NIL may come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from entlink.documents import Document, GoldLink, Link
from entlink.evaluation.scoring.conventions import Convention, Matching, NilRule
from entlink.evaluation.scoring.counts import NOTHING, Counts
from entlink.evaluation.scoring.document_score import DocumentScore
from entlink.evaluation.scoring.items import bounds_of
from entlink.evaluation.scoring.ranking import RIGHT, RIGHT_NIL, SAID_NIL, WRONG, WRONG_NIL, Outcome

Place = tuple[int, int]


def usual_score(
    gold: Document, predicted: Document, convention: Convention, rules: Sequence[NilRule] = ()
) -> DocumentScore | None:
    """The score of a usual document; None for any other."""
    if convention.matching is not Matching.STRICT or gold.turns or bounds_of(gold) is not None:
        return None
    wanted = {(span.start, span.end): link for link in gold.gold for span in [link.span]}
    given = {(span.start, span.end): link for link in predicted.links for span in [link.mention.span]}
    if len(wanted) != len(gold.gold) or len(given) != len(predicted.links):
        return None
    entities, said = {link.entities for link in gold.gold}, {link.entity for link in predicted.links}
    details = [link.meta or link.nil_type or link.optional for link in gold.gold]
    has_details = any(details)
    if max(map(len, entities), default=0) > 1 or (has_details and True in [link.optional for link in gold.gold]):
        return None
    answers = [given.get(place) for place in wanted]
    if () in entities or None in said:
        return _score_with_nil(
            _WithNil(wanted, given, answers, entities, said), has_details, answers, predicted.links, convention, rules
        )
    right = [
        answer is not None and answer.entity == link.entities[0]
        for link, answer in zip(gold.gold, answers, strict=True)
    ]
    missed = answers.count(None)
    md = Counts(len(answers) - missed, len(given), len(wanted))
    el = Counts(right.count(True), len(given), len(wanted))
    ed = Counts(len(said & {one[0] for one in entities}), len(said), len(entities))
    counts = {"md": md, "md_linked": md, "nil": NOTHING, "nil_typed": NOTHING, "ed": ed, "el": el}
    for rule in rules:
        if rule is not convention.nil:
            counts |= {f"ed:{rule}": ed, f"el:{rule}": el}
    astray = [link for place, link in given.items() if place not in wanted]
    confused = md.correct - el.correct
    fates = {RIGHT: el.correct, WRONG: confused + missed}
    return DocumentScore(
        counts=counts,
        answers=answers,
        right=right,
        placed=None,
        predicted=predicted.links,
        gold_places=wanted,
        places=given,
        is_plain=True,
        has_details=has_details,
        fates=fates,
        confused=confused,
        astray=astray,
    )


class _WithNil:
    """The places of a document with NIL, gold or said, and its counts."""

    def __init__(
        self,
        wanted: Mapping[Place, GoldLink],
        given: Mapping[Place, Link],
        answers: list[Link | None],
        entities: set[tuple[str, ...]],
        said: set[str | None],
    ) -> None:
        self.wanted, self.given, self.entities, self.answers = wanted, given, entities, said
        self.gold = {place for place, link in wanted.items() if not link.entities}
        self.said = {place for place, link in given.items() if link.entity is None}
        self.met = self.gold & self.said
        self.on_gold = (self.gold & given.keys()) - self.said
        self.answered = len(answers) - answers.count(None)
        self.right = [
            answer is not None and (answer.entity == link.entities[0] if link.entities else answer.entity is None)
            for link, answer in zip(wanted.values(), answers, strict=True)
        ]
        self.right_entities = self.right.count(True) - len(self.met)

    def mentions(self) -> dict[str, Counts]:
        """What does not depend on a rule for NIL."""
        same = sum(self.wanted[place].nil_type == self.given[place].nil_type for place in self.met)
        either = self.answered - sum(place in self.wanted and place in self.given for place in self.gold | self.said)
        return {
            "md": Counts(self.answered, len(self.given), len(self.wanted)),
            "md_linked": Counts(either, len(self.given) - len(self.said), len(self.wanted) - len(self.gold)),
            "nil": Counts(len(self.met), len(self.said), len(self.gold)),
            "nil_typed": Counts(same, len(self.said), len(self.gold)),
        }

    def el(self, rule: NilRule) -> Counts:
        wanted, given = len(self.wanted) - len(self.gold), len(self.given) - len(self.said)
        if rule is NilRule.REQUIRED:
            return Counts(self.right_entities + len(self.met), len(self.given), len(self.wanted))
        if rule is NilRule.ERRORS:
            return Counts(self.right_entities, len(self.given), wanted)
        return Counts(self.right_entities, given - (len(self.on_gold) if rule is NilRule.DROPPED else 0), wanted)

    def fates(self, confused: int) -> dict[Outcome, int]:
        """Outcomes, without candidates."""
        met, on_gold = len(self.met), len(self.on_gold)
        said = self.answered - self.right_entities - confused - met - on_gold  # NIL, where gold is an entity
        entities = len(self.wanted) - len(self.gold)
        return {
            RIGHT: self.right_entities,
            SAID_NIL: said,
            WRONG: entities - self.right_entities - said,
            RIGHT_NIL: met,
            WRONG_NIL: len(self.gold) - met,
        }

    def wrongly_said(self, rule: NilRule) -> int:
        """How many NILs count, and are wrong."""
        if rule is NilRule.ERRORS:
            return len(self.said)
        return len(self.said) - len(self.met) if rule is NilRule.REQUIRED else 0

    def ed(self, rule: NilRule) -> Counts:
        wanted: set[str | None] = {one[0] for one in self.entities if one}
        given = self.answers
        if rule is NilRule.DROPPED and self.on_gold:
            given = {link.entity for place, link in self.given.items() if place not in self.on_gold}
        if rule is NilRule.REQUIRED and self.gold:
            wanted.add(None)
        if rule is NilRule.IGNORED or rule is NilRule.DROPPED:
            given = given - {None}
        return Counts(len(wanted & given), len(given), len(wanted))


def _score_with_nil(
    nil: _WithNil,
    has_details: bool,
    answers: list[Link | None],
    predicted: Sequence[Link],
    convention: Convention,
    rules: Sequence[NilRule],
) -> DocumentScore:
    wanted, given, rule = nil.wanted, nil.given, convention.nil
    counts = nil.mentions()
    counts |= {"ed": nil.ed(rule), "el": nil.el(rule)}
    for other in rules:
        if other is not rule:
            counts |= {f"ed:{other}": nil.ed(other), f"el:{other}": nil.el(other)}
    on_nil = [link for place, link in given.items() if place in nil.on_gold] if nil.on_gold else []
    astray = [link for place, link in given.items() if place not in wanted and link.entity is not None]
    confused = counts["md_linked"].correct - nil.right_entities
    return DocumentScore(
        counts=counts,
        answers=answers,
        right=nil.right,
        placed=None,
        predicted=predicted,
        gold_places=wanted,
        places=given,
        is_plain=not nil.gold,
        has_details=has_details,
        fates=nil.fates(confused),
        confused=confused,
        on_nil=[] if rule is NilRule.DROPPED else on_nil,
        astray=astray,
        nil=nil.wrongly_said(rule),
    )
