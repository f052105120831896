from __future__ import annotations

import pytest

from entlink.kb.names.aliases import PriorWeights
from entlink.kb.names.tiers import Normalisation, Tier
from knowledge_bases import article, make_kb, supports

# Counted by hand below: "Mercury" links 3 × planet, 1 × element; "mercury" 2 × element; "Mer-cury" 1 × god.
NAMES = [
    article("planet", "Mercury (planet)", "[[planet|Mercury]] [[planet|Mercury]] [[planet|Mercury]]"),
    article("element", "Quicksilver", "[[element|Mercury]] and [[element|mercury]] and [[element|mercury]]"),
    article("god", "Hermes", "[[god|Mer-cury]] [[god|Ｈermes]]", aliases=["Mercury", "Cyllenius"]),
    article("car", "Mercury", "A make of cars."),
    article("b-tie", "Tied (b)", ""),
    article("a-tie", "Tied (a)", ""),
    article("sky", "Planets", ""),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_kb(tmp_path_factory.mktemp("names"), NAMES)


@pytest.fixture
def kb(folder, opened):
    return opened(folder)


def test_priors_are_links_plus_the_weight_of_the_entitys_own_naming(kb):
    # planet 3 links + 1 stripped title, car 0 + 3 title, god 0 + 2 alias, element 1 link.
    assert supports(kb, "Mercury") == {"planet": 4, "car": 3, "god": 2, "element": 1}
    assert [name.probability for name in kb.aliases("Mercury")] == [0.4, 0.3, 0.2, 0.1]


def test_other_weights(folder, opened):
    kb = opened(folder, weights=PriorWeights(title=0, alias=10, stripped=5))
    assert supports(kb, "Mercury") == {"god": 10, "planet": 8, "element": 1, "car": 0}


def test_no_support_at_all_is_no_division_by_zero(folder, opened):
    kb = opened(folder, weights=PriorWeights(0, 0, 0))
    assert [name.probability for name in kb.aliases("Cyllenius")] == [0.0]


def test_the_exact_form_comes_before_looser_ones(kb):
    assert supports(kb, "mercury") == {"element": 2}
    assert supports(kb, "Mer-cury") == {"god": 1}
    assert kb.meaning("mercury").tier is Tier.EXACT


def test_a_looser_step_adds_up_all_forms_as_close(kb):
    # No form "MERCURY": case lets in Mercury and mercury, not Mer-cury.
    meaning = kb.meaning("MERCURY")
    assert meaning.tier is Tier.CASE
    assert supports(kb, "MERCURY") == {"planet": 4, "car": 3, "element": 3, "god": 2}
    assert set(meaning.forms) == {"Mercury", "mercury"}


def test_the_loosest_step_of_writing_adds_up_every_form_of_the_key(kb):
    meaning = kb.meaning("MER/CURY")
    assert meaning.tier is Tier.PUNCTUATION
    assert set(meaning.forms) == {"Mer-cury"}
    assert supports(kb, "Ｍercury") == supports(kb, "Mercury")
    assert kb.meaning("Ｍercury").tier is Tier.UNICODE


def test_inflection_is_tried_last(kb):
    assert kb.meaning("Quicksilvers").tier is Tier.INFLECTION
    assert supports(kb, "Quicksilver's") == {"element": 3}
    assert supports(kb, "Planet") == {"sky": 3}
    assert supports(kb, "Planets") == {"sky": 3}
    assert kb.meaning("Planets").tier is Tier.EXACT


@pytest.mark.parametrize(
    ("off", "surface"),
    [
        ("unicode", "Quicksilvｅr"),
        ("case", "QUICKSILVER"),
        ("punctuation", "Mer/cury"),
        ("inflection", "Quicksilvers"),
    ],
)
def test_a_step_switched_off_is_not_taken(folder, opened, off, surface):
    assert opened(folder).meaning(surface).entries
    assert not opened(folder, normalisation=Normalisation(**{off: False})).meaning(surface).entries


def test_equal_supports_keep_the_order_in_which_entities_came(kb):
    assert list(supports(kb, "Tied")) == ["b-tie", "a-tie"]
    assert list(supports(kb, "MERCURY"))[1:3] == ["element", "car"]


def test_unknown_surfaces_mean_nothing(kb):
    for surface in ("Saturn", "", " ", "!!!", "\u0301"):
        assert kb.meaning(surface).entries == ()
        assert kb.aliases(surface) == []
        assert kb.meaning(surface).link_probability() is None


def test_sources_say_where_a_name_comes_from(kb):
    sources = {name.entity: name.sources for name in kb.aliases("Mercury")}
    assert sources == {"planet": ["stripped", "anchor"], "car": ["title"], "god": ["alias"], "element": ["anchor"]}


def test_a_form_that_only_stands_in_the_texts_is_no_name(tmp_path, opened):
    kb = opened(make_kb(tmp_path, [article("us", "US", "Tell us, tell us."), article("t", "T", "[[us|US]]")]))
    meaning = kb.meaning("us")
    assert meaning.forms == ("US",)
    assert (meaning.linked, meaning.unlinked) == (1, 2)


def test_meanings_are_remembered_until_told_to_forget(kb):
    first = kb.meaning("Mercury")
    assert kb.meaning("Mercury") is first
    kb.names.forget()
    assert kb.meaning("Mercury") is not first


def test_what_any_form_of_a_key_means(kb):
    meaning = kb.meaning_of_key("mer cury")
    assert [entry.support for entry in meaning.entries] == [1]
    assert kb.meaning_of_key("nothing so").entries == ()
