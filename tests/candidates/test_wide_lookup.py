from __future__ import annotations

import pytest

from entlink.candidates.alias import AliasRetriever
from entlink.documents import Candidate, Document, Entity, Mention, Span
from entlink.interfaces import Question, Shortlist
from entlink.kb.indexes.names import reindex
from entlink.kb.names.aliases import PriorWeights, given_weight
from entlink.kb.names.own_names import given_names
from entlink.kb.names.tiers import FACTORS, Normalisation, Tier, inflected, tier_between
from entlink.kb.store.edits import add, block, pin
from entlink.testing import check_retriever
from entlink.text.folding import key_of
from entlink.text.plurals import irregular
from gathered import scores_of
from knowledge_bases import article, make_kb

ZOO = [
    article("cat", "Cat", "", types=["animal"]),
    article("band", "Cats (band)", "", aliases=["cats", "The Cats"], types=["music"]),
    article("musical", "CATS", "", aliases=["Cats"], types=["music"]),
    article("dot", "C.A.T.S.", ""),
    article("dash", "Cat's", ""),
    article("tooth", "Tooth", ""),
    article("teeth", "Teeth (film)", ""),
    article("wisdom", "Wisdom tooth", ""),
    article("leaf", "leaf", "", aliases=["Leaf", "leaves"]),
    article("people", "People", ""),
    article("person", "Person", ""),
    article("city", "Cities", ""),
    article("wide", "Ｃａｔｓ", ""),
]
SURFACES = [
    *("cat", "cats", "Cats", "CATS", "C.A.T.S.", "Cat's", "the cats", "tooth", "teeth", "Teeth", "Wisdom Teeth"),
    *("leaf", "leaves", "Leaves", "LEAFS", "people", "persons", "city", "cities", "nothing", "", "!!!", "京"),
]


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    return make_kb(tmp_path_factory.mktemp("zoo"), ZOO, "zoo")


def by_hand(kb, surface, normalisation=Normalisation()):
    """The support and tier of every entity, from a look at every name that there is."""
    key, found = key_of(surface), {}
    variants = {*inflected(key), *irregular(key)}
    for entity in kb:
        for name, source in given_names(entity):
            if key_of(name) == key:
                tier = tier_between(surface, name)
            elif key_of(name) in variants:
                tier = Tier.INFLECTION
            else:
                continue
            if normalisation.allows(tier):
                support = given_weight(PriorWeights(), int(source)) * FACTORS[tier]
                best, tightest = found.get(entity.id, (0.0, tier))
                found[entity.id] = (max(best, support), min(tightest, tier))
    return found


@pytest.mark.parametrize("off", [None, "case", "inflection"])
def test_all_bearers_in_any_form_are_found(zoo, opened, off):
    normalisation = Normalisation(**{off: False} if off else {})
    kb = opened(zoo, normalisation=normalisation)
    for surface in SURFACES:
        check_candidates(kb, surface, normalisation)


def check_candidates(kb, surface, normalisation):
    candidates = AliasRetriever(kb, wide=True).candidates(surface)
    expected = by_hand(kb, surface, normalisation)
    total = sum(support for support, _ in expected.values())
    found = {one.entity: (one.evidence["support"], one.evidence["tier"]) for one in candidates}
    assert found == {id: (pytest.approx(support), float(tier)) for id, (support, tier) in expected.items()}
    assert [one.score for one in candidates] == sorted((one.score for one in candidates), reverse=True)
    for one in candidates:
        assert one.score == one.evidence["prior"] == pytest.approx(expected[one.entity][0] / total)


def test_what_the_tightest_tier_hides(zoo, opened):
    kb = opened(zoo)
    assert [one.entity for one in AliasRetriever(kb).candidates("cats")] == ["band"]
    wide = AliasRetriever(kb, wide=True).candidates("cats")
    # band: an alias, exact; musical: a title, in capitals; cat: a title, in the singular
    assert {one.entity: round(one.evidence["support"], 2) for one in wide} == {
        "musical": 2.4, "wide": 2.4, "band": 2.0, "cat": 1.5,
    }  # fmt: skip


def test_it_finds_whatever_the_narrow_lookup_finds(zoo, opened):
    kb = opened(zoo)
    for surface in SURFACES:
        narrow, wide = AliasRetriever(kb).candidates(surface), AliasRetriever(kb, wide=True).candidates(surface)
        assert {one.entity for one in narrow} <= {one.entity for one in wide}, surface


def test_links_count_in_every_form(tmp_path, opened):
    rows = [
        article("us", "United States", "[[us|US]] [[us|US]] [[us|us]]"),
        article("pronoun", "Us (pronoun)", "[[pronoun|us]]", aliases=["us"]),
    ]
    kb = opened(make_kb(tmp_path, rows, "us"))
    found = {one.entity: one.evidence["support"] for one in AliasRetriever(kb, wide=True).candidates("us")}
    assert found == {"us": 3.0, "pronoun": 3.0}


def test_a_weight_counts_once_however_many_forms_there_are(tmp_path, opened):
    rows = [article("dog", "Dog", "[[dog|cat]] [[dog|CAT]]"), article("kit", "Kit", "")]
    folder = make_kb(tmp_path, rows, "weighed")
    add(folder, [Entity("cat", "Cat", aliases=("cat", "CAT", "C.A.T.", "cats"))], weight=100)
    add(folder, [Entity("other", "CAT")], weight=7)
    expected = {
        # An alias in its own form, 2 × 1; in capitals the title, 3 × 0.8, counts more than that.
        "cat": {"cat": 100 + 2.4, "other": 7 + 2.4, "dog": 2},
        "CAT": {"cat": 100 + 2.4, "other": 7 + 3, "dog": 2},
        "Cat": {"cat": 100 + 3, "other": 7 + 2.4, "dog": 2},
        "cats": {"cat": 100 + 2, "other": 7 + 1.5, "dog": 2},
    }
    for step in ("laid over", "indexed"):
        retriever = AliasRetriever(opened(folder), wide=True)
        for surface, supports in expected.items():
            found = {one.entity: one.evidence["support"] for one in retriever.candidates(surface)}
            assert found == pytest.approx(supports), (step, surface)
        reindex(folder)


def test_rules_decide(zoo, opened, tmp_path):
    own = make_kb(tmp_path, ZOO, "own")
    pin(own, "cats", "dot")
    block(own, "tooth")
    retriever = AliasRetriever(opened(own), wide=True)
    (pinned,) = retriever.candidates("Cats")
    assert (pinned.entity, pinned.evidence["pinned"]) == ("dot", 1.0)
    assert [one.entity for one in retriever.candidates("cat")] == ["cat"]  # cats is spoken for
    assert retriever.candidates("tooth") == ()
    assert [one.entity for one in retriever.candidates("teeth")] == ["teeth"]


def test_types_and_limit(zoo, opened):
    retriever = AliasRetriever(opened(zoo), wide=True, limit=1)
    retriever.keep_to_types(frozenset({"music"}))
    (best,) = retriever.candidates("cats")
    assert (best.entity, best.score) == ("musical", pytest.approx(2.4 / 4.4))


def test_rescoring_agrees_with_retrieving(zoo, opened):
    retriever = AliasRetriever(opened(zoo), wide=True)
    mention = Mention(Span(0, 4), "cats")
    asked = [Candidate(id, 0.0) for id in ("cat", "tooth", "band")]
    (scores,) = scores_of(retriever, [Shortlist(Document("d", "cats"), mention, asked)])
    priors = {one.entity: one.score for one in retriever.candidates("cats")}
    assert list(scores) == [priors["cat"], 0.0, priors["band"]]
    check_retriever(retriever, [Question(Document("d", "x" * 9), [mention])])


@pytest.mark.parametrize(
    ("key", "other"),
    [
        ("teeth", "tooth"),
        ("wolf", "wolves"),
        ("wisdom teeth", "wisdom tooth"),
        ("children", "child"),
        ("city", "cities"),
    ],
)
def test_irregular_plurals(key, other):
    assert other in set(irregular(key))
    assert key in {*irregular(other), *inflected(other)}


@pytest.mark.parametrize("key", ["people", "day", "", "y", "by", "編程", "wolverine"])
def test_what_is_not_irregular(key):
    assert list(irregular(key)) == []
