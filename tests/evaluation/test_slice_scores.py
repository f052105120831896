"""Scores of parts of the gold: by hand, and that the parts add up to the whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.documents import Document, GoldLink, Link, Mention, Span
from entlink.evaluation import Evaluation, EvaluationOptions, NilRule, evaluate
from entlink.evaluation.results import Slice
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.testing import toy_kb
from random_documents import ANY, MATCHINGS, RULES, corpora, examples
from sliced_documents import answers, document, table
from worked import TEXT, gold, link


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(toy_kb(tmp_path_factory.mktemp("toy"))) as kb:
        yield kb


def evaluated(wanted: Document, given_: Document, kb: KnowledgeBase | None = None, **options) -> Evaluation:
    return evaluate([wanted], [given_], EvaluationOptions(**{"rounds": 0, **options}), kb=kb)


def test_slices_of_gold_have_recall_by_hand(toy):
    """Of the planet's Mercuries one is right, one missed; the element's is wrong. Optional gold is left out."""
    wanted = document(
        [
            ("Mercury", "mercury-planet"),
            ("Mercury", "mercury-planet"),
            ("Mercury", "mercury-element"),
            ("Paris", "paris", {"optional": True}),
        ]
    )
    given_ = answers(wanted, "mercury-planet", "-", "mercury-planet", "paris")
    found = evaluated(wanted, given_, toy)
    assert table(found, "popular") == {
        "most popular is gold": (2, 0.5, 0.5),
        "most popular is not gold": (1, 1.0, 0.0),
    }
    assert table(found, "overlap") == {"MULTIPLE_CATEGORIES": (3, 2 / 3, 1 / 3)}
    assert table(found, "kb") == {"in-KB": (3, 2 / 3, 1 / 3)}
    assert table(found, "type") == {"planet": (2, 0.5, 0.5), "substance": (1, 1.0, 0.0)}
    assert all(one.precision is None for one in found.slices)


def test_slices_of_documents_have_precision_too():
    war, peace = (document([("a", "a"), ("b", "b")], id, domain=id) for id in ("war", "peace"))
    noisy = Document("war", war.text, links=(*answers(war, "a", "x").links, extra(war, 1, 4, "y")))
    found = evaluate([war, peace], [noisy, answers(peace, "-", "-")], EvaluationOptions(rounds=0, slices=("domain",)))
    first, second = sorted(found.slices, key=lambda one: one.value)
    assert (first.value, first.el_recall, first.precision, first.f1) == ("peace", 0.0, 0.0, 0.0)
    assert (second.value, second.md_recall, second.el_recall, second.precision) == ("war", 1.0, 0.5, 1 / 3)
    assert second.f1 == pytest.approx(2 / 5)
    assert (second.gold, second.documents) == (2, 1)


def extra(one: Document, start: int, end: int, entity: str) -> Link:
    return Link(Mention(Span(start, end), one.text[start:end]), entity, 1.0)


def test_slices_tell_how_many_have_the_right_candidate():
    wanted = [gold("Paris", "p", meta={"of": "x"}), gold("Berlin", "b", meta={"of": "x"}), gold("Spree", "s")]
    given_ = [link("Paris", "x", "x", "p"), link("Berlin", "x", "x"), link("Spree", "s", "s")]
    found = evaluated(
        Document("d", TEXT, gold=tuple(wanted)), Document("d", TEXT, links=tuple(given_)), slices=("gold:of", "kb")
    )
    assert {(one.slice, one.value): one.candidate_recall for one in found.slices} == {
        ("gold:of", "x"): 1 / 2,
        ("kb", "in-KB"): 2 / 3,
    }


def test_the_largest_parts_come_first_and_rare_ones_beyond_forty_are_noted():
    wanted = document([(f"n{number}", "e", {"meta": {"of": f"v{number // 2:02}"}}) for number in range(91)])
    found = evaluated(wanted, answers(wanted, *["e"] * 91), slices=("gold:of",))
    assert len(found.slices) == 40
    assert [one.value for one in found.slices][:2] == ["v00", "v01"]
    assert "v45" not in {one.value for one in found.slices}
    assert "slice gold:of: 46 values, the 40 with most gold are shown" in found.notes


def test_slices_of_identifiers_that_the_kb_resolves(toy):
    """Gold by QID and answers by address are one entity, and the slices speak of it."""
    wanted = document([("Paris", "Q90"), ("Mercury", "Q308")])
    found = evaluated(wanted, answers(wanted, "https://example.org/paris", "Mercury (element)"), toy)
    assert table(found, "type") == {"city": (1, 1.0, 1.0), "place": (1, 1.0, 1.0), "planet": (1, 1.0, 0.0)}
    assert found.coverage is not None
    assert (found.coverage.links, found.coverage.covered_links) == (2, 2)


def test_coverage_scores_the_rest_apart(toy):
    """Atlantis is unknown to the KB: what is said of it is left out, and EL on the rest is perfect."""
    unsure = {"optional": True}
    golds = [("Paris", "paris"), ("Atlantis", "atlantis"), ("Atlantis", "atlantis"), ("Mu", "mu", unsure)]
    wanted = document([*golds, ("Sun", "sun", unsure)])
    found = evaluated(wanted, answers(wanted, "paris", "london", "-", "-", "-"), toy)
    assert (found.el.micro.correct, found.el.micro.predicted, found.el.micro.gold) == (1, 2, 3)
    assert found.coverage is not None
    told = found.coverage
    assert (told.links, told.covered_links, told.entities, told.covered_entities) == (3, 1, 2, 1)
    assert (told.el.correct, told.el.predicted, told.el.gold) == (1, 1, 1)
    assert told.examples == ["atlantis"]
    assert found.blame.misses == {"not in the knowledge base": 2}
    assert found.blame.ceilings.coverage == 1 / 3


# Parts add up

ADDED_UP = ANY._replace(candidates=True)


def total(rows: list[Slice]) -> int:
    return sum(one.gold for one in rows)


@examples(60)
@given(corpora(ADDED_UP), MATCHINGS, RULES)
def test_the_parts_of_the_kb_slice_add_up_to_the_whole(corpus, matching, rule):
    wanted, given_ = zip(*corpus, strict=True)
    found = evaluate(wanted, given_, EvaluationOptions(rounds=0, matching=matching, nil=rule, slices=("kb",)))
    assert total(found.slices) == found.ranking.mentions
    right = sum(one.gold * one.el_recall for one in found.slices)
    assert right == pytest.approx(found.ranking.accuracy * found.ranking.mentions)
    by_value = {one.value: one for one in found.slices}
    in_kb = by_value["in-KB"].gold if "in-KB" in by_value else 0
    assert in_kb == found.ranking.in_kb


@examples(60)
@given(corpora(ADDED_UP, most=5), MATCHINGS, RULES, st.data())
def test_the_parts_of_a_slice_of_documents_add_up_to_the_whole(corpus, matching, rule, data):
    domain = st.sampled_from(["x", "y", "z"])
    wanted = [
        Document(one.id, one.text, turns=one.turns, gold=one.gold, meta={**one.meta, "domain": data.draw(domain)})
        for one, _ in corpus
    ]
    options = EvaluationOptions(rounds=0, matching=matching, nil=rule, slices=("domain",))
    found = evaluate(wanted, [given_ for _, given_ in corpus], options)
    assert total(found.slices) == found.el.micro.gold
    assert sum(one.documents for one in found.slices) == len(corpus)
    right = sum(one.gold * one.el_recall for one in found.slices)
    assert right == pytest.approx(found.el.micro.correct)
    scores = [one.f1 for one in found.slices]
    assert sum(scores) / len(scores) == pytest.approx(found.el.macro.f1)


@examples(60)
@given(corpora(ANY._replace(nil=False, repeated=False), most=3), st.data())
def test_the_parts_of_a_slice_of_gold_add_up_to_the_whole(corpus, data):
    """Of single labels, without NIL, and matched strictly."""
    field = st.sampled_from(["x", "y"])
    wanted = [
        Document(
            one.id,
            one.text,
            turns=one.turns,
            gold=tuple(
                GoldLink(each.span, each.entities, optional=each.optional, meta={"of": data.draw(field)})
                for each in one.gold
            ),
            meta=one.meta,
        )
        for one, _ in corpus
    ]
    found = evaluate(wanted, [given_ for _, given_ in corpus], EvaluationOptions(rounds=0, slices=("gold:of",)))
    assert total(found.slices) == found.el.micro.gold == found.md.micro.gold
    assert sum(one.gold * one.el_recall for one in found.slices) == pytest.approx(found.el.micro.correct)
    assert sum(one.gold * one.md_recall for one in found.slices) == pytest.approx(found.md.micro.correct)


def test_nil_counts_in_the_slice_of_nil_by_every_rule():
    wanted = document([("a", "a"), ("b",), ("c",)])
    given_ = answers(wanted, "a", None, "x")
    for rule in NilRule:
        found = evaluated(wanted, given_, slices=("kb",), nil=rule)
        assert table(found, "kb") == {"in-KB": (1, 1.0, 1.0), "NIL": (2, 1.0, 0.5)}
