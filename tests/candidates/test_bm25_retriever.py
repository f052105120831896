from __future__ import annotations

from math import log1p

import pytest

from entlink.candidates.bm25 import BM25Retriever
from entlink.documents import Candidate, Document, Entity, Mention, Span, Turn
from entlink.errors import ConfigError
from entlink.interfaces import Evidence, Follower, Question, Shortlist, Typed
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add, block, remove
from entlink.linking.config import LinkerConfig
from entlink.linking.linker import load
from entlink.testing import check_retriever, toy_kb
from gathered import scores_of
from knowledge_bases import article, make_kb

TEXT = "The liquid metal in it is mercury, which shines."


@pytest.fixture(scope="module")
def toy_folder(tmp_path_factory):
    return toy_kb(tmp_path_factory.mktemp("toy"))


@pytest.fixture
def toy(toy_folder):
    with KnowledgeBase.open(toy_folder) as kb:
        yield kb


def mention_of(text: str, surface: str) -> Mention:
    start = text.index(surface)
    return Mention(Span(start, start + len(surface)), surface)


def question(text: str, *surfaces: str) -> Question:
    return Question(Document("d", text), [mention_of(text, surface) for surface in surfaces])


def names(candidates):
    return [candidate.entity for candidate in candidates]


def test_candidates_come_with_their_scores_counts_and_titles(toy):
    ((candidates,),) = BM25Retriever(toy).retrieve([question("So said Freddie Mercury.", "Freddie Mercury")])
    best = candidates[0]
    assert (best.entity, best.title) == ("freddie-mercury", "Freddie Mercury")
    assert best.evidence == {"bm25": best.score, "count": pytest.approx(log1p(2))}
    assert 0 < best.score < 1
    assert set(names(candidates)[1:]) == {"mercury-planet", "mercury-element", "sun"}
    assert {candidate.evidence["count"] for candidate in candidates[1:]} == {0.0}


@pytest.mark.parametrize("context", [0.0, 0.3])
def test_it_keeps_what_a_retriever_promises(toy, context):
    retriever = BM25Retriever(toy, context=context)
    questions = [
        question(TEXT, "mercury"),
        question("北京 and Paris, zyx", "北京", "Paris", "zyx", ","),
        question(""),
    ]
    check_retriever(retriever, questions)
    assert isinstance(retriever, Evidence)
    assert isinstance(retriever, Typed)
    assert isinstance(retriever, Follower)


@pytest.mark.parametrize("context", [0.0, 0.5])
@pytest.mark.parametrize("surface", ["", " ", "?!", "…"])
def test_a_mention_without_words_has_no_candidates(toy, surface, context):
    mention = Mention(Span(4, 4 + len(surface)), surface)
    asked = Question(Document("d", f"The {surface} planet Mercury"), [mention])
    assert BM25Retriever(toy, context=context).retrieve([asked]) == [[()]]


def test_the_words_around_a_mention_count_with_context(toy):
    ((plain,),) = BM25Retriever(toy).retrieve([question(TEXT, "mercury")])
    ((informed,),) = BM25Retriever(toy, context=0.5).retrieve([question(TEXT, "mercury")])
    assert informed[0].entity == "mercury-element"
    scores = {candidate.entity: candidate for candidate in plain}
    assert scores["mercury-element"].score <= scores["freddie-mercury"].score
    # How often the entity holds the mention is of the mention's own words.
    assert informed[0].evidence["count"] == scores["mercury-element"].evidence["count"] == pytest.approx(log1p(2))


def test_the_limit_is_kept(toy):
    (candidate,) = BM25Retriever(toy, limit=1).candidates("Freddie Mercury")
    assert candidate.entity == "freddie-mercury"


def test_only_the_wanted_types_before_the_cut(toy):
    retriever = BM25Retriever(toy, limit=1)
    retriever.keep_to_types(frozenset({"planet"}))
    assert names(retriever.candidates("Freddie Mercury")) == ["mercury-planet"]
    retriever.keep_to_types(frozenset())
    assert names(retriever.candidates("Freddie Mercury")) == ["freddie-mercury"]


@pytest.mark.parametrize("context", [0.0, 0.4])
def test_what_others_found_is_scored_on_the_same_scale(toy, context):
    retriever = BM25Retriever(toy, context=context)
    asked = question(TEXT, "mercury")
    ((own,),) = retriever.retrieve([asked])
    others = [Candidate("paris", 1.0), *reversed(own), Candidate("no such entity", 0.5)]
    shortlist = Shortlist(asked.document, asked.mentions[0], others)
    (scores,) = scores_of(retriever, [shortlist])
    assert scores[1:-1] == [candidate.score for candidate in reversed(own)]
    assert scores[-1] == 0.0
    if not context:
        assert scores[0] == 0.0
    assert scores_of(retriever, [shortlist._replace(candidates=[])]) == [[]]


def test_a_knowledge_base_of_names_alone(tmp_path, opened):
    folder = make_kb(tmp_path, [article("a", "Mount Etna"), article("b", "Mount Fuji", aliases=["Fujisan"])])
    retriever = BM25Retriever(opened(folder))
    assert names(retriever.candidates("mount fuji")) == ["b", "a"]
    assert names(retriever.candidates("Fujisan!")) == ["b"]


def test_a_blocked_surface_has_no_candidates(own_world, opened):
    block(own_world, "Venus")
    for context in (0.0, 0.5):
        retriever = BM25Retriever(opened(own_world), context=context)
        assert retriever.retrieve([question("the planet Venus", "Venus")]) == [[()]]


def test_edits_show_as_soon_as_the_linker_has_seen_them(own_world):
    with KnowledgeBase.open(own_world) as kb:
        retriever = BM25Retriever(kb)
        assert retriever.candidates("Venus") is retriever.candidates("Venus")
        remove(own_world, ["venus"])
        add(own_world, [Entity("williams", "Venus Williams", "A tennis player.")])
        kb.refresh()
        retriever.knowledge_base_changed()
        assert names(retriever.candidates("Venus")) == ["williams", "planet"]  # whose text speaks of Venus
        (scores,) = scores_of(
            retriever, [Shortlist(Document("d", "Venus"), mention_of("Venus", "Venus"), [Candidate("williams", 1.0)])]
        )
        assert scores == [retriever.candidates("Venus")[0].score]


def test_an_entity_that_is_removed_meanwhile_is_left_out(own_world, opened):
    kb = opened(own_world)
    retriever = BM25Retriever(kb)
    retriever.search.ensure()
    remove(own_world, ["element"])
    assert names(retriever.candidates("mercury")) == ["planet", "sun"]


def test_titles_are_those_of_the_date(own_world, opened):
    old, now = opened(own_world, date="2000-01-01"), opened(own_world)
    assert [one.title for one in BM25Retriever(old).candidates("Swaziland")] == ["Swaziland"]
    assert BM25Retriever(old).candidates("Eswatini") == ()
    assert [one.title for one in BM25Retriever(now).candidates("Eswatini")] == ["Eswatini"]
    assert BM25Retriever(now).candidates("Swaziland") == ()


def test_a_linker_takes_it_by_its_name(own_world):
    config = LinkerConfig(retriever=[{"name": "bm25", "limit": 5}], nil={"name": "threshold", "threshold": 0.0})
    linker = load(own_world, config=config)
    assert [link.entity for link in linker.link("The planet Venus.").links] == ["venus"]
    add(own_world, [Entity("w", "Venus", "Venus, Venus, Venus!")])
    assert [link.entity for link in linker.link("The planet Venus.").links] == ["w"]


def test_later_turns_of_a_conversation_are_not_read(toy):
    alone = Document.of_turns("c", [Turn("Look at mercury tonight.")])
    longer = alone.with_turn(Turn("It is a liquid metal, a chemical element."))
    mention = Mention(Span(8, 15), "mercury")
    retriever = BM25Retriever(toy, context=0.5)
    assert retriever.retrieve([Question(longer, [mention])]) == retriever.retrieve([Question(alone, [mention])])


def test_what_is_kept_is_bounded_by_candidates(toy, monkeypatch):
    monkeypatch.setattr("entlink.candidates.bm25._CACHED_CANDIDATES", 90)
    retriever = BM25Retriever(toy, limit=30)
    for number in range(10):
        retriever.candidates(f"Mercury {number}")
        assert len(retriever._found) <= 3


@pytest.mark.parametrize("context", [-2.0, float("nan")])
def test_words_around_cannot_weigh_less_than_nothing(own_world, opened, context):
    with pytest.raises(ConfigError, match=r"context = .* does not fit"):
        BM25Retriever(opened(own_world), context=context)
