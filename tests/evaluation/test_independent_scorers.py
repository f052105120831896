"""Other people's scorers count the same, wherever they mean the same."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nervaluate.entities import Entity
from nervaluate.strategies import EntityTypeEvaluation, ExactEvaluation, PartialEvaluation, StrictEvaluation
from sklearn.metrics import (
    label_ranking_average_precision_score,
    precision_recall_fscore_support,
    top_k_accuracy_score,
)
from sklearn.preprocessing import MultiLabelBinarizer

from entlink.documents import Candidate, Document, GoldLink, Span
from entlink.evaluation import Counts, EvaluationOptions, Matching, NilRule, evaluate
from entlink.evaluation.scoring.conventions import Convention
from entlink.evaluation.scoring.items import gold_items, predicted_items
from entlink.evaluation.scoring.metrics import link_counts, mention_counts
from random_documents import ENTITIES, PLAIN, corpora, examples, link_at, pairs

STRICT, WEAK = Convention(Matching.STRICT), Convention(Matching.WEAK)


# nervaluate: entities as labels. Its ends are inclusive, and it pairs off in the order of the lists.


def labelled(pair: tuple[Document, Document]) -> tuple[list[Entity], list[Entity]]:
    wanted = [Entity(one.entities[0], one.span.start, one.span.end - 1) for one in pair[0].gold]
    given = [Entity(one.entity, one.mention.span.start, one.mention.span.end - 1) for one in pair[1].links]
    return tuple(sorted(side, key=lambda one: (one.start, one.end)) for side in (wanted, given))


def by_nervaluate(strategy, pair: tuple[Document, Document], *kinds: str) -> Counts:
    """What it calls these kinds together, of what it calls actual and possible."""
    found, _ = strategy(1.0).evaluate(*labelled(pair), [])
    return Counts(sum(getattr(found, kind) for kind in kinds), found.actual, found.possible)


def items(pair: tuple[Document, Document]):
    return gold_items(pair[0]), predicted_items(pair[1], pair[0])


@st.composite
def apart(draw: st.DrawFn, *, shared: bool) -> tuple[Document, Document]:
    """No two spans of one side overlap. If not `shared`, a span overlaps one of the other side at most."""
    text, sides = "x" * 60, []
    for _ in range(2):
        if shared:
            cuts = sorted(draw(st.sets(st.integers(0, 60), max_size=16)))
            places = [(start, end) for start, end in pairwise(cuts) if draw(st.booleans())]
        else:
            insides = st.lists(st.integers(0, 9), min_size=2, max_size=2, unique=True).map(sorted)
            cells = [(cell, draw(insides)) for cell in range(6) if draw(st.booleans())]
            places = [(10 * cell + start, 10 * cell + end) for cell, (start, end) in cells]
        sides.append([(Span(*place), draw(st.sampled_from(ENTITIES))) for place in places])
    wanted, given_ = sides
    document = Document("d", text)
    return (
        Document("d", text, gold=tuple(GoldLink(span, (entity,)) for span, entity in wanted)),
        Document("d", text, links=tuple(link_at(document, span, entity) for span, entity in given_)),
    )


@examples(150)
@given(apart(shared=True))
def test_strict_mentions_are_nervaluates_exact(pair):
    assert mention_counts(*items(pair), Matching.STRICT) == by_nervaluate(ExactEvaluation, pair, "correct")


@examples(150)
@given(apart(shared=True))
def test_strict_links_are_nervaluates_strict(pair):
    assert link_counts(*items(pair), STRICT) == by_nervaluate(StrictEvaluation, pair, "correct")


@examples(150)
@given(apart(shared=True))
def test_weak_mentions_are_nervaluates_correct_and_partial(pair):
    """It gives a partial one half a point; here an overlap is one or none."""
    assert mention_counts(*items(pair), Matching.WEAK) == by_nervaluate(PartialEvaluation, pair, "correct", "partial")


@examples(150)
@given(apart(shared=False))
def test_weak_links_are_nervaluates_types_where_each_span_overlaps_one(pair):
    assert link_counts(*items(pair), WEAK) == by_nervaluate(EntityTypeEvaluation, pair, "correct")


@examples(150)
@given(pairs(PLAIN._replace(repeated=True)))
def test_nervaluate_never_pairs_off_more_than_we_do_where_spans_overlap(pair):
    """It takes the first that comes, and a wrong label uses up gold; the best pairing is at least as good."""
    ours = [
        mention_counts(*items(pair), Matching.STRICT),
        link_counts(*items(pair), STRICT),
        mention_counts(*items(pair), Matching.WEAK),
        link_counts(*items(pair), WEAK),
    ]
    theirs = [
        by_nervaluate(ExactEvaluation, pair, "correct"),
        by_nervaluate(StrictEvaluation, pair, "correct"),
        by_nervaluate(PartialEvaluation, pair, "correct", "partial"),
        by_nervaluate(EntityTypeEvaluation, pair, "correct"),
    ]
    for own, other in zip(ours, theirs, strict=True):
        assert own[1:] == other[1:]
        assert own.correct >= other.correct


def test_where_nervaluate_counts_less():
    """A wrong label uses up the gold that the next answer had right."""
    text = "New York City"
    bare = Document("d", text)
    wanted = Document("d", text, gold=(GoldLink(Span(0, 13), ("a",)),))
    given_ = Document("d", text, links=(link_at(bare, Span(0, 8), "b"), link_at(bare, Span(9, 13), "a")))
    assert by_nervaluate(EntityTypeEvaluation, (wanted, given_), "correct") == (0, 2, 1)
    assert link_counts(*items((wanted, given_)), WEAK) == (1, 2, 1)


# scikit-learn: given spans are samples, entities are classes, and NIL is one that may be left out.

NIL = "NIL"


@st.composite
def given_spans(draw: st.DrawFn, *, domains: int = 1) -> list[tuple[str, str, str]]:
    """Domain, gold and answer of each span, with NIL on both sides."""
    label = st.sampled_from([*ENTITIES, NIL])
    rows = draw(st.lists(st.tuples(st.integers(0, domains - 1).map(str), label, label), min_size=1, max_size=12))
    assume(any(gold != NIL for _, gold, _ in rows))
    return rows


def as_documents(rows: list[tuple[str, str, str]]) -> tuple[list[Document], list[Document]]:
    """A document a domain, its spans side by side."""
    wanted, given_ = [], []
    for domain in sorted({domain for domain, _, _ in rows}):
        own = [row for row in rows if row[0] == domain]
        bare = Document(domain, "ab " * len(own), meta={"domain": domain})
        places = [Span(3 * number, 3 * number + 2) for number in range(len(own))]
        golds = [GoldLink(at, () if gold == NIL else (gold,)) for at, (_, gold, _) in zip(places, own, strict=True)]
        links = [
            link_at(bare, at, None if said == NIL else said) for at, (_, _, said) in zip(places, own, strict=True)
        ]
        wanted.append(Document(domain, bare.text, gold=tuple(golds), meta=bare.meta))
        given_.append(Document(domain, bare.text, links=tuple(links)))
    return wanted, given_


def by_sklearn(rows: list[tuple[str, str, str]], labels: list[str]) -> tuple[float, float, float]:
    wanted, said = [gold for _, gold, _ in rows], [answer for _, _, answer in rows]
    found = precision_recall_fscore_support(wanted, said, labels=labels, average="micro", zero_division=0.0)
    return found[:3]


@examples(100)
@given(given_spans())
def test_micro_scores_of_given_spans_are_sklearns(rows):
    options = EvaluationOptions(rounds=0, rules=(NilRule.REQUIRED,))
    found = evaluate(*as_documents(rows), options)
    micro = found.el.micro
    assert (micro.precision, micro.recall, micro.f1) == pytest.approx(by_sklearn(rows, list(ENTITIES)))
    required = found.conventions["strict, nil-required"]["el"].micro
    assert (required.precision, required.recall, required.f1) == pytest.approx(by_sklearn(rows, [*ENTITIES, NIL]))
    assert found.ranking.accuracy == pytest.approx(sum(gold == said for _, gold, said in rows) / len(rows))


@examples(100)
@given(given_spans())
def test_nil_as_a_class_is_sklearns(rows):
    assume(any(NIL in row for row in rows))
    nil = evaluate(*as_documents(rows), EvaluationOptions(rounds=0)).nil
    assert (nil.precision, nil.recall, nil.f1) == pytest.approx(by_sklearn(rows, [NIL]))


@examples(100)
@given(given_spans(domains=3))
def test_macro_f1_is_the_mean_of_sklearns_f1_by_domain(rows):
    """Of a domain in which nothing is wanted and nothing said, all scores are 1."""
    found = evaluate(*as_documents(rows), EvaluationOptions(rounds=0)).el.macro
    domains = [[row for row in rows if row[0] == domain] for domain in sorted({row[0] for row in rows})]
    scores = [
        by_sklearn(own, list(ENTITIES)) if any(row[1:] != (NIL, NIL) for row in own) else (1.0, 1.0, 1.0)
        for own in domains
    ]
    assert found.groups == len(domains)
    assert (found.precision, found.recall, found.f1) == pytest.approx(tuple(np.mean(scores, axis=0)))


@examples(100)
@given(corpora(PLAIN._replace(repeated=True)))
def test_entities_by_document_are_sklearns_labels_of_samples(corpus):
    wanted, given_ = zip(*corpus, strict=True)
    micro = evaluate(wanted, given_, EvaluationOptions(rounds=0)).ed.micro
    binary = MultiLabelBinarizer(classes=list(ENTITIES)).fit([ENTITIES])
    table = [
        binary.transform([[link.entities[0] for link in document.gold] for document in wanted]),
        binary.transform([[link.entity for link in document.links] for document in given_]),
    ]
    expected = precision_recall_fscore_support(*table, average="micro", zero_division=0.0)
    assert (micro.precision, micro.recall, micro.f1) == pytest.approx(expected[:3])


@st.composite
def ranked(draw: st.DrawFn, classes: int, kept: int) -> tuple[list[int], list[list[int]]]:
    """Gold classes of mentions, and for each the first classes of an order of all."""
    size = draw(st.integers(1, 6))
    gold = draw(st.lists(st.integers(0, classes - 1), min_size=size, max_size=size))
    return gold, [draw(st.permutations(range(classes)))[:kept] for _ in range(size)]


def ranking_of(gold: list[int], orders: list[list[int]]):
    bare = Document("d", "ab " * len(gold))
    places = [Span(3 * number, 3 * number + 2) for number in range(len(gold))]
    links = [
        link_at(
            bare,
            at,
            str(order[0]),
            candidates=tuple(Candidate(str(one), -1.0 * rank) for rank, one in enumerate(order)),
        )
        for at, order in zip(places, orders, strict=True)
    ]
    wanted = Document(
        "d", bare.text, gold=tuple(GoldLink(at, (str(one),)) for at, one in zip(places, gold, strict=True))
    )
    return evaluate([wanted], [Document("d", bare.text, links=tuple(links))], EvaluationOptions(rounds=0)).ranking


def score_table(orders: list[list[int]], classes: int) -> np.ndarray:
    """The better the rank, the higher; what is no candidate is below all that are."""
    table = np.zeros((len(orders), classes))
    for row, order in enumerate(orders):
        table[row, order] = range(classes, classes - len(order), -1)
    return table


@examples(100)
@given(ranked(classes=12, kept=8))
def test_recall_at_k_is_sklearns_top_k_accuracy(drawn):
    gold, orders = drawn
    found = ranking_of(gold, orders)
    for k in (1, 2, 4, 8):
        expected = top_k_accuracy_score(gold, score_table(orders, 12), k=k, labels=range(12))
        assert found.recall_at[k] == found.accuracy_at[k] == pytest.approx(expected)
    assert found.accuracy == found.recall_at[1]
    assert found.recall_at[100] == found.recall_at[8]


@examples(100)
@given(ranked(classes=6, kept=6))
def test_mrr_is_sklearns_average_precision_of_one_label(drawn):
    gold, orders = drawn
    truth = np.eye(6)[gold]
    expected = label_ranking_average_precision_score(truth, score_table(orders, 6))
    assert ranking_of(gold, orders).mrr == pytest.approx(expected)


@examples(100)
@given(ranked(classes=9, kept=4))
def test_mrr_of_candidates_cut_off_counts_the_missing_as_nothing(drawn):
    gold, orders = drawn
    ranks = [order.index(one) + 1 if one in order else None for one, order in zip(gold, orders, strict=True)]
    assert ranking_of(gold, orders).mrr == pytest.approx(sum(1 / rank for rank in ranks if rank) / len(ranks))
