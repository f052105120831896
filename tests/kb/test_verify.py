"""Damage to the files of a knowledge base is found and named."""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3

import pytest

from entlink.documents import Entity
from entlink.errors import DamagedError
from entlink.kb.build.from_sources import build
from entlink.kb.indexes.making import make_indexes
from entlink.kb.indexes.names import reindex
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store import edits
from entlink.kb.verify import has_checksum, verify
from kb_files import FILES

FLIPS = 12  # of one bit, in every file


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    home = tmp_path_factory.mktemp("verify")
    rows = [
        {"id": number, "title": f"Thing number {number}", "text": "It is like Thing number 5."}
        for number in range(2_000)
    ]
    (home / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    build([home / "rows.jsonl"], home / "whole.kb")
    make_indexes(home / "whole.kb", words=True, cooccurrence=True, short=True, processes=1)
    return home / "whole.kb"


@pytest.fixture
def kb(built, tmp_path):
    return shutil.copytree(built, tmp_path / "own.kb")


def test_a_sound_one(kb):
    assert verify(kb) == len(FILES) - 1  # the checksum belongs to the database
    assert sorted(str(path.relative_to(kb)) for path in kb.rglob("*.*") if path.suffix != ".lock") == sorted(FILES)


def damages(content):
    """Bits flipped here and there, and the file cut off: at once, in the middle and before its end."""
    pick = random.Random(7)
    for place in pick.sample(range(len(content)), FLIPS):
        yield content[:place] + bytes([content[place] ^ 1 << pick.randrange(8)]) + content[place + 1 :]
    yield from (content[:length] for length in (0, len(content) // 2, len(content) - 1))


@pytest.mark.parametrize("name", FILES)
def test_damage_to_any_file_is_found_and_named(kb, name):
    path = kb / name
    content = path.read_bytes()
    for damaged in damages(content):
        path.write_bytes(damaged)
        with pytest.raises(DamagedError, match=re.escape(name)):
            verify(kb)
    path.write_bytes(content)
    assert verify(kb) == len(FILES) - 1


def test_an_edited_database_has_a_checksum_of_its_own(kb):
    before = (kb / "kb.sqlite.sha256").read_bytes()
    edits.add(kb, [Entity("new", "New")])
    assert (kb / "kb.sqlite.sha256").read_bytes() != before
    assert verify(kb) == len(FILES) - 1
    edits.sync(kb, [Entity("newer", "Newer")], dry_run=True)
    assert has_checksum(kb)


def test_a_large_database_that_is_edited_has_none_until_it_is_indexed(kb, monkeypatch):
    monkeypatch.setattr(edits, "_SMALL", 0)
    edits.add(kb, [Entity("new", "New")])
    assert not has_checksum(kb)
    assert verify(kb) == len(FILES) - 1
    reindex(kb, processes=1)
    assert has_checksum(kb)
    assert verify(kb) == len(FILES) - 1


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entities SET record = '{\"description\": ' WHERE key = 7",
        "INSERT INTO versions VALUES (7, '1990', NULL, 'Old', CAST(x'ff' AS TEXT))",
        "UPDATE meta SET value = 'x' WHERE name = 'store_version'",
        "UPDATE meta SET value = '{' WHERE name = 'manifest'",
        "DELETE FROM meta WHERE name = 'manifest'",
    ],
)
def test_what_cannot_be_read_is_found_without_a_checksum(kb, damage):
    (kb / "kb.sqlite.sha256").unlink()
    with sqlite3.connect(kb / "kb.sqlite") as connection:
        connection.execute(damage)
    connection.close()
    with pytest.raises(DamagedError, match=r"kb\.sqlite"):
        verify(kb)


def test_an_edit_while_it_is_verified_is_no_damage(kb, monkeypatch):
    from entlink.kb import verify as module

    def edited_meanwhile(path):
        if path.name == "kb.sqlite":
            edits.block(kb, "Thing")
        return "0"

    monkeypatch.setattr(module, "_altered", lambda *_: ())
    monkeypatch.setattr(module, "checksum", edited_meanwhile)
    assert verify(kb) == len(FILES) - 1


def test_cards_of_an_earlier_release_have_no_seal(kb):
    for card in (kb / "index-1" / "index.json", kb / "index-1" / "words" / "complete.json"):
        old = json.loads(card.read_bytes())
        del old["seal"]
        card.write_text(json.dumps(old))
    assert verify(kb) == len(FILES) - 1


def test_a_damaged_cache_of_vectors(kb):
    (kb / "vectors").mkdir()
    cache = kb / "vectors" / "vectors-x.sqlite"
    with sqlite3.connect(cache) as connection:
        connection.execute("CREATE TABLE vectors (key BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID")
    connection.close()
    assert verify(kb) == len(FILES)
    cache.write_bytes(cache.read_bytes()[:4096] + b"\xff" * 4096)
    with pytest.raises(DamagedError, match=rf"vectors/vectors-x.sqlite: .* Remove {cache}"):
        verify(kb)


def test_an_entity_that_cannot_be_read_is_told_by_whoever_reads_it(kb):
    with sqlite3.connect(kb / "kb.sqlite") as connection:
        connection.execute("UPDATE entities SET record = '{' WHERE key = 7")
    connection.close()
    with (
        KnowledgeBase.open(kb) as opened,
        pytest.raises(DamagedError, match=r"kb\.sqlite: the record of the entity '6'"),
    ):
        opened.get("6")


def test_an_altered_index_file(kb):
    path = kb / "index-1" / "keys-00.trie"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedError, match=r"index-1/keys-00.trie was altered or cut off. Run `entlink kb index"):
        verify(kb)
    reindex(kb)
    assert verify(kb) == len(FILES) - 1


def test_a_missing_index_file(kb):
    (kb / "index-1" / "groups-00.at").unlink()
    with pytest.raises(DamagedError, match=r"index-1/groups-00.at is missing"):
        verify(kb)


@pytest.mark.parametrize("content", [None, b"{"])
def test_a_lost_card(kb, content):
    card = kb / "index-1" / "index.json"
    card.unlink()
    if content is not None:
        card.write_bytes(content)
    with pytest.raises(DamagedError, match=r"index-1/index.json cannot be read .* Run `entlink kb index"):
        verify(kb)


def test_altered_counts(kb):
    with (kb / "counts" / "base" / "graph.parquet").open("ab") as file:
        file.write(b"more")
    with pytest.raises(DamagedError, match=r"counts/base/graph.parquet was altered or cut off. Build it again"):
        verify(kb)


def test_a_damaged_database(kb):
    path = kb / "kb.sqlite"
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4096] = b"\xff" * 4096
    path.write_bytes(content)
    with pytest.raises(DamagedError, match=r"kb.sqlite was altered or cut off: .* Build it again, or restore a copy"):
        verify(kb)
