from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from entlink.candidates.inner import InnerNamesRetriever
from entlink.documents import Candidate, Document, Entity, Mention, Span
from entlink.interfaces import Evidence, Follower, Question, Shortlist, Typed
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add, block, pin, remove
from entlink.testing import check_retriever
from gathered import scores_of
from knowledge_bases import article, make_kb

# "Jazz" is the music in three links and by its title, the album by what is left of its title.
ROWS = [
    article("pizza", "Pizza", "[[pizza|Pizza]] is food.", types=["food"]),
    article("jazz", "Jazz", "[[jazz|Jazz]], [[jazz|jazz]] and [[jazz|jazz]].", types=["music"]),
    article("album", "Jazz (album)", "An album.", types=["record"]),
    article("musician", "Musician", "One who plays.", types=["job"]),
    article("york", "York", "A town.", types=["place"]),
    article("new-york", "New York", "A city.", types=["place"]),
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return make_kb(tmp_path_factory.mktemp("inner"), ROWS)


@pytest.fixture(scope="module")
def kb(shared):
    with KnowledgeBase.open(shared) as opened:
        yield opened


@pytest.fixture
def folder(shared, tmp_path):
    """A copy to change."""
    return Path(shutil.copytree(shared, tmp_path / "own.kb"))


def question(surface):
    return Question(Document("d", surface), [Mention(Span(0, len(surface)), surface)])


def told(retriever, surface):
    return {one.entity: pytest.approx(one.score) for one in retriever.candidates(surface)}


@pytest.mark.parametrize(
    ("surface", "expected"),
    [
        ("good pizza", {"pizza": 1 / 2}),
        ("Good PIZZA", {"pizza": 1 / 2}),
        ("a very good pizza", {"pizza": 1 / 4}),
        ("pizza place", {"pizza": 1 / 2 / 2}),  # at the beginning: half
        # Links and title of the music are 3 + 3, what is left of the album's title is 1.
        ("modern jazz", {"jazz": 6 / 7 / 2, "album": 1 / 7 / 2}),
        ("jazz musician", {"musician": 1 / 2, "jazz": 6 / 7 / 4, "album": 1 / 7 / 4}),
        ("pizza pizza", {"pizza": 1 / 2}),  # the better of its two ends
        ("old New York", {"new-york": 2 / 3}),  # and not York: of a side, the longest name counts
        ("New York trip", {"new-york": 2 / 3 / 2}),
        ("two good pizzas", {"pizza": 1 / 3}),
    ],
)
def test_names_at_the_ends_of_a_mention(kb, surface, expected):
    assert told(InnerNamesRetriever(kb), surface) == expected


@pytest.mark.parametrize(
    "surface", ["pizza", "", "!", "nothing known", "a pizza place", "one two three four five six seven eight pizza"]
)
def test_what_has_no_name_at_its_ends(kb, surface):
    assert InnerNamesRetriever(kb).candidates(surface) == ()


def test_it_keeps_what_a_retriever_promises(kb):
    retriever = InnerNamesRetriever(kb, limit=2)
    questions = [question(surface) for surface in ("jazz musician", "good pizza", "Pizza", "word " * 20_000)]
    check_retriever(retriever, questions)
    for protocol in (Evidence, Typed, Follower):
        assert isinstance(retriever, protocol)
    assert [len(lists[0]) for lists in retriever.retrieve(questions)] == [2, 1, 0, 0]


def test_what_others_found_is_scored_as_what_it_finds(kb):
    retriever = InnerNamesRetriever(kb)
    asked = question("jazz musician")
    ((own,),) = retriever.retrieve([asked])
    assert [one.title for one in own] == ["Musician", "Jazz", "Jazz (album)"]
    shortlist = Shortlist(asked.document, asked.mentions[0], [*own, Candidate("pizza", 1.0)])
    assert scores_of(retriever, [shortlist]) == [[*(one.score for one in own), 0.0]]


def test_only_the_wanted_types_however_far_behind(tmp_path):
    many = [article(f"e{number}", f"Jazz ({number})", f"[[e{number}|Jazz]] " * 2) for number in range(30)]
    with KnowledgeBase.open(make_kb(tmp_path, [*ROWS, *many], "many")) as kb:
        retriever = InnerNamesRetriever(kb, limit=3)
        assert len(told(retriever, "modern jazz")) == 6
        retriever.keep_to_types(frozenset({"record"}))
        assert told(retriever, "modern jazz") == {"album": 1 / 2}
        assert told(retriever, "jazz musician") == {"album": 1 / 4}
        assert told(retriever, "good pizza") == {}


def test_blocked_names(folder):
    block(folder, "good pizza")
    block(folder, "New York")
    with KnowledgeBase.open(folder) as kb:
        retriever = InnerNamesRetriever(kb)
        assert told(retriever, "good pizza") == {}
        assert told(retriever, "fine pizza") == {"pizza": 1 / 2}
        assert told(retriever, "old New York") == {"york": 1 / 3}


def test_a_pinned_name_means_what_it_is_pinned_to(folder):
    pin(folder, "jazz", "album")
    with KnowledgeBase.open(folder) as kb:
        assert told(InnerNamesRetriever(kb), "modern jazz") == {"album": 1 / 2}


def test_edits_show_as_soon_as_the_linker_has_seen_them(folder):
    with KnowledgeBase.open(folder) as kb:
        retriever = InnerNamesRetriever(kb)
        assert set(told(retriever, "good pizza")) == {"pizza"}
        add(folder, [Entity("blues", "Blues")])
        remove(folder, ["pizza"])
        kb.refresh()
        retriever.knowledge_base_changed()
        assert told(retriever, "good pizza") == {}
        assert set(told(retriever, "good blues")) == {"blues"}
