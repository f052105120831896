from __future__ import annotations

import shutil

import pytest

from entlink.documents import Entity
from entlink.errors import LockedError
from entlink.io.atomic import write_lock
from entlink.kb.indexes import names as index_module
from entlink.kb.indexes.names import read_card, reindex
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add, remove
from knowledge_bases import supports


def test_an_index_with_nothing_new_is_the_same_again(own_world):
    before = {path.name: path.read_bytes() for path in (own_world / "index-1").iterdir() if path.is_file()}
    reindex(own_world, processes=1)
    after = {path.name: path.read_bytes() for path in (own_world / "index-2").iterdir() if path.is_file()}
    assert after == before


def test_an_index_takes_the_edits_in_and_forgets_them(own_world, opened):
    add(own_world, [Entity("a", "Ant"), Entity("b", "Bee")])
    card = reindex(own_world, processes=1)
    assert card.last_edit == 2
    assert read_card(own_world / "index-2") == card
    kb = opened(own_world)
    assert kb.pending_edits == 0
    assert {"ant", "bee"} <= set(kb.alias_index.keys(""))
    remove(own_world, ["a"])
    assert reindex(own_world, processes=1).last_edit == 3


def test_a_lost_index_is_made_anew(own_world, opened):
    before = supports(opened(own_world), "Mercury")
    shutil.rmtree(own_world / "index-1")
    reindex(own_world, processes=1)
    assert supports(opened(own_world), "Mercury") == before


def test_what_killed_runs_left_is_cleared_away(own_world):
    for leftover in ("index-2", "indexing", "index-0"):
        (own_world / leftover).mkdir()
        (own_world / leftover / "keys-00.trie").write_text("half")
    reindex(own_world, processes=1)
    assert sorted(path.name for path in own_world.iterdir() if path.is_dir()) == ["counts", "index-2"]
    with KnowledgeBase.open(own_world) as kb:
        assert supports(kb, "Venus") == {"venus": 5}


def test_two_processes_do_not_index_at_once(own_world):
    with write_lock(own_world, "index.lock"), pytest.raises(LockedError):
        reindex(own_world, processes=1)


def test_edits_made_while_an_index_is_made_are_seen_afterwards(own_world, monkeypatch):
    write_groups = index_module.write_groups

    def edit_then_write(*arguments: object, **settings: object) -> None:
        add(own_world, [Entity("late", "Latecomer")])
        remove(own_world, ["venus"])
        write_groups(*arguments, **settings)

    monkeypatch.setattr(index_module, "write_groups", edit_then_write)
    reindex(own_world, processes=1)
    with KnowledgeBase.open(own_world) as kb:
        assert set(supports(kb, "Latecomer")) == {"late"}
        assert supports(kb, "Venus") == {}


def test_a_failure_leaves_the_old_index_in_force(own_world, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("entlink.kb.indexes.names.write_groups", fail)
    with pytest.raises(OSError, match="No space left"):
        reindex(own_world, processes=1)
    assert sorted(path.name for path in own_world.iterdir() if path.is_dir()) == ["counts", "index-1"]
    with KnowledgeBase.open(own_world) as kb:
        assert supports(kb, "Venus") == {"venus": 5}


def test_progress_of_indexing(own_world):
    seen = []
    reindex(own_world, processes=1, progress=lambda stage, done, total: seen.append(stage))
    assert "folding names" in seen
    assert seen.index("writing postings") < seen.index("cutting names short")  # of what the build made beside it


def test_a_card_does_not_list_itself_where_a_build_was_killed_as_it_ended(tmp_path, monkeypatch):
    from entlink.kb.build import steps as building
    from entlink.kb.build.from_sources import BuildOptions, build
    from entlink.kb.indexes.names import read_card
    from knowledge_bases import article, write_articles

    source = write_articles(tmp_path / "rows.jsonl", [article("a", "Ant", "An ant.")])
    with monkeypatch.context() as patch:
        patch.setattr(building, "empty_log", lambda store: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            build([source], tmp_path / "a.kb", BuildOptions(format="articles"))
    build([source], tmp_path / "a.kb", BuildOptions(format="articles"))
    assert sorted(read_card(tmp_path / "a.kb" / "index-1").files) == ["groups-00.at", "groups-00.bin", "keys-00.trie"]
