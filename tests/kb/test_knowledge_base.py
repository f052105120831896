from __future__ import annotations

import subprocess
import sys
import time

import pytest

from entlink.documents import Entity
from entlink.errors import DamagedError, NotFoundError
from entlink.kb.indexes.names import reindex
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add, remove
from entlink.linking.linker import load
from knowledge_bases import WORLD, supports


def test_entities_in_the_order_they_came(world):
    ids = list(dict.fromkeys(row["id"] for row in WORLD))
    assert [entity.id for entity in world] == ids
    assert len(world) == len(ids)


def test_an_entity_with_all_its_fields(world):
    planet = world.get("planet")
    assert planet == Entity(
        "planet",
        "Mercury (planet)",
        "Mercury is the planet nearest to the Sun. Mercury has no moon.",
        types=("planet",),
        external={"wikidata": "Q308"},
    )
    assert world.get("Mercury (planet)") is None
    assert world.types("planet") == ("planet",)
    assert world.types("nothing so") == ()


def test_requiring_an_unknown_entity_says_what_to_try(world):
    with pytest.raises(NotFoundError, match="entlink kb search"):
        world.require("Saturn")


def test_a_key_the_store_lacks(world):
    with pytest.raises(DamagedError, match="entlink kb index"):
        world.head(999)


def test_facts_about_itself(world):
    assert world.has_links
    assert world.texts == sum(len(row["paragraphs"]) for row in WORLD)
    assert dict(world.type_counts())["planet"] == 2
    assert world.pending_edits == 0
    assert not list(world.fresh_keys())


def test_the_types_cache_follows_edits(own_world, opened):
    kb = opened(own_world)
    assert kb.types("york") == ("city",)
    add(own_world, [Entity("york", "York", types=("town",))], replace=True)
    kb.refresh()
    assert kb.types("york") == ("town",)


def test_an_open_one_goes_over_to_a_new_index(own_world, opened):
    kb, linker = opened(own_world), load(own_world)
    before = linker.link("Mercury in New York City").links
    add(own_world, [Entity("zork", "Zork")])
    reindex(own_world, processes=1)
    assert not (own_world / "index-1").exists()
    assert linker.link("Mercury in New York City").links == before
    assert kb.refresh()
    assert "zork" in kb.alias_index
    assert supports(kb, "Zork") == {"zork": 4}
    linker.kb.close()


def test_one_opened_before_works_on_without_refreshing(own_world, opened):
    kb = opened(own_world)
    reindex(own_world, processes=1)
    reindex(own_world, processes=1)
    assert supports(kb, "Mercury")["planet"] == 4


def test_an_entity_removed_between_two_looks_is_left_out(own_world, opened):
    kb = opened(own_world)
    meaning = kb.meaning("Mercury")
    remove(own_world, ["planet"])
    kb._store.forget()
    assert [id for _, id, _ in kb.bearers(meaning)] == ["element"]
    assert [id for _, id, _ in kb.bearers(meaning, 1)] == []


def test_a_folder_of_a_read_only_medium(own_world, opened, monkeypatch):
    import sqlite3

    real = sqlite3.connect

    def connect(address, *arguments, **settings):
        # As root nothing is read-only: what SQLite says there is said here.
        if "mode=rw" in str(address):
            return real(":memory:", factory=Refusing, isolation_level=None)
        return real(address, *arguments, **settings)

    class Refusing(sqlite3.Connection):
        def execute(self, *arguments):
            raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", connect)
    assert supports(opened(own_world), "Sun") == {"sun": 2 + 3}


READER = """
import sys, time
import entlink
linker = entlink.load(sys.argv[1])
end, rounds, seen = time.monotonic() + float(sys.argv[2]), 0, set()
while time.monotonic() < end:
    links = linker.link("Mercury, the Sun, Venus and Flicker in New York City").links
    found = {link.mention.text: link.entity for link in links}
    assert found["Sun"] == "sun" and found["New York City"] == "nyc", found
    assert found.get("Flicker") in (None, "flicker"), found
    seen.add(found.get("Flicker"))
    rounds += 1
print(rounds, len(seen))
"""


def test_many_read_while_one_writes_and_indexes(own_world):
    seconds = 3.0
    command = [sys.executable, "-c", READER, own_world, str(seconds)]
    readers = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    end, writes = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        add(own_world, [Entity("flicker", "Flicker")])
        if writes % 3 == 2:
            reindex(own_world, processes=1)
        time.sleep(0.05)
        remove(own_world, ["flicker"])
        writes += 1
    told = [reader.communicate(timeout=30) for reader in readers]
    assert [stderr.decode() for _, stderr in told] == ["", "", ""]
    assert writes > 2
    assert all(int(stdout.split()[0]) > 5 for stdout, _ in told)
    assert any(stdout.split()[1] == b"2" for stdout, _ in told)


def test_opening_in_the_middle_of_indexing_finds_the_index_in_force(own_world, monkeypatch):
    """The index a reader is about to open is replaced and removed just before it does."""
    real, indexed = KnowledgeBase._open_index, []

    def open_late(kb: KnowledgeBase, name: str) -> None:
        if not indexed:
            indexed.append(kb._store.meta("index"))
            reindex(own_world, processes=1)
        real(kb, name)

    monkeypatch.setattr(KnowledgeBase, "_open_index", open_late)
    with KnowledgeBase.open(own_world) as kb:
        assert indexed == ["index-1"]
        assert supports(kb, "Venus") == {"venus": 5}


def test_closing_twice_and_using_with(own_world):
    with KnowledgeBase.open(own_world) as kb:
        assert len(kb)
    kb.close()


def test_keys_are_those_of_the_entities_there_are(own_world, opened):
    kb = opened(own_world)
    assert [kb.entity(key).id for key in kb.all_keys()] == [entity.id for entity in kb]
    with kb.as_of("2000-01-01") as old:
        assert [old.entity(key).id for key in old.all_keys()] == [entity.id for entity in old]
    remove(own_world, ["venus"])
    again = opened(own_world)
    assert kb.key("venus") not in list(again.all_keys())
    assert len(list(again.all_keys())) == len(again)
