from __future__ import annotations

import pytest

from entlink.candidates.alias import AliasRetriever
from entlink.documents import Document, Mention, Span
from entlink.interfaces import Question
from entlink.kb.store.edits import pin, remove
from entlink.testing import check_retriever
from knowledge_bases import article, make_kb


def question(*surfaces: str) -> Question:
    mentions = [Mention(Span(0, len(surface)), surface) for surface in surfaces]
    return Question(Document("d", "x" * 50), mentions)


def test_candidates_are_scored_by_their_prior(world):
    ((candidates,),) = AliasRetriever(world).retrieve([question("Mercury")])
    # planet: three links and its title without parenthesis; element: one link and the same.
    assert [(one.entity, one.title, one.score) for one in candidates] == [
        ("planet", "Mercury (planet)", pytest.approx(4 / 6)),
        ("element", "Mercury (element)", pytest.approx(2 / 6)),
    ]
    assert candidates[0].evidence == {"prior": pytest.approx(4 / 6), "support": 4.0, "tier": 0.0}


def test_it_keeps_what_a_retriever_promises(world):
    check_retriever(AliasRetriever(world), [question("Mercury", "nothing so", "北京"), question()])


def test_no_more_than_the_limit(world):
    (candidate,) = AliasRetriever(world, limit=1).candidates("Mercury")
    assert candidate.entity == "planet"
    assert candidate.score == pytest.approx(4 / 6)


def test_titles_are_those_of_the_date(world):
    with world.as_of("2000-01-01") as old:
        assert [one.title for one in AliasRetriever(old).candidates("Swaziland")] == ["Swaziland"]


def test_a_pin_is_told_in_the_evidence(own_world, opened):
    pin(own_world, "Mercury", "element")
    (candidate,) = AliasRetriever(opened(own_world)).candidates("Mercury")
    assert (candidate.entity, candidate.score, candidate.evidence["pinned"]) == ("element", 1.0, 1.0)


def test_what_was_found_is_dropped_when_the_knowledge_base_changed(own_world, opened):
    kb = opened(own_world)
    retriever = AliasRetriever(kb)
    assert retriever.candidates("Venus") is retriever.candidates("Venus")
    remove(own_world, ["venus"])
    kb.refresh()
    retriever.knowledge_base_changed()
    assert retriever.candidates("Venus") == ()


def test_a_name_written_otherwise_is_found_where_only_others_write_it_so(tmp_path, opened):
    rows = [
        article("crowd", "crew", "A crowd.", types=["people"]),
        article("boat", "Crew (boat)", "A boat.", types=["ship"]),
    ]
    retriever = AliasRetriever(opened(make_kb(tmp_path, rows)))
    assert [one.entity for one in retriever.candidates("crew")] == ["crowd"]
    retriever.keep_to_types(frozenset({"ship"}))
    assert [one.entity for one in retriever.candidates("crew")] == ["boat"]


def test_a_pin_holds_against_a_type_filter(tmp_path, opened):
    """What the name is pinned to is not wanted: then nothing is, however else the name is written."""
    rows = [
        article("crowd", "crew", "A crowd.", types=["people"]),
        article("boat", "Crew (boat)", "A boat.", types=["ship"]),
    ]
    folder = make_kb(tmp_path, rows)
    pin(folder, "crew", "crowd")
    retriever = AliasRetriever(opened(folder))
    retriever.keep_to_types(frozenset({"ship"}))
    assert retriever.candidates("crew") == ()


@pytest.mark.parametrize("wide", [False, True])
def test_priors_are_over_the_wanted_types(tmp_path, opened, wide):
    rows = [
        article("lake", "Como", "[[lake|Como]] [[lake|Como]] [[lake|Como]]", types=["water"]),
        article("town", "Como (town)", "[[town|Como]] [[town|Como]]", types=["place"]),
        article("villa", "Como (villa)", "", types=["place"]),
    ]
    retriever = AliasRetriever(opened(make_kb(tmp_path, rows)), wide=wide)
    supports = {one.entity: one.evidence["support"] for one in retriever.candidates("Como")}
    assert supports.keys() == {"lake", "town", "villa"}
    retriever.keep_to_types(frozenset({"place"}))
    total = supports["town"] + supports["villa"]
    assert {one.entity: one.score for one in retriever.candidates("Como")} == {
        "town": pytest.approx(supports["town"] / total),
        "villa": pytest.approx(supports["villa"] / total),
    }
