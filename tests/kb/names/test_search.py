"""Finding entities by what people type."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.errors import InputError
from entlink.kb.build.from_sources import build
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.search import search
from entlink.kb.store.edits import add, block

ROWS = [
    {"id": "a", "title": "Heron Kettle", "aliases": ["Heron"], "types": ["kitchen"], "external": {"ean": "40123"}},
    {"id": "b", "title": "Heron Jacket", "aliases": ["Heron"], "types": ["clothing"]},
    {"id": "c", "title": "Heronry", "types": ["place"]},
    {"id": "d", "title": "Baron", "types": ["title"]},
    {"id": "e", "title": "北京", "aliases": ["北京市"]},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("search")
    (home / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    build([home / "rows.jsonl"], home / "search.kb")
    return home / "search.kb"


@pytest.fixture(scope="module")
def kb(folder):
    with KnowledgeBase.open(folder) as kb:
        yield kb


def found(kb, text, *rest, **settings):
    return [(one.entity, one.match) for one in search(kb, text, *rest, **settings)]


def test_names_then_beginnings_then_spelling(kb):
    assert found(kb, "heron") == [("a", "name"), ("b", "name"), ("c", "beginning")]
    assert found(kb, "Heronr") == [("c", "beginning"), ("a", "spelling"), ("b", "spelling")]
    assert found(kb, "Barron") == [("d", "spelling")]


def test_each_entity_comes_once_at_its_best(kb):
    assert found(kb, "heron kettle") == [("a", "name")]


def test_identifiers_come_first(kb):
    assert found(kb, "40123") == [("a", "identifier")]
    assert found(kb, "d") == [("d", "identifier")]


def test_the_name_that_was_found_is_told(kb):
    (one,) = search(kb, "herun kettle")
    assert (one.title, one.name, one.types) == ("Heron Kettle", "Heron Kettle", ("kitchen",))


def test_filters(kb):
    assert found(kb, "heron", types=["clothing", "place"]) == [("b", "name"), ("c", "beginning")]
    assert found(kb, "heron", 1) == [("a", "name")]


def test_scripts_without_spaces(kb):
    assert found(kb, "北京") == [("e", "name")]
    assert found(kb, "北") == [("e", "beginning")]


def test_nothing_to_search_for(kb):
    with pytest.raises(InputError, match="nothing to search for"):
        search(kb, "  ")


def test_fresh_names_and_blocked_ones_are_found(folder, tmp_path):
    import shutil

    own = shutil.copytree(folder, tmp_path / "own.kb")
    from entlink.documents import Entity

    add(own, [Entity("f", "Heronsgate")])
    block(own, "Heron")
    with KnowledgeBase.open(own) as kb:
        assert found(kb, "herons") == [("f", "beginning"), ("a", "spelling"), ("b", "spelling")]
        assert ("a", "name") in found(kb, "Heron")


@settings(max_examples=50, deadline=None)
@given(st.text(min_size=1, max_size=12).filter(lambda text: text.strip() and "\0" not in text))
def test_any_text_can_be_searched_for(kb, text):
    ids = [one.entity for one in search(kb, text, 3)]
    assert len(ids) == len(set(ids)) <= 3
