from __future__ import annotations

import json
import shutil

import msgspec
import pytest

from entlink.documents import Entity
from entlink.errors import InputError, NotFoundError, SourceError
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add, block, pin, sync
from entlink.kb.store.rules import rules
from entlink.kb.store.transfer import export
from entlink.sources import Page, open_source
from knowledge_bases import FULL


def test_an_export_read_back_is_the_same(own_world, tmp_path, opened):
    add(own_world, [FULL])
    count = export(own_world, tmp_path / "out.jsonl")
    assert count == 12  # Eswatini comes in two versions
    build([tmp_path / "out.jsonl"], tmp_path / "back.kb", BuildOptions(processes=1))
    one, other = opened(own_world), opened(tmp_path / "back.kb")
    assert list(one) == list(other)
    assert one.versions("swazi") == other.versions("swazi")


def test_versions_are_exported_oldest_first(world_folder, tmp_path):
    export(world_folder, tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf8").splitlines()]
    swazi = [line for line in lines if line["id"] == "swazi"]
    assert [line["title"] for line in swazi] == ["Swaziland", "Eswatini"]
    assert "valid_from" not in swazi[0]
    assert swazi[0]["valid_to"] == swazi[1]["valid_from"] == "2018-04-19"


def test_an_undated_version_beside_dated_ones_comes_along(own_world, tmp_path, opened):
    add(own_world, [Page(Entity("york", "Eboracum"), valid_to="0400-01-01", valid_from="0071-01-01")])
    export(own_world, tmp_path / "out.jsonl")
    build([tmp_path / "out.jsonl"], tmp_path / "back.kb", BuildOptions(processes=1))
    assert opened(own_world).versions("york") == opened(tmp_path / "back.kb").versions("york")


def test_every_field_of_an_entity_is_exported(own_world, tmp_path):
    """`FULL` sets every field there is: a new one that an export or a build leaves out is noticed here."""
    defaults = msgspec.structs.asdict(Entity("", ""))
    assert not [name for name, value in msgspec.structs.asdict(FULL).items() if value == defaults[name]]
    add(own_world, [FULL])
    export(own_world, tmp_path / "out.jsonl")
    last = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf8").splitlines()[-1])
    assert list(last) == list(Entity.__struct_fields__)


def test_periods_are_exported_as_they_were_given(own_world, tmp_path):
    add(own_world, [Page(Entity("x", "One"), valid_from="1990"), Page(Entity("x", "Two"), valid_from="2000-02")])
    export(own_world, tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf8").splitlines()[-2:]]
    assert lines == [
        {"id": "x", "title": "One", "valid_from": "1990-01-01"},
        {"id": "x", "title": "Two", "valid_from": "2000-02-01"},
    ]


def test_a_file_appears_only_when_it_is_complete(world_folder, tmp_path, monkeypatch):
    target = tmp_path / "out.jsonl"
    target.write_text("what was there before")
    monkeypatch.setattr("entlink.kb.store.transfer._EVERY", 3)

    def stop(stage: str, done: float, total: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(world_folder, target, progress=stop)
    assert target.read_text() == "what was there before"


def test_nothing_to_export(tmp_path):
    with pytest.raises(NotFoundError):
        export(tmp_path / "none.kb", tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_edits_are_exported_too(own_world, tmp_path):
    add(own_world, [Entity("zork", "Zork")])
    export(own_world, tmp_path / "out.jsonl")
    assert '"zork"' in (tmp_path / "out.jsonl").read_text()
    with KnowledgeBase.open(own_world) as kb:
        assert kb.pending_edits == 1


@pytest.fixture
def exported(own_world, tmp_path):
    """The file of an exported world with a rule of each kind."""
    pin(own_world, "Hg  metal", "element")
    pin(own_world, "MERCURY", "planet", case_sensitive=True)
    block(own_world, "Sun")
    block(own_world, "York", case_sensitive=True)
    assert export(own_world, tmp_path / "out.jsonl") == 15
    return tmp_path / "out.jsonl"


def test_pins_and_blocks_come_back_with_a_build(exported, own_world, tmp_path):
    manifest = build(exported, tmp_path / "back.kb", BuildOptions(processes=1))
    assert len(rules(own_world)) == 4
    assert rules(tmp_path / "back.kb") == rules(own_world)
    assert manifest.sources[0].records == 11


@pytest.mark.parametrize("taken_in", ["add", "sync"])
def test_pins_and_blocks_come_back_with_an_edit(exported, own_world, built_world, opened, taken_in):
    other = opened(shutil.copytree(built_world, own_world.with_name("other.kb")))
    other.remove(*(entity.id for entity in other))
    other.pin("Sun", other.add(Entity("x", "X")) and "x")
    if taken_in == "add":
        assert other.add(exported) == 11
    else:
        assert other.sync(exported, delete=True).added == 11
    assert rules(other.folder) == rules(own_world)


def test_a_rule_about_no_entity(exported, own_world, tmp_path):
    lines = exported.read_text(encoding="utf8").replace('"entity":"element"', '"entity":"gold"')
    exported.write_text(lines, encoding="utf8")
    told = f"{exported}, the pin or block of 'Hg metal': there is no entity 'gold'"
    with pytest.raises(InputError, match=told):
        build(exported, tmp_path / "back.kb", BuildOptions(processes=1))
    with pytest.raises(InputError, match=told):
        sync(own_world, open_source(exported))
    for options, problems in ((BuildOptions(on_error="skip"), 1), (BuildOptions(limit=1), 0)):
        manifest = build(exported, tmp_path / "back.kb", options, replace=True)
        assert len(manifest.problems) == problems


def test_a_rule_that_is_none(tmp_path):
    table = tmp_path / "t.jsonl"
    table.write_text('{"id": "a", "title": "A"}\n{"rule": {"surface": 1}}\n{"rule": "x", "id": "b", "title": "B"}\n')
    with pytest.raises(SourceError, match=r"line 2: the pin or block is not as expected"):
        list(open_source(table))
    source = open_source(table, on_error="skip")
    assert [page.entity.id for page in source] == ["a", "b"]
    assert source.rules == []
