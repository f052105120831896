"""Damage to the files of a knowledge base is found and named."""

from __future__ import annotations

import json
import shutil

import pytest

from entlink.errors import DamagedError
from entlink.kb.build.from_sources import build
from entlink.kb.indexes.names import reindex
from entlink.kb.verify import verify


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    home = tmp_path_factory.mktemp("verify")
    rows = [{"id": number, "title": f"Thing number {number}", "text": "of many things"} for number in range(2_000)]
    (home / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    build([home / "rows.jsonl"], home / "whole.kb")
    return home / "whole.kb"


@pytest.fixture
def kb(built, tmp_path):
    return shutil.copytree(built, tmp_path / "own.kb")


def test_a_sound_one(kb):
    assert verify(kb) == 6


def test_an_altered_index_file(kb):
    path = kb / "index-1" / "keys-00.trie"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedError, match=r"index-1/keys-00.trie was altered or cut off. Run `entlink kb index"):
        verify(kb)
    reindex(kb)
    assert verify(kb) == 6


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
    with pytest.raises(DamagedError, match=r"kb.sqlite: .* Build it again, or restore a copy"):
        verify(kb)
