"""Links to entities: titles of a wiki by titles and redirects alone, other targets by whatever identifies."""

from __future__ import annotations

from pathlib import Path

import pytest

from entlink.datasets import targets
from entlink.datasets.targets import resolver
from entlink.errors import NotFoundError
from entlink.kb.store.store import Store
from entlink.kb.store.writing import insert_redirects
from knowledge_bases import article, make_kb

ROWS = [
    article("1", "Mercury (planet)", external={"wikidata": "Q308"}),
    article("2", "Nineteen Eighty-Four"),
    article("1984", "Venus"),
    article("4", "1985"),
    article("5", "Twin"),
    article("6", "Twin"),
]
REDIRECTS = [
    ("Hermes", "Mercury (planet)"),
    ("Hermes the planet", "Hermes"),
    ("Venus", "Twin"),
    ("Ring", "Rong"),
    ("Rong", "Ring"),
    ("Self", "Self"),
    ("Lost", "Nowhere"),
]


@pytest.fixture(scope="module")
def kb(tmp_path_factory) -> Path:
    folder = make_kb(tmp_path_factory.mktemp("kb"), ROWS)
    store = Store(folder, writable=True)
    insert_redirects(store, REDIRECTS)
    store.close()
    return folder


@pytest.mark.parametrize(
    ("title", "entity"),
    [
        ("Mercury (planet)", "1"),
        ("Hermes", "1"),
        ("Hermes the planet", "1"),
        ("Venus", "1984"),
        ("1985", "4"),
        ("1984", None),
        ("2", None),
        ("Q308", None),
        ("Twin", "5"),
        ("Ring", None),
        ("Self", None),
        ("Lost", None),
        ("nothing", None),
    ],
)
def test_a_title_is_a_title_or_a_redirect_and_never_a_number(kb, title, entity):
    with resolver(kb, of_titles=True) as resolve:
        assert resolve(title) == resolve(title) == entity


@pytest.mark.parametrize(
    ("target", "entity"),
    [("1984", "1984"), ("Q308", "1"), ("Mercury (planet)", "1"), ("Hermes", "1"), ("nothing", None)],
)
def test_other_targets_are_ids_first(kb, target, entity):
    with resolver(kb, of_titles=False) as resolve:
        assert resolve(target) == entity


def test_what_is_remembered_is_bounded_and_still_right(kb, monkeypatch):
    monkeypatch.setattr(targets, "_CACHED", 2)
    with resolver(kb, of_titles=True) as resolve:
        found = [resolve(title) for title in ("Hermes", "Venus", "1985", "Hermes", "nothing", "Hermes")]
    assert found == ["1", "1984", "4", "1", None, "1"]


def test_without_a_knowledge_base_targets_stay_as_they_are():
    with resolver(None, of_titles=True) as resolve:
        assert resolve("Any title") == "Any title"


def test_a_knowledge_base_that_is_not_there(tmp_path):
    with pytest.raises(NotFoundError, match="no knowledge base there"), resolver(tmp_path / "no.kb", of_titles=True):
        pass
