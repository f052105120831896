"""Worked examples of every convention, counted by hand."""

from __future__ import annotations

import pytest

from entlink.documents import Document, GoldLink, Link, Mention, Span, Turn
from entlink.evaluation import Counts, EvaluationOptions, evaluate, macro, micro
from entlink.evaluation.scoring.conventions import MATCHING_MEANS, NIL_MEANS
from worked import TEXT, Matching, NilRule, counts, gold, link, scored

# Gold: Paris and Berlin are entities, Vulcan and Spree are NIL.
# Answers: Paris right; Berlin NIL; Vulcan an entity; Spree NIL; New York City, where there is no gold, an entity.
GOLD = [
    gold("Paris", "paris"),
    gold("Berlin", "berlin"),
    gold("Vulcan", nil_type="PLANET"),
    gold("Spree", nil_type="RIVER"),
]
ANSWERS = [
    link("Paris", "paris"),
    link("Berlin", None),
    link("Vulcan", "vulcan-god"),
    link("Spree", None, nil_type="RIVER"),
    link("New York City", "new-york"),
]


@pytest.mark.parametrize(
    ("rule", "el", "ed"),
    [
        # Gold Paris, Berlin; answers Paris, Vulcan, New York City.
        (NilRule.IGNORED, (1, 3, 2), (1, 3, 2)),
        # Gold all four; all five answers; Paris and Spree are right. As sets NIL is one member: {paris, berlin, NIL}
        # against {paris, NIL, vulcan-god, new-york}.
        (NilRule.REQUIRED, (2, 5, 4), (2, 4, 3)),
        # Gold Paris, Berlin; all five answers, the two NILs wrong. As a set {paris, NIL, vulcan-god, new-york}.
        (NilRule.ERRORS, (1, 5, 2), (1, 4, 2)),
        # Gold Paris, Berlin; answers Paris and New York City, since Vulcan stands on NIL gold.
        (NilRule.DROPPED, (1, 2, 2), (1, 2, 2)),
    ],
)
def test_each_rule_for_nil(rule, el, ed):
    found = scored(GOLD, ANSWERS, nil=rule)
    assert (counts(found, "el"), counts(found, "ed")) == (el, ed)
    assert counts(found, "md") == (4, 5, 4)  # mention detection does not ask
    assert counts(found, "md_linked") == (1, 3, 2)
    assert found.convention.nil == rule
    assert found.el.convention == f"strict, {rule}"


def test_all_rules_side_by_side_are_the_rules_one_by_one():
    together = scored(GOLD, ANSWERS, rules=tuple(NilRule)).conventions
    assert len(together) == 4
    for rule in NilRule:
        alone = scored(GOLD, ANSWERS, nil=rule)
        assert together[f"strict, {rule}"]["el"].micro == alone.el.micro
        assert together[f"strict, {rule}"]["ed"].micro == alone.ed.micro


def test_nil_as_a_class_of_its_own():
    found = scored(GOLD, ANSWERS)
    assert (found.nil.correct, found.nil.predicted, found.nil.gold) == (1, 2, 2)
    typed = scored(GOLD, [*ANSWERS[:3], link("Spree", None, nil_type="LAKE")])
    assert (typed.nil.correct, typed.nil_typed.correct, typed.nil_typed.predicted) == (1, 0, 2)


def test_accuracy_in_the_knowledge_base_with_nil_and_with_types():
    found = scored(GOLD, [*ANSWERS[:2], link("Vulcan", None, nil_type="GOD"), ANSWERS[3]]).ranking
    assert (found.accuracy_in_kb, found.accuracy, found.accuracy_typed_nil) == (1 / 2, 3 / 4, 2 / 4)


def test_strict_wants_both_offsets_and_weak_an_overlap():
    wanted, given = (
        [gold("New York City", "nyc"), gold("river Spree", "spree")],
        [
            link("New York", "nyc"),
            link("Spree", "elbe"),
        ],
    )
    strict, weak = scored(wanted, given), scored(wanted, given, matching=Matching.WEAK)
    assert (counts(strict, "md"), counts(strict, "el"), counts(strict, "ed")) == ((0, 2, 2), (0, 2, 2), (1, 2, 2))
    assert (counts(weak, "md"), counts(weak, "el")) == ((2, 2, 2), (1, 2, 2))


def test_weak_matching_gives_a_long_span_one_gold_only():
    found = scored(
        [gold("New York", "ny"), gold("City", "city")], [link("New York City", "ny")], matching=Matching.WEAK
    )
    assert counts(found, "md") == (1, 1, 2)


def test_weak_matching_takes_the_pairing_with_most_pairs():
    wanted = [gold("Paris met Berlin", "a"), gold("Berlin", "b")]
    given = [link("Berlin", "b"), link("Berlin near Vulcan", "b")]
    found = scored(wanted, given, matching=Matching.WEAK)
    assert (counts(found, "md"), counts(found, "el")) == ((2, 2, 2), (1, 2, 2))


def test_one_of_alternatives_is_enough():
    wanted = [gold("Paris", "paris", "paris-texas"), gold("Berlin", "berlin")]
    found = scored(wanted, [link("Paris", "paris-texas"), link("Berlin", "paris")])
    assert (counts(found, "el"), counts(found, "ed")) == ((1, 2, 2), (1, 2, 2))


def test_alternatives_in_a_set_are_paired_off_as_well_as_can_be():
    """{a or b, a}: the answers a and b satisfy both, though a fits the first, too."""
    found = scored([gold("Paris", "a", "b"), gold("Berlin", "a")], [link("Paris", "b"), link("Berlin", "a")])
    assert counts(found, "ed") == (2, 2, 2)
    both = scored([gold("Paris", "a", "b"), gold("Berlin", "a")], [link("Paris", "a"), link("Vulcan", "b")])
    assert counts(both, "ed") == (2, 2, 2)


def test_optional_gold_counts_neither_for_nor_against():
    wanted = [gold("Paris", "paris"), gold("Berlin", "berlin", optional=True)]
    assert counts(scored(wanted, [link("Paris", "paris")]), "el") == (1, 1, 1)
    assert counts(scored(wanted, [link("Paris", "paris"), link("Berlin", "berlin")]), "el") == (1, 1, 1)
    wrong = scored(wanted, [link("Paris", "paris"), link("Berlin", "bonn")])
    assert (counts(wrong, "el"), counts(wrong, "md"), counts(wrong, "ed")) == ((1, 2, 1), (1, 1, 1), (1, 2, 1))


def test_a_span_said_twice_is_right_once():
    found = scored([gold("Paris", "paris")], [link("Paris", "paris"), link("Paris", "paris")])
    assert (counts(found, "el"), counts(found, "md"), counts(found, "ed")) == ((1, 2, 1), (1, 2, 1), (1, 1, 1))


def test_a_span_said_twice_is_right_if_one_is():
    found = scored([gold("Paris", "paris")], [link("Paris", "paris-texas"), link("Paris", "paris")])
    assert counts(found, "el") == (1, 2, 1)
    assert found.ranking.accuracy == 1.0


def chat(**sides) -> Document:
    turns = [Turn("I like the Beatles.", "USER"), Turn("The Beatles are fine.", "SYSTEM"), Turn("Beatles!", "USER")]
    return Document.of_turns("c", turns, **sides)


def test_a_turn_is_a_set_of_its_own():
    text = chat().text
    wanted = chat(gold=(gold("Beatles", "beatles", text=text), gold("Beatles", "beatles", text=text, nth=2)))
    given = chat(links=(link("Beatles", "beatles", text=text), link("Beatles", "beatles", text=text, nth=1)))
    found = evaluate([wanted], [given], EvaluationOptions(rounds=0))
    assert (counts(found, "ed"), counts(found, "el")) == ((1, 2, 2), (1, 2, 2))


def test_what_was_not_annotated_is_left_out():
    text = chat().text
    wanted = chat(gold=(gold("Beatles", "beatles", text=text),), meta={"annotated_turns": [0, 2]})
    given = chat(links=(link("Beatles", "beatles", text=text), link("Beatles", "beatles", text=text, nth=1)))
    found = evaluate([wanted], [given], EvaluationOptions(rounds=0))
    assert counts(found, "el") == (1, 1, 1)
    assert found.saliency.outside == 1
    assert any("nothing was annotated: 1" in note for note in found.notes)


def test_an_evaluation_span_bounds_what_counts():
    wanted = Document("d", TEXT, gold=(gold("Paris", "paris"),), meta={"evaluation_span": [0, 20]})
    given = Document("d", TEXT, links=(link("Paris", "paris"), link("Vulcan", "vulcan")))
    assert counts(evaluate([wanted], [given], EvaluationOptions(rounds=0)), "el") == (1, 1, 1)


def rows(*rows: tuple[int, str, str], role: str) -> Document:
    """A dialogue as rows of (turn, mention, entity): texts are made of the mentions."""
    texts: list[list[str]] = [[], [], []]
    for turn, mention, _ in rows:
        texts[turn].append(mention)
    document = Document.of_turns("c", [Turn("\n".join(lines)) for lines in texts], meta={"lacks": "offsets"})
    starts = [whole.start for whole in document.turn_spans]
    gold, links = [], []
    for turn, mention, entity in rows:
        at = Span(starts[turn], starts[turn] + len(mention))
        starts[turn] += len(mention) + 1
        gold.append(GoldLink(at, (entity,)))
        links.append(Link(Mention(at, mention), entity, 1.0))
    return Document.of_turns(
        "c",
        document.turns,
        meta=document.meta,
        **({"gold": tuple(gold)} if role == "gold" else {"links": tuple(links)}),
    )


STRINGS = [(0, "the hotel", "Hotel"), (0, "Boston", "Boston"), (2, "Boston", "Boston"), (2, "Boston", "Boston")]


def test_strings_are_sets_by_turn():
    """Gold has three distinct rows. 'hotel' differs by its article, and Boston in turn 1 is not gold."""
    given = [(0, "hotel", "Hotel"), (0, "Boston", "Boston"), (1, "Boston", "Boston"), (2, "Boston", "Boston_(band)")]
    found = evaluate([rows(*STRINGS, role="gold")], [rows(*given, role="links")], EvaluationOptions(rounds=0))
    assert found.convention.matching == "string"
    assert "no offsets" in found.convention.chosen
    assert (counts(found, "md"), counts(found, "el"), counts(found, "ed")) == ((2, 4, 3), (1, 4, 3), (2, 4, 3))


def test_articles_can_be_taken_off():
    given = [(0, "a hotel", "Hotel"), (0, "The Boston", "Boston"), (2, "an Boston", "Boston")]
    options = EvaluationOptions(rounds=0, matching=Matching.STRING_WITHOUT_ARTICLES)
    found = evaluate([rows(*STRINGS, role="gold")], [rows(*given, role="links")], options)
    assert (counts(found, "md"), counts(found, "el")) == ((3, 3, 3), (3, 3, 3))


def test_micro_and_macro_over_domains():
    """Of one domain 1 of 2 is right, of the other 8 of 8: macro recall is the mean of .5 and 1."""
    texts = {"a": "x y", "b": "p q r s t u v w"}
    wanted, given = [], []
    for domain, text in texts.items():
        letters = text.split()
        wanted.append(
            Document(domain, text, gold=tuple(gold(one, one, text=text) for one in letters), meta={"domain": domain})
        )
        said = letters if domain == "b" else letters[:1]
        given.append(Document(domain, text, links=tuple(link(one, one, text=text) for one in said)))
    found = evaluate(wanted, given, EvaluationOptions(rounds=0))
    assert (found.el.macro.over, found.el.macro.groups) == ("domain", 2)
    assert found.el.micro.recall == 9 / 10
    assert found.el.macro.recall == (1 / 2 + 1) / 2
    assert found.el.macro.f1 == pytest.approx((2 / 3 + 1) / 2)
    assert found.md.macro.precision == 1.0


def test_macro_without_domains_is_over_documents():
    found = scored(GOLD, ANSWERS)
    assert (found.el.macro.over, found.el.macro.groups) == ("document", 1)


def test_scores_of_nothing():
    assert Counts(0, 0, 0).scores == (1.0, 1.0, 1.0)
    assert Counts(0, 0, 3).scores == (0.0, 0.0, 0.0)
    assert Counts(0, 3, 0).scores == (0.0, 0.0, 0.0)
    assert micro([]) == (0, 0, 0)
    assert macro([]) == (0.0, 0.0, 0.0)


def test_every_convention_is_explained():
    assert set(MATCHING_MEANS) == set(Matching)
    assert set(NIL_MEANS) == set(NilRule)


def test_gold_can_be_left_out_by_a_field():
    wanted = [gold("Paris", "paris"), gold("Berlin", "berlin", meta={"personal": True})]
    assert counts(scored(wanted, [link("Paris", "paris")], without=("personal",)), "el") == (1, 1, 1)
    assert counts(scored(wanted, [link("Paris", "paris")]), "el") == (1, 1, 2)
