from __future__ import annotations

import pytest

from entlink.candidates.shortened import ShortenedRetriever
from entlink.documents import Candidate, Document, Entity, Mention, Span
from entlink.interfaces import Evidence, Follower, Question, Shortlist, Typed
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add, block, remove
from entlink.linking.config import LinkerConfig
from entlink.linking.linker import load
from entlink.testing import check_retriever
from gathered import scores_of
from knowledge_bases import article, make_kb

ROWS = [
    article("ronald", "Ronald Reagan", "Ronald Reagan was a president, Ronald Reagan.", types=["person"]),
    article("nancy", "Nancy Reagan", "The wife of Ronald Reagan.", types=["person"]),
    article("town", "Reagan, Texas", "A town.", types=["place"]),
    article("la", "Los Angeles", "Los Angeles is a town.", types=["place"]),
]


@pytest.fixture
def folder(copied_kb):
    return copied_kb(ROWS)


@pytest.fixture
def kb(folder):
    with KnowledgeBase.open(folder) as opened:
        yield opened


def question(surface):
    return Question(Document("d", surface), [Mention(Span(0, len(surface)), surface)])


def told(retriever, surface):
    return {one.entity: one.score for one in retriever.candidates(surface)}


def test_the_one_spoken_of_most_comes_first(kb):
    retriever = ShortenedRetriever(kb)
    ((candidates,),) = retriever.retrieve([question("Reagan")])
    assert [(one.entity, one.title) for one in candidates] == [
        ("ronald", "Ronald Reagan"),
        ("nancy", "Nancy Reagan"),
        ("town", "Reagan, Texas"),
    ]
    # Three times in full against never, and half a time for each.
    assert [one.score for one in candidates] == [3.5 / 4.5, 0.5 / 4.5, 0.5 / 4.5]


@pytest.mark.parametrize("surface", ["LA", "L.A.", "Angeles", "angeles"])
def test_initials_and_parts(kb, surface):
    assert told(ShortenedRetriever(kb), surface) == {"la": 1.0}


@pytest.mark.parametrize("surface", ["la", "Los Angeles", "", "!", "Smith"])
def test_what_is_short_for_nothing(kb, surface):
    assert ShortenedRetriever(kb).candidates(surface) == ()


def test_it_keeps_what_a_retriever_promises(kb):
    retriever = ShortenedRetriever(kb, limit=2)
    questions = [question(surface) for surface in ("Reagan", "LA", "Smith")]
    check_retriever(retriever, questions)
    assert isinstance(retriever, Evidence)
    assert isinstance(retriever, Typed)
    assert isinstance(retriever, Follower)
    assert [len(lists[0]) for lists in retriever.retrieve(questions)] == [2, 1, 0]


def test_what_others_found_is_scored(kb):
    retriever = ShortenedRetriever(kb, limit=1)
    found = [Candidate("nancy", 1.0), Candidate("la", 1.0)]
    shortlist = Shortlist(*question("Reagan")[:1], question("Reagan").mentions[0], found)
    assert scores_of(retriever, [shortlist]) == [[0.5 / 4.5, 0.0]]


def test_only_the_wanted_types(kb):
    retriever = ShortenedRetriever(kb)
    assert len(told(retriever, "Reagan")) == 3
    retriever.keep_to_types(frozenset({"place"}))
    assert told(retriever, "Reagan") == {"town": 1.0}


def test_a_blocked_surface_has_none(folder):
    block(folder, "Reagan")
    with KnowledgeBase.open(folder) as kb:
        assert ShortenedRetriever(kb).candidates("Reagan") == ()


def test_edits_show_as_soon_as_the_linker_has_seen_them(folder):
    with KnowledgeBase.open(folder) as kb:
        retriever = ShortenedRetriever(kb)
        assert len(told(retriever, "Reagan")) == 3
        add(folder, [Entity("maureen", "Maureen Reagan"), Entity("nancy", "Nancy Davis")], replace=True)
        remove(folder, ["town"])
        kb.refresh()
        retriever.knowledge_base_changed()
        assert set(told(retriever, "Reagan")) == {"ronald", "maureen"}
        assert set(told(retriever, "Davis")) == {"nancy"}


def test_as_of_a_date_names_are_those_of_then(tmp_path):
    rows = [
        article("e", "Kingdom of Swaziland", "A land.", valid_to="2018-04-19"),
        article("e", "Kingdom of Eswatini", "A land.", valid_from="2018-04-19"),
    ]
    folder = make_kb(tmp_path, rows)
    with KnowledgeBase.open(folder, date="2020-01-01") as now, KnowledgeBase.open(folder, date="2000-01-01") as then:
        assert set(told(ShortenedRetriever(now), "Eswatini")) == {"e"}
        assert told(ShortenedRetriever(then), "Eswatini") == {}


def test_a_linker_takes_it_by_its_name(folder):
    config = LinkerConfig(retriever=[{"name": "alias"}, {"name": "shortened"}])
    linker = load(folder, config=config, mentions="given")
    document = Document("d", "Then Reagan spoke.")
    ((candidates,),) = linker.retrieve([Question(document, [Mention(Span(5, 11), "Reagan")])])
    assert candidates[0].entity == "ronald"


def test_an_entity_counts_once_whichever_of_its_forms_the_mention_is(tmp_path, opened):
    """ "NASA" is its initials, and cut from an alias; "Agency" is cut from two of its names."""
    rows = [
        article("agency", "National Air Space Agency", "x", aliases=["NASA Centre", "Moon Agency"]),
        article("other", "NASA Park", "x", aliases=["Small Agency"]),
    ]
    retriever = ShortenedRetriever(opened(make_kb(tmp_path, rows)))
    for surface in ("NASA", "Agency"):
        candidates = retriever.candidates(surface)
        assert [(one.entity, one.score) for one in candidates] == [("agency", 0.5), ("other", 0.5)], surface
