from __future__ import annotations

import shutil
import sqlite3

import pytest

from entlink.documents import Entity
from entlink.errors import DamagedError
from entlink.kb.build import from_sources as building
from entlink.kb.build.merge import merge
from entlink.kb.indexes import short_names as short_index
from entlink.kb.indexes.derived import SHORT, derived_indexes, is_complete
from entlink.kb.indexes.names import read_card, reindex
from entlink.kb.indexes.short_names import DATABASE, ShortIndex, ensure_short
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add
from entlink.kb.verify import verify
from entlink.linking.linker import load
from knowledge_bases import article, make_kb

ROWS = [
    article("ronald", "Ronald Reagan", "Ronald Reagan was a president. Nobody else was Ronald Reagan."),
    article("nancy", "Nancy Reagan", "She married Ronald Reagan. Her name was Nancy Reagan."),
    article("town", "Reagan, Texas", "A town."),
    article("uk", "United Kingdom", "The United Kingdom, or UK."),
    article("us", "United States", "[[uk|United Kingdom]] and [[uk|United Kingdom]]; the United States."),
]


@pytest.fixture
def folder(copied_kb):
    """A knowledge base without the index, as earlier releases built them."""
    folder = copied_kb(ROWS)
    shutil.rmtree(folder / "index-1" / SHORT)
    return folder


def found(folder, form):
    """What a form may stand for, by id."""
    with KnowledgeBase.open(folder) as kb:
        index = ShortIndex(ensure_short(folder))
        names = [(kb.head(one.entity)[0], one.times) for one in index.of(form)]
        index.close()
    return names


def test_those_spoken_of_most_come_first(folder):
    # Counted by hand: titles in all texts, linked or not.
    assert found(folder, "reagan") == [("ronald", 3), ("nancy", 1), ("town", 0)]
    assert found(folder, "UK") == [("uk", 3)]
    assert found(folder, "united") == [("uk", 3), ("us", 1)]
    assert found(folder, "ronald reagan") == []
    assert found(folder, "nothing") == []


def test_a_build_and_a_merge_make_the_same_index(folder, copied_kb, tmp_path):
    by_hand = (ensure_short(folder) / DATABASE).read_bytes()
    built = copied_kb(ROWS, "built")
    merge([built], tmp_path / "merged.kb")
    for one in (built, tmp_path / "merged.kb"):
        assert is_complete(one / "index-1" / SHORT)
        assert (one / "index-1" / SHORT / DATABASE).read_bytes() == by_hand


def test_linking_writes_nothing_into_a_fresh_knowledge_base(copied_kb):
    folder = copied_kb(ROWS)
    before = files_of(folder)
    linker = load(folder, config="everyday")
    assert linker.link("Nancy Reagan met President Reagan in the UK.").links
    linker.kb.close()
    assert files_of(folder) == before


def files_of(folder):
    """Every file with its time, but those by which SQLite keeps readers and writers apart."""
    kept = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("kb.sqlite-"))
    return {path: path.stat().st_mtime_ns for path in kept}


def test_a_build_killed_as_it_ended_does_not_take_the_index_for_names(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(building, "move_into_place", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            make_kb(tmp_path, ROWS)
    folder = make_kb(tmp_path, ROWS)
    assert not [name for name in read_card(folder / "index-1").files if name.startswith(SHORT)]
    assert verify(folder)


def test_namesakes_share_what_texts_say(tmp_path):
    rows = [
        article("a", "Mary Ann (ship)", "The Mary Ann sailed. The Mary Ann sank."),
        article("b", "Mary Ann (song)", "A song called Mary Ann. Mary Ann, again."),
    ]
    times = dict(found(make_kb(tmp_path, rows), "ann"))
    assert times == {"a": 2, "b": 2}


def test_of_a_form_only_the_first_are_kept(folder, monkeypatch):
    monkeypatch.setattr(short_index, "MOST_OF_FORM", 2)
    assert [id for id, _ in found(folder, "reagan")] == ["ronald", "nancy"]


def test_it_is_made_once_and_anew_with_the_names(folder):
    first = ensure_short(folder)
    made = (first / DATABASE).stat().st_mtime_ns
    assert ensure_short(folder) == first
    assert (first / DATABASE).stat().st_mtime_ns == made
    add(folder, [Entity("maureen", "Maureen Reagan")])
    reindex(folder)
    with KnowledgeBase.open(folder) as kb:
        assert "short" in {one.name for one in derived_indexes(kb.index_folder)}
    assert {id for id, _ in found(folder, "reagan")} == {"ronald", "nancy", "town", "maureen"}


def test_what_an_interrupted_run_left_is_replaced(folder, monkeypatch):
    class Killed(Exception):  # noqa: N818
        pass

    def kill(stage, done, total):
        raise Killed

    with pytest.raises(Killed):
        ensure_short(folder, kill)
    with KnowledgeBase.open(folder) as kb:
        assert not is_complete(kb.index_folder / "short")
    assert found(folder, "reagan")


def test_a_damaged_file_is_told(folder):
    made = ensure_short(folder)
    (made / DATABASE).write_bytes(b"no database, by any means" * 100)
    with pytest.raises(DamagedError, match="Remove its folder"):
        ShortIndex(made)
    (made / DATABASE).unlink()
    with pytest.raises(DamagedError, match="Remove its folder"):
        ShortIndex(made)


def test_an_empty_knowledge_base(tmp_path):
    assert found(make_kb(tmp_path, []), "any") == []


def test_it_is_as_by_looking_at_every_title(folder):
    connection = sqlite3.connect(ensure_short(folder) / DATABASE)
    rows = connection.execute("SELECT form, count(*) FROM short GROUP BY form").fetchall()
    connection.close()
    by_hand = {"ronald": 1, "nancy": 1, "reagan": 3, "united": 2, "kingdom": 1, "states": 1}
    by_hand |= {"RR": 1, "NR": 1, "RT": 1, "UK": 1, "US": 1}
    assert dict(rows) == by_hand


def test_a_form_of_two_names_of_an_entity_is_there_once(tmp_path):
    rows = [article("ronald", "Ronald Reagan", "x", aliases=["President Reagan", "Reagan, Ronald"])]
    assert found(make_kb(tmp_path, rows), "reagan") == [("ronald", 0)]
