"""Gold by identifiers that the knowledge base lacks, by titles, and on disambiguation pages."""

from __future__ import annotations

import pytest

from entlink.documents import Document
from entlink.errors import ConfigError
from entlink.evaluation import EvaluationOptions, GoldMatch, compare, evaluate
from entlink.kb.knowledge_base import KnowledgeBase
from knowledge_bases import article, make_kb
from worked import TEXT, counts, gold, link

# TEXT has Paris and Berlin; gold means the company Apple by one of them, as KORE50 does with its first names.
FRUIT = article("fruit", "Apple", "Apple is a fruit.", external={"wikidata": "Q89"})
COMPANY = gold("Paris", "Q312", meta={"title": "Apple"})


@pytest.fixture
def kb_of(tmp_path):
    opened = []

    def build(*articles, **options):
        opened.append(KnowledgeBase.open(make_kb(tmp_path, articles, **options)))
        return opened[-1]

    yield build
    for kb in opened:
        kb.close()


def scored(kb, wanted, *said, match_gold=GoldMatch.IDENTIFIER):
    options = EvaluationOptions(rounds=0, match_gold=match_gold)
    return evaluate([Document("d", TEXT, gold=(wanted,))], [Document("d", TEXT, links=said)], options, kb=kb)


def noted(found, words):
    return [note for note in found.notes if words in note]


def test_a_namesake_is_not_the_gold_entity(kb_of):
    found = scored(kb_of(FRUIT), COMPANY, link("Paris", "fruit"))
    assert (found.coverage.covered_links, found.coverage.links, counts(found, "el")) == (0, 1, (0, 1, 1))
    assert found.convention.name == found.el.convention == "strict, nil-ignored"
    (note,) = noted(found, "an entity has their title: 1")
    assert "--match-gold title" in note


def test_by_title_it_counts_and_the_convention_says_so(kb_of):
    found = scored(kb_of(FRUIT), COMPANY, link("Paris", "fruit"), match_gold=GoldMatch.TITLE)
    assert (found.coverage.covered_links, counts(found, "el")) == (1, (1, 1, 1))
    names = {found.convention.name, found.el.convention, found.ed.convention}
    assert names == {"strict, nil-ignored, gold by title"}
    assert found.coverage.convention == "strict, nil-gold-dropped, gold by title"
    assert "namesake" in found.convention.description
    assert not noted(found, "several entities")


def test_predictions_by_title_need_the_option_too(kb_of):
    """A linker of all Wikipedia that says the company is not right because gold is the fruit."""
    kb, fruit, company = kb_of(FRUIT), gold("Paris", "Q89"), link("Paris", "Q312", title="Apple")
    assert counts(scored(kb, fruit, company), "el") == (0, 1, 1)
    assert counts(scored(kb, fruit, company, match_gold=GoldMatch.TITLE), "el") == (1, 1, 1)


def test_an_identifier_of_the_knowledge_base_needs_no_title(kb_of):
    kb = kb_of(FRUIT)
    for identifier in ("fruit", "Q89", "http://www.wikidata.org/entity/Q89"):
        assert scored(kb, gold("Paris", identifier), link("Paris", "fruit")).coverage.covered_links == 1
    assert scored(kb, gold("Paris", "Apple"), link("Paris", "fruit")).coverage.covered_links == 0


@pytest.mark.parametrize(("id", "covered"), [("Coriander", 1), ("7", 0)])
def test_a_redirect_is_an_identifier_only_where_titles_are_ids(kb_of, id, covered):
    herb = article(id, "Coriander", "Coriander, also known as cilantro, is a herb.")
    found = scored(kb_of(herb, names_in_openings=True), gold("Paris", "Cilantro"), link("Paris", id))
    assert (found.coverage.covered_links, counts(found, "el")) == (covered, (covered, 1, 1))


@pytest.mark.parametrize(
    "other",
    [article("band", "Apple (band)"), article("company", "Apple Inc.", aliases=["Apple"])],
    ids=["with a parenthesis", "an alias"],
)
def test_titles_that_several_entities_have_are_noted(kb_of, other):
    found = scored(kb_of(FRUIT, other), COMPANY, link("Paris", "fruit"), match_gold=GoldMatch.TITLE)
    assert noted(found, "a title that several entities have: 1 of 1 ('Apple')")


def test_a_disambiguation_page_is_no_entity_and_no_namesake(kb_of):
    page = article("page", "Apple (disambiguation)", "Apple may refer to:", external={"wikidata": "Q5"})
    kb = kb_of(FRUIT, page)
    for identifier in ("page", "Q5"):
        found = scored(kb, gold("Paris", identifier), link("Paris", "fruit"))
        assert (found.coverage.covered_links, found.blame.misses) == (0, {"not in the knowledge base": 1})
        assert noted(found, f"disambiguation pages, which are no entities: 1 ({identifier!r})")
    found = scored(kb, COMPANY, link("Paris", "fruit"), match_gold=GoldMatch.TITLE)
    assert not noted(found, "several entities")


def test_by_title_needs_a_knowledge_base():
    with pytest.raises(ConfigError, match=r"none is given. Give one \(--kb NAME.kb\)"):
        scored(None, COMPANY, match_gold=GoldMatch.TITLE)


def test_runs_that_match_gold_differently_do_not_compare(kb_of):
    kb = kb_of(FRUIT)
    a, b = (scored(kb, COMPANY, link("Paris", "fruit"), match_gold=one) for one in GoldMatch)
    with pytest.raises(Exception, match="conventions differ"):
        compare(a, b)


def test_identifiers_of_two_kinds_are_told_and_only_those():
    (note,) = noted(scored(None, gold("Paris", "Q90"), link("Paris", "Paris")), "no identifier in common")
    assert "gold 'Q90', predictions 'Paris'" in note
    assert "Give --kb NAME.kb" in note
    for said in ((), (link("Paris", None),), (link("Berlin", "Q90"),)):
        assert not noted(scored(None, gold("Paris", "Q90"), *said), "no identifier in common")
