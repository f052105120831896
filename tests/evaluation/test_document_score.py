"""The counts of a document: by the quick way as by the general one, and as a plain scorer counts them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import plain_scorer as plain
from entlink.documents import Document, Span, Turn
from entlink.evaluation import Convention, Matching, NilRule
from entlink.evaluation.scoring.document_score import DocumentScore, general_score
from entlink.evaluation.scoring.items import Gold, Predicted, gold_items, predicted_items
from entlink.evaluation.scoring.metrics import entity_counts, link_counts, mention_counts, nil_counts
from entlink.evaluation.scoring.usual_score import usual_score
from random_documents import ANY, MATCHINGS, PLAIN, RULES, examples, link_at, pairs
from worked import gold, link

EVERY_RULE = tuple(NilRule)


def score_document(gold: Document, predicted: Document, convention: Convention, rules=()) -> DocumentScore:
    """As the scorer does it."""
    return usual_score(gold, predicted, convention, rules) or general_score(gold, predicted, convention, rules)


def facts(score: DocumentScore) -> dict:
    """All that it tells; where order means nothing, without it."""
    return {
        "counts": {name: tuple(counts) for name, counts in score.counts.items()},
        "answers": score.answers,
        "right": score.right,
        "predicted": sorted(map(repr, score.predicted)),
        "places": (sorted(score.gold_places), sorted(score.places), score.is_plain),
        "confused": score.confused,
        "on_nil": sorted(map(repr, score.on_nil)),
        "astray": sorted(map(repr, score.astray)),
        "nil": score.nil,
        "outside": score.outside,
    }


@examples(200)
@given(pairs(PLAIN) | pairs(PLAIN._replace(nil=True)), RULES)
def test_the_quick_way_counts_as_the_general_one(pair, rule):
    convention = Convention(Matching.STRICT, rule)
    quick = usual_score(*pair, convention, EVERY_RULE)
    assert quick is not None
    assert facts(quick) == facts(general_score(*pair, convention, EVERY_RULE))


# Each of these alone makes a document unusual; a mixture must never be taken for a usual one by mistake.
KINDS = [
    PLAIN._replace(alternatives=True),
    PLAIN._replace(optional=True),
    PLAIN._replace(repeated=True),
    PLAIN._replace(turns=True),
    PLAIN._replace(bounds=True),
    ANY,
]


@pytest.mark.parametrize("kind", KINDS)
def test_the_quick_way_is_silent_or_right(kind):
    @examples(60)
    @given(pairs(kind), MATCHINGS, RULES)
    def check(pair, matching, rule):
        convention = Convention(matching, rule)
        quick = usual_score(*pair, convention, EVERY_RULE)
        if quick is not None:
            assert facts(quick) == facts(general_score(*pair, convention, EVERY_RULE))

    check()


@pytest.mark.parametrize(
    ("wanted", "answers"),
    [
        ([gold("Paris", "a", "b")], [link("Paris", "a")]),
        ([gold("Paris", "a", optional=True)], [link("Paris", "a")]),
        ([gold("Paris", "a"), gold("Paris", "b")], [link("Paris", "a")]),
        ([gold("Paris", "a")], [link("Paris", "a"), link("Paris", "b")]),
    ],
)
def test_what_is_unusual_is_left_to_the_general_way(wanted, answers):
    text = "Paris met Berlin"
    documents = Document("d", text, gold=tuple(wanted)), Document("d", text, links=tuple(answers))
    assert usual_score(*documents, Convention()) is None
    assert facts(score_document(*documents, Convention())) == facts(general_score(*documents, Convention()))


def items(pair: tuple[Document, Document]) -> tuple[list[Gold], list[Predicted]]:
    return gold_items(pair[0]), predicted_items(pair[1], pair[0])


@examples(200)
@given(pairs(), MATCHINGS)
def test_mention_counts_are_those_of_the_definition(pair, matching):
    assert mention_counts(*items(pair), matching) == plain.md(*plain.sides(*pair), matching)


@pytest.mark.parametrize("rule", NilRule)
def test_link_counts_are_those_of_the_definition(rule):
    @examples(150)
    @given(pairs(), MATCHINGS)
    def check(pair, matching):
        convention = Convention(matching, rule)
        assert link_counts(*items(pair), convention) == plain.el(*plain.sides(*pair), matching, rule)

    check()


@pytest.mark.parametrize("rule", NilRule)
def test_entity_counts_are_those_of_the_definition(rule):
    @examples(150)
    @given(pairs(), MATCHINGS)
    def check(pair, matching):
        convention = Convention(matching, rule)
        assert entity_counts(*items(pair), convention) == plain.ed(*plain.sides(*pair), matching, rule)

    check()


@examples(150)
@given(pairs(), MATCHINGS)
def test_nil_counts_are_those_of_the_definition(pair, matching):
    assert nil_counts(*items(pair), matching) == plain.nil(*plain.sides(*pair), matching)


@examples(150)
@given(pairs(), st.sampled_from([Matching.STRICT, Matching.WEAK]))
def test_typed_nil_counts_are_those_of_the_definition(pair, matching):
    assert nil_counts(*items(pair), matching, typed=True) == plain.nil_typed(*plain.sides(*pair), matching)


@examples(150)
@given(pairs(), MATCHINGS, RULES)
def test_a_score_has_the_counts_of_each_task_and_rule(pair, matching, rule):
    sides = plain.sides(*pair)
    expected = {
        "md": plain.md(*sides, matching),
        "md_linked": plain.md_linked(*sides, matching),
        "nil": plain.nil(*sides, matching),
        "ed": plain.ed(*sides, matching, rule),
        "el": plain.el(*sides, matching, rule),
    }
    for other in NilRule:
        if other is not rule:
            expected[f"ed:{other}"] = plain.ed(*sides, matching, other)
            expected[f"el:{other}"] = plain.el(*sides, matching, other)
    found = score_document(*pair, Convention(matching, rule), EVERY_RULE).counts
    assert {name: counts for name, counts in found.items() if name != "nil_typed"} == expected


@examples(150)
@given(pairs(), MATCHINGS)
def test_each_gold_link_has_at_most_one_answer_that_is_at_its_place(pair, matching):
    wanted, given_ = plain.sides(*pair)
    score = general_score(*pair, Convention(matching))
    places = {id(side.link): side for side in given_}
    used = [id(answer) for answer in score.answers if answer is not None]
    assert len(set(used)) == len(used)
    for gold_side, answer, is_right in zip(wanted, score.answers, score.right, strict=True):
        assert answer is not None or not is_right
        if answer is not None:
            assert plain.meet(gold_side, places[id(answer)], matching)
            assert plain.is_right(gold_side, places[id(answer)]) == is_right


NO_REPEATS = ANY._replace(repeated=False)


@examples(150)
@given(pairs(NO_REPEATS), RULES)
def test_every_wrong_answer_has_one_reason(pair, rule):
    """Strictly matched, and no span twice: what was predicted is right, or wrong for one reason."""
    score = general_score(*pair, Convention(Matching.STRICT, rule))
    wrong = score.confused + len(score.on_nil) + len(score.astray) + score.nil
    assert wrong == score.counts["el"].predicted - score.counts["el"].correct


def test_right_answers_are_found_where_a_span_was_said_twice_and_gold_stands_twice():
    text = "Paris"
    wanted = Document("d", text, gold=(gold("Paris", "a", text=text), gold("Paris", "b", text=text)))
    given_ = Document("d", text, links=(link("Paris", "b", text=text), link("Paris", "c", text=text)))
    score = score_document(wanted, given_, Convention())
    assert score.right == [False, True]
    assert [answer and answer.entity for answer in score.answers] == ["c", "b"]


def test_answers_in_the_blank_line_between_turns_are_of_the_turn_before():
    chat = Document.of_turns("c", [Turn("One."), Turn(""), Turn("Two.")])
    wanted = Document("c", chat.text, turns=chat.turns, meta={"annotated_turns": [1]})
    at = chat.turn_spans[1].start
    links = [link_at(chat, Span(start, start + 1), "a") for start in (at - 2, at - 1, at, at + 1)]
    kept = predicted_items(Document("c", chat.text, turns=chat.turns, links=tuple(links)), wanted)
    assert [(one.unit, one.start) for one in kept] == [(1, at), (1, at + 1)]
