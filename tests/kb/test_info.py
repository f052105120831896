from __future__ import annotations

from entlink.documents import Entity
from entlink.kb.info import info, pending_edits
from entlink.kb.store.edits import add, block, remove
from entlink.kb.store.store import STORE_VERSION


def test_counts_of_what_is_in_it_now(own_world, world):
    add(own_world, [Entity("zork", "Zork", types=("beast",)), Entity("york", "York")], replace=True)
    remove(own_world, ["venus"])
    block(own_world, "Sun")
    told = info(own_world)
    assert (told.store_version, told.index) == (STORE_VERSION, "index-1")
    assert told.entities == len(world)
    assert told.names == len(world.alias_index)
    assert (told.links, told.texts) == (world.manifest().links, world.texts)
    assert (told.rules, told.pending_edits) == (1, 3)
    assert told.types["city"] == 2
    assert told.type_count == len(told.types)
    assert 0 < told.index_bytes < told.bytes
    assert told.sources == world.manifest().sources


def test_pending_edits_count_each_entity_once(own_world):
    assert pending_edits(own_world) == 0
    for title in ("Zork", "Zork II"):
        add(own_world, [Entity("zork", title)], replace=True)
    assert pending_edits(own_world) == 1
