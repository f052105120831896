from __future__ import annotations

import pytest

from entlink.documents import Entity
from entlink.errors import ExistsError, InputError, NotFoundError
from entlink.kb.build.merge import merge
from entlink.kb.store.edits import add, block, pin, remove
from knowledge_bases import WORLD, article, make_kb, supports

INSECTS = [
    article("ant", "Ant", "[[ant|Ant]] and [[bee|bee]], an ant and a bee", types=["insect"]),
    article("bee", "Bee", "[[ant|ant]]", external={"wikidata": "Q7"}),
]
BIRDS = [article("emu", "Emu", "An [[emu|Emu]]; [[bee|Bee]]"), article("bee", "Bee", "", external={"wikidata": "Q7"})]


@pytest.fixture
def insects(tmp_path):
    return make_kb(tmp_path, INSECTS, "insects")


@pytest.fixture
def birds(tmp_path):
    return make_kb(tmp_path, BIRDS, "birds")


def test_two_merge_as_if_built_from_both_sources(tmp_path, insects, birds, opened):
    row = {**BIRDS[1], "id": "wasp", "title": "Wasp", "external": {}}
    others = make_kb(tmp_path, [BIRDS[0], row], "others")
    merge([insects, others], tmp_path / "both.kb", processes=1)
    at_once = make_kb(tmp_path, [*INSECTS, BIRDS[0], row], "once")
    one, other = opened(tmp_path / "both.kb"), opened(at_once)
    assert list(one) == list(other)
    for surface in ("Ant", "ant", "bee", "Emu", "Wasp"):
        assert supports(one, surface) == supports(other, surface)
    assert one.texts == other.texts
    assert one.manifest().links == other.manifest().links - 1  # the birds' link to a bee they did not have


def test_an_entity_in_both_adds_up_its_links(tmp_path, insects, opened):
    same = make_kb(tmp_path, INSECTS, "same")
    merge([insects, same], tmp_path / "both.kb", processes=1)
    kb = opened(tmp_path / "both.kb")
    assert len(kb) == 2
    assert supports(kb, "ant") == {"ant": 2}
    assert kb.occurrences("ant")["ant"] == 2
    assert kb.resolve("Q7") is not None


def test_unlike_entities_of_one_id(tmp_path, insects, opened):
    other = make_kb(tmp_path, [article("ant", "Formica", "")], "other")
    with pytest.raises(InputError, match="'ant' means 'Ant' in "):
        merge([insects, other], tmp_path / "both.kb", processes=1)
    assert not (tmp_path / "both.kb").exists()
    titles = {}
    for choice in ("first", "last"):
        merge([insects, other], tmp_path / f"{choice}.kb", on_conflict=choice, processes=1)
        titles[choice] = opened(tmp_path / f"{choice}.kb").require("ant").title
    assert titles == {"first": "Ant", "last": "Formica"}


def test_versions_rules_and_edits_come_along(tmp_path, own_world, insects, opened):
    pin(own_world, "Mercury", "element")
    block(own_world, "York")
    block(insects, "Mercury")
    remove(own_world, ["venus"])
    add(own_world, [Entity("zork", "Zork")])
    merge([own_world, insects], tmp_path / "both.kb", processes=1)
    kb = opened(tmp_path / "both.kb")
    assert [name.entity for name in kb.aliases("Mercury")] == ["element"]
    assert kb.meaning("York").blocked
    assert supports(kb, "Venus") == {}
    assert supports(kb, "Zork") == {"zork": 4}
    assert opened(tmp_path / "both.kb", date="2000-01-01").require("swazi").title == "Swaziland"


def test_the_target_is_checked(tmp_path, insects, birds):
    with pytest.raises(ExistsError):
        merge([insects, birds], insects, processes=1)
    with pytest.raises(NotFoundError):
        merge([insects, tmp_path / "none.kb"], tmp_path / "both.kb", processes=1)
    assert not (tmp_path / "both.kb").exists()


def test_the_manifest_names_what_was_merged(tmp_path, insects, world_folder):
    manifest = merge([insects, world_folder], tmp_path / "both.kb", processes=1)
    assert [(card.name, card.format) for card in manifest.sources] == [("insects.kb", "kb"), ("world.kb", "kb")]
    assert manifest.entities == 2 + len({row["id"] for row in WORLD})


def test_where_the_last_wins_its_past_versions_do_too(tmp_path, opened):
    many = [
        article("x", "Oldest", "", valid_to="2000-01-01"),
        article("x", "Older", "", valid_from="2000-01-01", valid_to="2010-01-01"),
        article("x", "Old", "", valid_from="2010-01-01"),
    ]
    few = [article("x", "First", "", valid_to="2005-01-01"), article("x", "Second", "", valid_from="2005-01-01")]
    folders = [make_kb(tmp_path, many, "many"), make_kb(tmp_path, few, "few")]
    for name, order, titles in (("a", 1, ["First", "Second"]), ("b", -1, ["Oldest", "Older", "Old"])):
        merge(folders[::order], tmp_path / f"{name}.kb", on_conflict="last", processes=1)
        found = list(opened(tmp_path / f"{name}.kb").versions("x"))
        assert [version.entity.title for version in found] == titles
        assert found == list(opened(folders[::order][-1]).versions("x"))
