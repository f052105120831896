from __future__ import annotations

import pytest

from entlink.config import LinkerConfig
from entlink.documents import Document, Mention, Span
from entlink.explain import OUTCOMES
from entlink.kb.edits import block, pin
from entlink.linker import load
from knowledge_bases import article, make_kb


@pytest.fixture
def explained(world_folder):
    """Explains a name in a text, with a linker of its own."""
    linkers = []

    def explained(text: str, name: str, folder=world_folder, **settings):
        linkers.append(load(folder, **settings))
        span = Span(text.index(name), text.index(name) + len(name))
        one = linkers[-1].explain(text, span).spans[0]
        assert one.span == span
        assert one.text == name
        assert one.outcome in OUTCOMES
        among = linkers[-1].explain(text).at(span)
        assert among is None or among == one
        return one

    yield explained
    for linker in linkers:
        linker.kb.close()


def test_linked(explained):
    one = explained("Mercury and Venus", "Mercury")
    assert one.outcome == "linked"
    assert "best of 2 candidates" in one.reason
    assert one.link.entity == "planet"
    assert one.detection == pytest.approx(0.8)
    assert "only candidate" in explained("Mercury and Venus", "Venus").reason


def test_pinned(explained, own_world):
    pin(own_world, "Mercury", "element")
    assert explained("Mercury", "Mercury", own_world).reason == "pinned by a rule"


def test_nil(explained):
    config = LinkerConfig(nil={"name": "threshold", "threshold": 0.9})
    one = explained("Mercury and Venus", "Mercury", config=config)
    assert one.outcome == "nil"
    assert "0.667" in one.reason
    assert [candidate.entity for candidate in one.candidates] == ["planet", "element"]


def test_not_in_the_dictionary(explained):
    one = explained("Saturn is a planet", "Saturn")
    assert one.outcome == "not in the dictionary"
    assert "'saturn'" in one.reason


def test_not_in_the_dictionary_but_near_a_name(explained):
    one = explained("Merkury is a planet", "Merkury")
    assert one.outcome == "not in the dictionary"
    assert "Mercury (planet)" in one.reason


def test_below_the_threshold(explained, tmp_path):
    folder = make_kb(tmp_path, [article("w", "Water", "[[w|water]] " + "water " * 60)])
    one = explained("some water", "water", folder)
    assert one.outcome == "rejected"
    assert "link probability (0.0164)" in one.reason
    assert one.candidates[0].entity == "w"


def test_lost_to_an_overlap(explained):
    one = explained("In New York City", "York")
    assert one.outcome == "lost to an overlap"
    assert one.lost_to == Span(3, 16)
    assert "'New York City'" in one.reason
    assert one.candidates[0].entity == "york"


def test_blocked(explained, own_world):
    block(own_world, "Venus")
    one = explained("Venus rises", "Venus", own_world)
    assert one.outcome == "rejected"
    assert one.reason == "blocked by a rule"
    assert one.link is None


def test_case(explained):
    one = explained("tell us more", "us")
    assert one.outcome == "rejected"
    assert "case policy" in one.reason


def test_broken(explained):
    one = explained("They stood united. States fell.", "united. States")
    assert one.outcome == "rejected"
    assert "end of a sentence" in one.reason


@pytest.mark.parametrize("settings", [{"types": ("city",)}, {"min_score": 0.9}])
def test_filtered(explained, settings):
    one = explained("Mercury is hot", "Mercury", **settings)
    assert one.outcome == "filtered out"
    assert "types and score" in one.reason


def test_a_piece_of_a_word_is_not_found(explained):
    one = explained("Yorkshire", "York")
    assert one.outcome == "filtered out"
    assert "word ends" in one.reason


def test_every_name_of_a_text_is_told_in_order(world_folder):
    linker = load(world_folder, types=("city",))
    told = linker.explain("Mercury in New York City, us")
    linker.kb.close()
    assert [(one.text, one.outcome) for one in told.spans] == [
        ("Mercury", "filtered out"),
        ("New York", "lost to an overlap"),
        ("New York City", "linked"),
        ("York", "lost to an overlap"),
        ("us", "rejected"),
    ]
    assert [link.entity for link in told.document.links] == ["nyc"]
    assert told.at(Span(0, 3)) is None


def test_given_mentions_are_explained_too(world_folder):
    linker = load(world_folder, mentions="given")
    document = Document(
        "d", "Venus and Nowhere", mentions=(Mention(Span(10, 17), "Nowhere"), Mention(Span(0, 5), "Venus"))
    )
    told = linker.explain(document)
    linker.kb.close()
    assert [(one.text, one.outcome) for one in told.spans] == [("Venus", "linked"), ("Nowhere", "nil")]
    assert "no candidate" in told.spans[1].reason
