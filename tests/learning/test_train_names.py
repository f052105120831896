"""Names learnt from files with gold, and the files themselves."""

from __future__ import annotations

import json

import pytest

from entlink.errors import InputError
from entlink.kb.names.taught_names import read_taught
from entlink.learning.gold_files import GoldFiles
from entlink.learning.names import train_names


@pytest.fixture
def kb(world_folder, opened):
    return opened(world_folder)


def write_gold(path, id, entity):
    gold = [{"start": 0, "end": 4, "entity": entity}]
    path.write_text(json.dumps({"id": id, "text": "NYNY", "gold": gold}) + "\n")
    return path


def test_names_are_written_with_what_they_were_learnt_from(kb, tmp_path):
    files = [write_gold(tmp_path / f"{id}.jsonl", id, "york") for id in ("one", "two")]
    told = []
    taught = train_names(
        kb, files, tmp_path / "taught.json", command="a test", progress=lambda *now: told.append(now)
    )
    assert taught == read_taught(tmp_path / "taught.json")
    assert (taught.names, taught.mentions, taught.unknown) == ({"nyny": {"york": 2}}, 2, 0)
    assert (taught.command, [file["name"] for file in taught.data]) == ("a test", ["one.jsonl", "two.jsonl"])
    assert told == [("reading documents", 0, 0), ("reading documents", 1, 0)]


def test_gold_of_another_knowledge_base_teaches_nothing(kb, tmp_path):
    with pytest.raises(InputError, match="none of 1 gold mention leads to an entity"):
        train_names(kb, [write_gold(tmp_path / "a.jsonl", "a", "atlantis")], tmp_path / "taught.json")
    assert not (tmp_path / "taught.json").exists()


def test_files_of_gold_can_be_read_again(tmp_path):
    files = GoldFiles([write_gold(tmp_path / f"{id}.jsonl", id, "york") for id in ("one", "two")])
    assert [document.id for document in files] == [document.id for document in files] == ["one", "two"]
    assert (len(files), len(GoldFiles([]))) == (2, 0)
    assert [one["format"] for one in files.facts()] == ["jsonl", "jsonl"]
