"""NIL with a type: accuracy with its interval, and what was said of each type, by hand and by counting anew."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from entlink.documents import Document, GoldLink, Link, Mention, Span
from entlink.evaluation import EvaluationOptions, evaluate
from entlink.evaluation.report import gather
from random_documents import Kind, examples, pairs

TEXT = "Ann Bob Cid Dee Eve"
PLACES = [Span(start, start + 3) for start in range(0, len(TEXT), 4)]
# As a baseline for Hansel has it: an entity, three NILs of known type, one NIL that nobody typed.
GOLD = [("Q1", None), (None, "PER"), (None, "PER"), (None, "EVENT"), (None, None)]
SAID = [("Q1", None), (None, "PER"), (None, "LOC"), ("Q7", None), (None, None)]


def documents(rows, as_gold: bool) -> Document:
    if as_gold:
        links = [GoldLink(span, (id,) if id else (), type) for span, (id, type) in zip(PLACES, rows, strict=True)]
        return Document("d", TEXT, gold=tuple(links))
    said = [Link(Mention(span, "x"), id, 1.0, nil_type=type) for span, (id, type) in zip(PLACES, rows, strict=True)]
    return Document("d", TEXT, links=tuple(said))


def test_typed_nil_by_hand():
    found = evaluate([documents(GOLD, True)], [documents(SAID, False)], EvaluationOptions(rounds=50))
    ranking = found.ranking
    assert (ranking.accuracy_in_kb, ranking.accuracy, ranking.accuracy_typed_nil) == (1.0, 4 / 5, 3 / 5)
    assert ranking.accuracy_typed_nil_interval.low <= 3 / 5 <= ranking.accuracy_typed_nil_interval.high
    assert found.nil_types == {
        "PER": {"LOC": 1, "PER": 1},
        "EVENT": {"an entity": 1},
        "NIL without a type": {"NIL without a type": 1},
    }
    table = gather([found], title=None, command="").tables["nil types"]
    assert table.columns[0] == "gold"
    assert {row[0]: sum(cell or 0 for cell in row[1:]) for row in table.rows} == {
        "PER": 2,
        "EVENT": 1,
        "NIL without a type": 1,
    }


@examples(60)
@given(pairs(Kind(optional=False, bounds=False, repeated=False, turns=False)))
def test_every_nil_is_counted_once_by_its_type(pair):
    gold, said = pair
    if not gold.gold:
        return
    found = evaluate([gold], [said], EvaluationOptions(rounds=0, examples=0))
    wanted = Counter(one.nil_type or "NIL without a type" for one in gold.gold if not one.entities)
    assert {type: sum(row.values()) for type, row in found.nil_types.items()} == wanted
    at = {link.mention.span: link for link in said.links}
    right = sum(
        (link := at.get(one.span)) is not None
        and (link.entity in one.entities if one.entities else link.entity is None and link.nil_type == one.nil_type)
        for one in gold.gold
    )
    assert found.ranking.accuracy_typed_nil == pytest.approx(right / len(gold.gold))
