from __future__ import annotations

import pytest

from entlink.errors import DamagedError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.alias_index import COMPLETE, AliasIndex, Form, shard_of
from knowledge_bases import article, make_kb

FILES = ["keys-00.trie", "groups-00.at", "groups-00.bin"]


@pytest.fixture
def index(own_world):
    return own_world / "index-1"


def test_a_form_gives_its_postings_as_triples():
    assert list(Form("Mercury", 3, (1, 5, 8, 2, 0, 1)).triples()) == [(1, 5, 8), (2, 0, 1)]


def test_postings_that_are_no_triples_are_an_error():
    with pytest.raises(ValueError, match="shorter"):
        list(Form("Mercury", 3, (1, 5, 8, 2)).triples())


def test_known_and_unknown_keys(index):
    aliases = AliasIndex(index, 1)
    assert "mercury" in aliases
    assert "mercur" not in aliases
    assert aliases.group("no such name") == []
    assert {form.text for form in aliases.group("mercury")} == {"Mercury", "mercury", "MERCURY"}
    assert len(aliases) == len(list(aliases.keys("")))


def test_keys_with_a_prefix(index):
    assert set(AliasIndex(index, 1).keys("new york")) == {"new york", "new york city"}


def test_one_shard_holds_all_and_several_split_by_first_token():
    assert {shard_of(token, 1) for token in ("a", "b", "京")} == {0}
    assert {shard_of(f"w{number}", 4) for number in range(100)} == {0, 1, 2, 3}


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_told_with_the_remedy(own_world, index, name):
    (index / name).unlink()
    with pytest.raises(DamagedError, match="entlink kb index"):
        KnowledgeBase.open(own_world)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.99])
def test_a_file_cut_off_is_told_when_opened_or_used_and_never_gives_other_names(own_world, index, name, kept):
    path = index / name
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(DamagedError, match="entlink kb index"), KnowledgeBase.open(own_world) as kb:
        for key in kb.alias_index.keys(""):
            kb.alias_index.group(key)


def test_places_cut_off_at_a_whole_number_of_entries(own_world, index):
    path = index / "groups-00.at"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(DamagedError, match="keys but"):
        KnowledgeBase.open(own_world)


def test_a_missing_or_cut_off_card(own_world, index):
    (index / COMPLETE).write_bytes(b"{")
    with pytest.raises(DamagedError, match="cut off"):
        KnowledgeBase.open(own_world)
    (index / COMPLETE).unlink()
    with pytest.raises(DamagedError, match="missing or incomplete"):
        KnowledgeBase.open(own_world)


def test_a_shard_too_few_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr("entlink.kb.names.alias_writer.KEYS_A_SHARD", 1)
    folder = make_kb(tmp_path, [article(f"e{n}", f"Name{n}") for n in range(9)])
    assert len(list((folder / "index-1").glob("keys-*.trie"))) > 4
    sorted((folder / "index-1").glob("keys-*.trie"))[-1].unlink()
    with pytest.raises(DamagedError):
        KnowledgeBase.open(folder)
