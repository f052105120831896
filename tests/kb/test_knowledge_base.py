from __future__ import annotations

import io
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from entlink.documents import Entity
from entlink.encoders.dual import PlainDual
from entlink.errors import DamagedError, ExistsError, InputError, NotFoundError, VersionError
from entlink.kb.indexes.derived import derived_indexes
from entlink.kb.indexes.names import reindex
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add, remove
from entlink.kb.store.store import DATABASE, STORE_VERSION
from entlink.linking.linker import load
from knowledge_bases import WORLD, make_kb, supports
from tiny_encoders import LetterEncoder


def test_entities_in_the_order_they_came(world):
    ids = list(dict.fromkeys(row["id"] for row in WORLD))
    assert [entity.id for entity in world] == ids
    assert len(world) == len(ids)


def test_an_entity_with_all_its_fields(world):
    planet = world.get("planet")
    assert planet == Entity(
        "planet",
        "Mercury (planet)",
        "Mercury is the planet nearest to the Sun. Mercury has no moon.\n\n"
        "Unlike Venus, mercury the metal is liquid. MERCURY!",
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
    kb, linker = opened(own_world), load(own_world, config="lexical")
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
    assert [id for _, id, _ in kb.entities_named(meaning)] == ["element"]
    assert [id for _, id, _ in kb.entities_named(meaning, 1)] == []


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
linker = entlink.load(sys.argv[1], config="lexical")
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


# Edits through the noun: the same object sees them, and so do others


@pytest.fixture
def kb(own_world, opened):
    return opened(own_world)


@pytest.fixture
def other(own_world, opened):
    """The same knowledge base as another process has it open."""
    return opened(own_world)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("sku,title\nzork,Zork\nyork,Old York\n")
    return path


def test_adding_one_several_or_a_table(kb, other, table):
    assert kb.add(Entity("ant", "Ant")) == 1
    assert kb.add([Entity("bee", "Bee"), Entity("cow", "Cow")]) == 2
    assert kb.add(table, replace=True, columns={"id": "sku"}) == 2
    assert kb.get("ant").title == "Ant"
    assert supports(kb, "Zork").keys() == {"zork"}
    assert kb.get("york").title == "Old York"
    assert other.refresh()
    assert supports(other, "Bee").keys() == {"bee"}


def test_adding_with_a_weight_and_what_is_there(kb):
    kb.add(Entity("ant", "Ant"), weight=77)
    assert supports(kb, "Ant")["ant"] >= 77
    with pytest.raises(ExistsError):
        kb.add(Entity("ant", "Another ant"))
    kb.add(Entity("ant", "Another ant"), replace=True)
    assert kb.get("ant").title == "Another ant"
    with pytest.raises(InputError, match="format and columns"):
        kb.add(Entity("bee", "Bee"), format="csv")


def test_removing(kb, other):
    assert kb.remove("venus", "york") == 2
    assert (kb.get("venus"), kb.resolve("york"), supports(kb, "Venus")) == (None, None, {})
    other.refresh()
    assert other.get("venus") is None
    with pytest.raises(NotFoundError):
        kb.remove("sun", "no such thing")
    assert kb.get("sun")


def test_syncing_with_a_table_or_entities(kb, table):
    count = len(kb)
    report = kb.sync(table, columns={"id": "sku"})
    assert (report.added, report.changed, report.removed) == (1, 1, 0)
    assert (kb.get("york").title, len(kb)) == ("Old York", count + 1)
    assert kb.sync([Entity("zork", "Zork")], delete=True).removed == count
    assert [entity.id for entity in kb] == ["zork"]


def test_pins_and_blocks_set_and_lifted(kb, other):
    before = supports(kb, "Mercury")
    kb.pin("Mercury", "venus")
    assert kb.meaning("Mercury").pinned
    assert [name.entity for name in kb.aliases("Mercury")] == ["venus"]
    assert kb.unblock("Mercury") == 0
    assert kb.meaning("Mercury").pinned
    assert kb.unpin("Mercury") == 1
    assert supports(kb, "Mercury") == before
    kb.block("Sun", case_sensitive=True)
    assert kb.meaning("Sun").blocked
    assert not kb.meaning("SUN").blocked
    other.refresh()
    assert other.meaning("Sun").blocked
    assert kb.unpin("Sun") == 0
    assert kb.meaning("Sun").blocked
    assert kb.unblock("Sun") == 1
    assert not kb.meaning("Sun").blocked


def test_indexing_folds_edits_in(kb):
    kb.add(Entity("zork", "Zork"))
    assert (kb.pending_edits, "zork" in kb.alias_index) == (1, False)
    report = kb.index(processes=1)
    assert report.names == len(kb.alias_index)
    assert (kb.pending_edits, "zork" in kb.alias_index, kb.index_folder.name) == (0, True, "index-2")


@pytest.mark.parametrize(
    ("wanted", "made"),
    [("words", ["short", "words"]), ("cooccurrence", ["company", "short"]), ("short", ["short"])],
)
def test_search_indexes_leave_the_index_of_names_as_it_is(kb, wanted, made):
    assert kb.index(**{wanted: True}, processes=1).names is None
    assert [one.name for one in derived_indexes(kb.index_folder)] == made
    assert kb.index_folder.name == "index-1"


def test_indexes_over_vectors(kb):
    dual = PlainDual(LetterEncoder(name="letters"))
    (made,) = kb.index(vectors=[dual]).vectors
    assert (made.encoder, made.rows >= len(kb), made.was_there) == ("letters", True, False)
    assert kb.index(vectors=[dual]).vectors == ((*made[:2], True),)
    assert kb.index_folder.name == "index-1"


def test_what_cannot_be_written_gets_no_index(kb, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(InputError, match="cannot be written"):
        kb.index(words=True)


def test_exporting_to_a_file_or_a_stream(kb, tmp_path):
    kb.add(Entity("zork", "Zork"))
    out, stream = tmp_path / "out.jsonl", io.BytesIO()
    assert kb.export(out) == kb.export(stream) == len(out.read_bytes().splitlines()) > len(kb) - 1
    assert out.read_bytes() == stream.getvalue()
    assert b'"zork"' in stream.getvalue()


def test_merging(kb, tmp_path, opened):
    kb.add(Entity("zork", "Zork"))
    other = make_kb(tmp_path, [{"id": "ant", "title": "Ant", "paragraphs": []}], "other")
    manifest = KnowledgeBase.merge([kb, other], tmp_path / "both.kb", processes=1)
    both = opened(tmp_path / "both.kb")
    assert manifest.entities == len(both) == len(kb) + 1
    assert both.get("ant")
    assert both.get("zork")


def test_upgrading(own_world):
    with closing(sqlite3.connect(own_world / DATABASE)) as connection, connection:
        connection.execute("UPDATE meta SET value = '1' WHERE name = 'store_version'")
        connection.execute("DROP TABLE rules")
        connection.execute("CREATE TABLE pins (surface TEXT PRIMARY KEY, entity INTEGER)")
        connection.execute("CREATE TABLE blocks (surface TEXT PRIMARY KEY)")
        connection.execute("INSERT INTO blocks VALUES ('Sun')")
    with pytest.raises(VersionError):
        KnowledgeBase.open(own_world)
    assert KnowledgeBase.upgrade(own_world) == (1, STORE_VERSION)
    with KnowledgeBase.open(own_world) as kb:
        assert kb.meaning("Sun").blocked


def test_without_names_it_can_be_edited_and_indexed_where_the_index_is_missing(own_world):
    shutil.rmtree(own_world / "index-1")
    with pytest.raises(DamagedError):
        KnowledgeBase.open(own_world)
    with KnowledgeBase.open(own_world, names=False) as kb:
        kb.add(Entity("zork", "Zork"))
        assert (kb.get("zork").title, kb.pending_edits) == ("Zork", 1)
        kb.index(processes=1)
        assert kb.pending_edits == 0
    with KnowledgeBase.open(own_world) as kb:
        assert supports(kb, "Zork").keys() == {"zork"}
