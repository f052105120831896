"""Ranks by hand: recall@K, accuracy@K with NIL, MRR, BLINK's columns and typed NIL."""

from __future__ import annotations

from collections import Counter

import pytest

from entlink.documents import Candidate, Document, GoldLink, Link, Mention, Span
from entlink.evaluation import EvaluationOptions, Matching, NilRule, evaluate
from entlink.evaluation.scoring.blame import Cause
from entlink.evaluation.scoring.ranking import (
    KS,
    Outcome,
    accuracy,
    accuracy_at,
    blink_columns,
    of_entities,
    outcome,
    rank_of,
    recall_at,
    reciprocal_rank,
)
from worked import gold, link, scored

HERE = Span(0, 5)


def wanted(*entities: str, **fields) -> GoldLink:
    return GoldLink(HERE, entities, **fields)


def said(entity: str | None, *candidates: str, **fields) -> Link:
    found = tuple(Candidate(one, 1.0 / rank) for rank, one in enumerate(candidates, 1))
    return Link(Mention(HERE, "Paris"), entity, 1.0, candidates=found, **fields)


def counted(*rows: tuple[GoldLink, Link | None]) -> Counter[Outcome]:
    return Counter(outcome(one, answer) for one, answer in rows)


# Five gold entities: ranked 1st, 2nd, 4th, not among the candidates, and no answer at all; and three NILs.
ENTITIES = [
    (wanted("a"), said("a", "a", "b")),
    (wanted("a"), said("b", "b", "a")),
    (wanted("a"), said("b", "b", "c", "d", "a")),
    (wanted("a"), said("b", "b", "c")),
    (wanted("a"), None),
]
NILS = [
    (wanted(), said(None, "b", "c")),
    (wanted(), said("b", "b", "c")),
    (wanted(), None),
]


def test_recall_at_k_by_hand():
    found = counted(*ENTITIES)
    assert [recall_at(found, k) for k in (1, 2, 3, 4, 100)] == [1 / 5, 2 / 5, 2 / 5, 3 / 5, 3 / 5]


def test_nil_gold_has_no_part_in_recall_at_k():
    assert recall_at(counted(*ENTITIES, *NILS), 4) == 3 / 5
    assert recall_at(counted(*NILS), 4) == 0.0


def test_mrr_by_hand():
    assert reciprocal_rank(counted(*ENTITIES)) == pytest.approx((1 + 1 / 2 + 1 / 4 + 0 + 0) / 5)
    assert reciprocal_rank(counted(*ENTITIES, *NILS)) == reciprocal_rank(counted(*ENTITIES))


def test_accuracy_at_k_with_nil_by_hand():
    """Of eight: at 1 the first entity and the NIL that was said; at 2 one entity more, at 4 another."""
    found = counted(*ENTITIES, *NILS)
    assert [accuracy_at(found, k) for k in (1, 2, 3, 4, 100)] == [2 / 8, 3 / 8, 3 / 8, 4 / 8, 4 / 8]
    assert accuracy(found) == 2 / 8
    assert accuracy(of_entities(found)) == 1 / 5


def test_a_nil_said_of_an_entity_is_wrong_at_every_k():
    refused = counted((wanted("a"), said(None, "a", "b")))
    assert [accuracy_at(refused, k) for k in (1, 100)] == [0.0, 0.0]
    assert recall_at(refused, 1) == 1.0


def test_accuracy_at_k_is_recall_at_k_where_no_nil_is():
    found = counted(*ENTITIES)
    assert [accuracy_at(found, k) for k in KS] == [recall_at(found, k) for k in KS]


def test_any_alternative_has_the_rank_and_the_first_counts():
    assert rank_of(wanted("x", "b", "c"), said("a", "a", "b", "c").candidates) == 2
    assert rank_of(wanted("x"), said("a", "a").candidates) is None
    assert rank_of(wanted(), said("a", "a").candidates) is None


def test_outcomes_are_weighed_by_how_often_they_come():
    row = ENTITIES[0], ENTITIES[1], ENTITIES[1], ENTITIES[1]
    assert recall_at(counted(*row), 1) == 1 / 4
    assert reciprocal_rank(counted(*row)) == pytest.approx((1 + 3 / 2) / 4)


def test_scores_of_no_mention_are_nothing():
    nothing = Counter[Outcome]()
    assert (accuracy(nothing), accuracy_at(nothing, 1), recall_at(nothing, 1), reciprocal_rank(nothing)) == (0,) * 4
    assert blink_columns(nothing).unnormalised == 0.0


# BLINK


def judged(entity: str, *candidates: tuple[str, float]) -> Link:
    """Candidates in the order of the last stage, each with the number that the bi-encoder gave it."""
    found = tuple(
        Candidate(one, -1.0 * rank, {"bi-encoder": number}) for rank, (one, number) in enumerate(candidates)
    )
    return Link(Mention(HERE, "Paris"), entity, 1.0, candidates=found)


# Gold is always a. The cross-encoder puts it first in 1 and 3; the bi-encoder had it 1st, 1st, 3rd, and not at all.
REORDERED = [
    judged("a", ("a", 0.9), ("b", 0.5)),
    judged("b", ("b", 0.5), ("a", 0.9)),
    judged("a", ("a", 0.1), ("b", 0.7), ("c", 0.4)),
    judged("b", ("b", 0.7), ("c", 0.4)),
]


def blink(k: int, evidence: str | None = "bi-encoder"):
    return blink_columns(Counter(outcome(wanted("a"), answer, evidence) for answer in REORDERED), k)


def test_blinks_columns_by_hand():
    found = blink(64)
    assert (found.retriever_accuracy, found.recall) == (2 / 4, 3 / 4)
    assert (found.normalised, found.unnormalised) == (2 / 3, 2 / 4)
    assert (found.k, found.mentions) == (64, 4)


def test_blinks_recall_is_of_the_retrievers_order():
    """Among the bi-encoder's first two a stands in 1 and 2 only; of these the first is right in the end."""
    found = blink(2)
    assert (found.recall, found.normalised, found.unnormalised) == (2 / 4, 1 / 2, 1 / 4)


def test_without_evidence_the_order_is_the_one_given():
    found = blink(64, None)
    assert (found.retriever_accuracy, found.recall) == (2 / 4, 3 / 4)
    assert blink(1, None).recall == 2 / 4  # 1 and 3, where the retriever had 1 and 2
    ranks = [(one.rank, one.retriever_rank) for one in (outcome(wanted("a"), answer) for answer in REORDERED)]
    assert ranks == [(1, 1), (2, 2), (1, 1), (None, None)]


def test_candidates_without_the_evidence_come_last_and_keep_their_order():
    answer = Link(
        Mention(HERE, "Paris"),
        "x",
        1.0,
        candidates=(
            Candidate("x", 1.0),
            Candidate("y", 1.0),
            Candidate("a", 1.0, {"bi-encoder": -5.0}),
            Candidate("b", 1.0, {"bi-encoder": -4.0}),
        ),
    )
    ranks = [outcome(wanted(one), answer, "bi-encoder").retriever_rank for one in ("b", "a", "x", "y")]
    assert ranks == [1, 2, 3, 4]


def test_unnormalised_is_normalised_times_recall():
    for k in (1, 2, 3, 64):
        found = blink(k)
        assert found.unnormalised == pytest.approx(found.normalised * found.recall)


def test_nil_gold_is_in_none_of_blinks_columns():
    outcomes = Counter(outcome(wanted("a"), answer, "bi-encoder") for answer in REORDERED)
    outcomes.update(outcome(one, answer) for one, answer in NILS)
    assert blink_columns(outcomes) == blink(64)


# Through `evaluate`


def ranking_of(golds: list[GoldLink], answers: list[Link], **options):
    return scored(golds, answers, **options).ranking


def test_all_of_it_through_evaluate():
    """Paris 1st, Berlin 2nd, Vulcan NIL and said so, Spree NIL and linked, New York City not answered."""
    golds = [gold("Paris", "p"), gold("Berlin", "b"), gold("Vulcan"), gold("Spree"), gold("New York City", "n")]
    answers = [
        link("Paris", "p", "p", "x"),
        link("Berlin", "x", "x", "b"),
        link("Vulcan", None, "x"),
        link("Spree", "x", "x"),
    ]
    found = ranking_of(golds, answers)
    assert (found.mentions, found.in_kb) == (5, 3)
    assert (found.accuracy, found.accuracy_in_kb, found.accuracy_typed_nil) == (2 / 5, 1 / 3, 2 / 5)
    assert (found.recall_at[1], found.recall_at[2], found.recall_at[100]) == (1 / 3, 2 / 3, 2 / 3)
    assert (found.accuracy_at[1], found.accuracy_at[2]) == (2 / 5, 3 / 5)
    assert found.mrr == pytest.approx((1 + 1 / 2) / 3)
    assert found.blink is not None
    assert (found.blink.retriever_accuracy, found.blink.recall, found.blink.mentions) == (1 / 3, 2 / 3, 3)
    assert (found.blink.normalised, found.blink.unnormalised) == (1 / 2, 1 / 3)
    assert tuple(found.recall_at) == tuple(found.accuracy_at) == KS


def test_evidence_is_named_in_the_options():
    text = "Paris"
    golds = Document("d", text, gold=(wanted("a"),))
    answers = Document("d", text, links=(REORDERED[2],))
    plain = evaluate([golds], [answers], EvaluationOptions(rounds=0)).ranking
    named = evaluate([golds], [answers], EvaluationOptions(rounds=0, evidence="bi-encoder")).ranking
    assert (plain.blink.retriever_accuracy, named.blink.retriever_accuracy) == (1.0, 0.0)
    assert plain.recall_at == named.recall_at
    assert plain.mrr == named.mrr == 1.0


def test_without_candidates_only_accuracy_is_told():
    found = ranking_of([gold("Paris", "p"), gold("Berlin", "b")], [link("Paris", "p"), link("Berlin", "x")])
    assert found.accuracy == 1 / 2
    assert (found.recall_at, found.accuracy_at, found.mrr, found.blink) == ({}, {}, None, None)


def test_typed_nil_is_right_where_both_types_are_the_same():
    golds = [
        gold("Paris", nil_type="PER"),
        gold("Berlin", nil_type="PER"),
        gold("Vulcan"),
        gold("Spree", nil_type="LOC"),
        gold("New York City", "n"),
    ]
    answers = [
        link("Paris", None, nil_type="PER"),
        link("Berlin", None, nil_type="LOC"),
        link("Vulcan", None),
        link("Spree", "x"),
        link("New York City", "n"),
    ]
    found = scored(golds, answers)
    assert (found.ranking.accuracy, found.ranking.accuracy_typed_nil) == (4 / 5, 3 / 5)
    assert (found.nil.correct, found.nil.predicted, found.nil.gold) == (3, 3, 4)
    assert (found.nil_typed.correct, found.nil_typed.predicted, found.nil_typed.gold) == (2, 3, 4)


def test_optional_gold_is_in_no_rank():
    golds = [gold("Paris", "p"), gold("Berlin", "b", optional=True), gold("Vulcan", optional=True)]
    answers = [link("Paris", "p", "p"), link("Berlin", "x", "x"), link("Vulcan", "x", "x")]
    found = ranking_of(golds, answers)
    assert (found.mentions, found.in_kb, found.accuracy, found.recall_at[1]) == (1, 1, 1.0, 1.0)


def test_ranks_of_weakly_matched_mentions_are_of_the_answer_that_overlaps():
    found = ranking_of([gold("New York City", "nyc")], [link("New York", "ny", "ny", "nyc")], matching=Matching.WEAK)
    assert (found.recall_at[1], found.recall_at[2], found.mrr) == (0.0, 1.0, 0.5)


# Blame is by ranks too.


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (None, Cause.DETECTION),
        (link("Berlin near", "b", "b"), Cause.BOUNDARIES),
        (link("Berlin", "x", "x", "y"), Cause.CANDIDATES),
        (link("Berlin", None), Cause.CANDIDATES),
        (link("Berlin", None, "x"), Cause.CANDIDATES),
        (link("Berlin", "x", "x", "b"), Cause.RANKING),
        (link("Berlin", None, "x", "b"), Cause.RANKING),
        (link("Berlin", None, "b", "x"), Cause.NIL),
        (link("Berlin", "x"), Cause.UNKNOWN),
    ],
)
def test_the_first_stage_that_lost_a_link_is_to_blame(answer, cause):
    blame = scored(
        [gold("Berlin", "b"), gold("Paris", "p")], [link("Paris", "p", "p"), *([answer] if answer else [])]
    )
    assert blame.blame.misses == {cause: 1}
    assert blame.blame.ceilings.final == 1 / 2


def test_an_entity_on_nil_gold_is_blamed_where_nil_is_required():
    rows = [gold("Berlin"), gold("Paris", "p")], [link("Berlin", "x", "x"), link("Paris", "p", "p")]
    required = scored(*rows, nil=NilRule.REQUIRED)
    assert required.blame.misses == {Cause.NOT_NIL: 1}
    assert required.blame.ceilings.final == 1 / 2
    ignored = scored(*rows)
    assert ignored.blame.misses == {}
    assert ignored.blame.wrong == {"an entity where gold is NIL": 1}


def test_ceilings_by_hand():
    """Of five: one not found, one without the candidate, one ranked second, one refused, one right."""
    golds = [gold(one, one) for one in ("Paris", "Berlin", "Vulcan", "Spree", "New York City")]
    answers = [
        link("Berlin", "x", "x"),
        link("Vulcan", "x", "x", "Vulcan"),
        link("Spree", None, "Spree", "x"),
        link("New York City", "New York City", "New York City"),
    ]
    found = scored(golds, answers).blame.ceilings
    assert (found.coverage, found.detection, found.candidates, found.ranking, found.final) == (
        None,
        4 / 5,
        3 / 5,
        2 / 5,
        1 / 5,
    )


def test_one_answer_that_does_not_tell_its_candidates_leaves_two_ceilings_open():
    golds = [gold("Paris", "p"), gold("Berlin", "b")]
    found = scored(golds, [link("Paris", "x"), link("Berlin", "x", "x", "b")]).blame.ceilings
    assert (found.detection, found.candidates, found.ranking, found.final) == (1.0, None, None, 0.0)
