"""What is told of an entity, of the whole knowledge base, and of its rules."""

from __future__ import annotations

import json

import pytest

from entlink.documents import Entity
from entlink.errors import NotFoundError
from entlink.kb.build.from_sources import build
from entlink.kb.info import info, pending_edits
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.profile import profile
from entlink.kb.store.edits import add, block, pin, remove
from entlink.kb.store.rules import RuleInfo, rules

TEXT = "The big cat and the Jaguar and the Jaguar"


@pytest.fixture
def folder(tmp_path):
    links = [[4, 11, "cat"], [20, 26, "cat"], [35, 41, "car"]]
    rows = [
        {"id": "cat", "title": "Jaguar", "paragraphs": [{"text": TEXT, "links": links}], "types": ["animal"]},
        {"id": "car", "title": "Jaguar (car)", "paragraphs": [], "types": ["car"]},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    build([tmp_path / "rows.jsonl"], tmp_path / "own.kb")
    return tmp_path / "own.kb"


def test_names_come_from_the_entity_and_from_links(folder):
    with KnowledgeBase.open(folder) as kb:
        told = profile(kb, "Jaguar")
    assert told.entity.id == "cat"
    assert {name.name: (name.support, name.sources) for name in told.names} == {
        "Jaguar": (4, ["title", "anchor"]),
        "big cat": (1, ["anchor"]),
    }
    (jaguar,) = (name for name in told.names if name.name == "Jaguar")
    assert jaguar.probability == pytest.approx(4 / 6)


def test_a_blocked_name_is_none(folder):
    block(folder, "Jaguar")
    with KnowledgeBase.open(folder) as kb:
        assert [name.name for name in profile(kb, "cat").names] == ["big cat"]


def test_an_unknown_entity(folder):
    with KnowledgeBase.open(folder) as kb, pytest.raises(NotFoundError):
        profile(kb, "dog")


def test_info_follows_edits(folder):
    before = info(folder)
    assert (before.entities, before.links, before.pending_edits, before.type_count) == (2, 3, 0, 2)
    add(folder, [Entity("dog", "Dog", types=("animal",))])
    remove(folder, ["car"])
    pin(folder, "kitty", "cat")
    after = info(folder)
    assert (after.entities, after.pending_edits, after.rules) == (2, 2, 1)
    assert after.types == {"animal": 2}
    assert pending_edits(folder) == 2


def test_rules_name_their_entities(folder):
    pin(folder, "kitty", "Jaguar", case_sensitive=True)
    block(folder, "dog")
    assert rules(folder) == [
        RuleInfo("dog", False, None, None),
        RuleInfo("kitty", True, "cat", "Jaguar"),
    ]
