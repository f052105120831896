"""Sentences of the pages that no example there shows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import entlink
from entlink import Document, Entity, Mention, Span, Turn
from entlink.errors import SpanError
from entlink.kb.indexes.names import reindex
from entlink.kb.store import edits


@pytest.fixture
def own(toy, tmp_path) -> Path:
    """A toy knowledge base to change."""
    return Path(shutil.copytree(toy, tmp_path / "own.kb"))


def linked(path: Path, text: str | Document, **settings: object) -> list[tuple[str, str | None]]:
    """By the dictionary, where nothing but names, counts and rules decide."""
    linker = entlink.load(path, **{"config": "lexical"} | settings)
    try:
        return [(link.mention.text, link.entity) for link in linker.link(text).links]
    finally:
        linker.kb.close()


def given(text: str) -> Document:
    return Document("given", text, mentions=(Mention(Span(0, len(text)), text),))


def test_no_name_is_found_across_the_end_of_a_turn(toy):
    across = Document.of_turns("c", [Turn("They call her Freddie"), Turn("Mercury is a planet.")])
    assert linked(toy, across) == [("Mercury", "mercury-planet")]


def test_removed_entities_are_meant_by_nothing_before_and_after_indexing(own):
    edits.remove(own, ["mercury-planet"])
    assert linked(own, "Mercury") == [("Mercury", "mercury-element")]
    reindex(own, processes=1)
    assert linked(own, "Mercury") == [("Mercury", "mercury-element")]


def test_links_go_on_counting_for_a_changed_entity(own):
    edits.add(own, [Entity("mercury-planet", "Innermost planet")], replace=True)
    assert linked(own, "Mercury") == [("Mercury", "mercury-planet")]


def test_a_rule_covers_a_key_or_only_the_surface_as_written(own):
    edits.block(own, "Paris")
    edits.pin(own, "PARIS", "paris-texas", case_sensitive=True)
    assert linked(own, "Paris, then paris, then PARIS") == [("PARIS", "paris-texas")]
    assert linked(own, "He lives in Paris, Texas") == [("Paris, Texas", "paris-texas")]


def test_a_pinned_surface_is_found_where_no_entity_bears_it(own):
    edits.pin(own, "the Big Smoke", "london")
    assert linked(own, "Off to the big smoke!") == [("the big smoke", "london")]


def test_a_year_stands_for_its_first_day(toy):
    with entlink.KnowledgeBase.open(toy) as kb, kb.as_of("2018") as before, kb.as_of("2018-04-19") as after:
        assert (before.get("eswatini").title, after.get("eswatini").title) == ("Swaziland", "Eswatini")


def test_a_name_to_come_is_no_name_yet(toy):
    assert linked(toy, "Swaziland, Eswatini", as_of="2010-01-01") == [("Swaziland", "eswatini")]
    assert linked(toy, "Swaziland, Eswatini") == [("Swaziland", "eswatini"), ("Eswatini", "eswatini")]


def test_names_of_punctuation_and_long_names_are_linked_by_given_span_only(own):
    long = " ".join(["endless"] * 40)
    edits.add(own, [Entity("band", "!!!"), Entity("long", long)])
    assert linked(own, f"We heard !!! and {long}") == []
    for surface, id in (("!!!", "band"), (long, "long")):
        assert linked(own, given(surface), mentions="given") == [(surface, id)]


def test_a_name_with_accents_is_found_without_them_and_not_the_other_way(own):
    edits.add(own, [Entity("malaga", "Málaga"), Entity("cafe", "Lumen Cafe")])
    assert linked(own, "Malaga and Málaga") == [("Malaga", "malaga"), ("Málaga", "malaga")]
    assert linked(own, "the Lumen Café") == []


def test_a_filtered_name_is_dropped_and_a_filtered_span_is_nil(toy):
    assert linked(toy, "Queen", types=["planet"]) == []
    assert linked(toy, given("Queen"), mentions="given", types=["planet"]) == [("Queen", None)]


def test_below_the_threshold_is_nil_and_below_the_score_is_nothing(toy):
    config = entlink.LinkerConfig(nil={"name": "threshold", "threshold": 0.9})
    assert linked(toy, "Paris", config=config) == [("Paris", None)]
    assert linked(toy, "Paris", min_score=0.9) == []


def test_offsets_outside_the_text_are_refused_whatever_they_count(toy):
    text = "In 北京"
    as_bytes = Mention(Span(3, len(text.encode())), "北京")
    with pytest.raises(SpanError, match="characters"):
        linked(toy, Document("d", text, mentions=(as_bytes,)), mentions="given")


def test_the_second_writer_is_told_at_once(own):
    with edits.open_for_writing(own), pytest.raises(entlink.EntlinkError, match="another process") as told:
        edits.pin(own, "Paris", "paris")
    assert told.value.exit_code == 5
