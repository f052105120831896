from __future__ import annotations

import pytest

from entlink.candidates.edit_distance import EditDistanceRetriever
from entlink.documents import Document, Entity, Mention, Span
from entlink.interfaces import Question
from entlink.kb.store.edits import add, block
from entlink.testing import check_retriever
from knowledge_bases import article, make_kb


@pytest.fixture
def retriever(world):
    return EditDistanceRetriever(world)


@pytest.mark.parametrize(
    ("surface", "entity"),
    [
        ("Mercurry", "planet"),
        ("Mercuy", "planet"),
        ("Merucry", "planet"),
        ("Xercury", "planet"),
        ("Venuss", "venus"),
        ("New Yok City", "nyc"),
        ("NewYork", "new-york"),
    ],
)
def test_misspelt_names_are_found(retriever, surface, entity):
    candidates = retriever.candidates(surface)
    assert candidates[0].entity == entity
    assert 0 < candidates[0].score < 1


@pytest.mark.parametrize("surface", ["Su", "Sux", "", "nothing like it", "!!!", "京"])
def test_what_is_too_short_or_too_far(retriever, surface):
    assert retriever.candidates(surface) == ()


def test_it_keeps_what_a_retriever_promises(retriever):
    mentions = [Mention(Span(0, 7), "Merkury"), Mention(Span(0, 2), "xx")]
    check_retriever(retriever, [Question(Document("d", "Merkury"), mentions)])


def test_fresh_names_are_near_too(own_world, opened):
    add(own_world, [Entity("zork", "Zorkmid")])
    assert EditDistanceRetriever(opened(own_world)).candidates("Zorkmd")[0].entity == "zork"


def test_a_blocked_surface_has_no_neighbours(own_world, opened):
    block(own_world, "Mercurry")
    assert EditDistanceRetriever(opened(own_world)).candidates("Mercurry") == ()


def test_only_entities_of_the_wanted_types_take_places(tmp_path, opened):
    rows = [article(f"a{number}", f"Zorkmi{letter}", "x", types=["a"]) for number, letter in enumerate("abcefghijkl")]
    rows.append(article("wanted", "Zorkmiz", "x", types=["b"]))
    retriever = EditDistanceRetriever(opened(make_kb(tmp_path, rows)), limit=3)
    assert "wanted" not in [one.entity for one in retriever.candidates("Zorkmid")]
    retriever.keep_to_types(frozenset({"b"}))
    assert [one.entity for one in retriever.candidates("Zorkmid")] == ["wanted"]


def test_of_two_near_spellings_the_better_counts(tmp_path, opened):
    """`first` has the nearest name to itself; `second` shares the nearest, and has another to itself."""
    rows = [
        article("first", "Zorkmint", "x", aliases=["Zorkmid"]),
        article("a", "Zorkmid (a)", "x"),
        article("second", "Zorkmist", "x", aliases=["Zorkmix"]),
        article("b", "Zorkmist (b)", "x"),
    ]
    candidates = EditDistanceRetriever(opened(make_kb(tmp_path, rows))).candidates("Zorkmit")
    found = {one.entity: one.evidence for one in candidates[:2]}
    assert found == {"first": {"edit": 7 / 8, "prior": 1.0}, "second": {"edit": pytest.approx(6 / 7), "prior": 1.0}}
