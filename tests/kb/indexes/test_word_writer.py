from __future__ import annotations

import errno
import json
import logging
import subprocess
import sys
import threading
import time

import numpy
import pytest

from entlink.documents import Entity
from entlink.errors import DamagedError, MissingExtraError
from entlink.io.atomic import write_lock
from entlink.kb.indexes.derived import COMPLETE, derived_folder, derived_indexes, is_complete, read_complete
from entlink.kb.indexes.names import reindex
from entlink.kb.indexes.search_rows import SearchRows
from entlink.kb.indexes.words import writing as word_writer
from entlink.kb.indexes.words.postings import WordIndex
from entlink.kb.indexes.words.terms import entity_terms, hash_of
from entlink.kb.indexes.words.writing import ensure_words, write_words
from entlink.kb.store.edits import add, remove
from entlink.kb.store.store import Store
from entlink.kb.verify import verify
from knowledge_bases import article, make_kb

ARRAYS = ("terms", "starts", "rows", "counts", "lengths", "keys", "since", "until", "current")


def written(folder, target, **settings):
    store = Store(folder)
    try:
        return write_words(store, target, processes=1, **settings)
    finally:
        store.close()


def arrays(folder):
    return {name: numpy.load(folder / f"{name}.npy").tolist() for name in ARRAYS}


def postings(index, term):
    (found,) = index.find([hash_of(term)])
    return dict(zip(found.rows.tolist(), found.counts.tolist(), strict=True))


def test_every_version_is_a_row_with_its_terms(own_world, opened):
    folder = ensure_words(own_world, processes=1)
    assert folder == derived_folder(opened(own_world), "words") == own_world / "index-1" / "words"
    index, rows = WordIndex.open(folder), SearchRows(folder)
    assert len(index) == len(rows) == 11
    swazi = opened(own_world).key("swazi")
    eswatini, swaziland = numpy.flatnonzero(rows.keys == swazi).tolist()  # the current one first
    assert postings(index, "eswatini") == {eswatini: 2}
    assert postings(index, "swaziland") == {swaziland: 2}
    assert postings(index, "nothing so") == {}
    expected = {}
    for row, key in enumerate(rows.keys.tolist()):
        entity = opened(own_world).entity(key)
        if row != swaziland:
            expected[row] = entity_terms(entity)
            assert index.lengths[row] == expected[row].total()
    for term in {term for counted in expected.values() for term in counted}:
        found = {row: count for row, count in postings(index, term).items() if row != swaziland}
        assert found == {row: counted[term] for row, counted in expected.items() if term in counted}
    card = read_complete(folder)
    assert (card.rows, card.settings["length"]) == (11, int(index.lengths.sum()))
    assert set(card.files) == {f"{name}.npy" for name in ARRAYS}


def test_however_it_is_cut_up_it_is_the_same(own_world, tmp_path, monkeypatch):
    written(own_world, tmp_path / "whole")
    monkeypatch.setattr(word_writer, "ENTITIES_A_BLOCK", 2)
    monkeypatch.setattr(word_writer, "POSTINGS_A_RUN", 5)
    monkeypatch.setattr(word_writer, "POSTINGS_A_SLICE", 7)
    seen = []
    written(own_world, tmp_path / "cut", progress=lambda stage, done, total: seen.append((stage, done, total)))
    assert arrays(tmp_path / "cut") == arrays(tmp_path / "whole")
    assert ("indexing words", 5, 5) in seen
    stage, done, total = seen[-1]
    assert (stage, done) == ("merging words", total)
    assert total > 5


def test_processes_make_the_same(own_world, tmp_path, monkeypatch):
    written(own_world, tmp_path / "one")
    monkeypatch.setattr(word_writer, "ENTITIES_A_BLOCK", 3)
    store = Store(own_world)
    write_words(store, tmp_path / "two", processes=2)
    store.close()
    assert arrays(tmp_path / "two") == arrays(tmp_path / "one")


def test_an_interrupted_run_is_taken_up(own_world, tmp_path, monkeypatch):
    written(own_world, tmp_path / "whole")
    monkeypatch.setattr(word_writer, "ENTITIES_A_BLOCK", 4)
    begun, original = [], word_writer.write_block

    def failing(folder, first, last, path):
        begun.append(first)
        if first == 9 and len(begun) == 3:
            raise KeyboardInterrupt
        original(folder, first, last, path)

    monkeypatch.setattr(word_writer, "write_block", failing)
    target = tmp_path / "again"
    with pytest.raises(KeyboardInterrupt):
        written(own_world, target)
    assert not is_complete(target)
    written(own_world, target)
    assert begun == [1, 5, 9, 9]
    assert arrays(target) == arrays(tmp_path / "whole")
    assert {path.name for path in target.iterdir()} == {COMPLETE, *(f"{name}.npy" for name in ARRAYS)}


def test_a_run_that_was_stopped_while_it_merged_is_taken_up(own_world, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(word_writer, "_merge", lambda *arguments: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            ensure_words(own_world, processes=1)
    folder = own_world / "index-1" / "words"
    assert not is_complete(folder)
    assert [one.name for one in derived_indexes(own_world / "index-1")] == ["short"]
    monkeypatch.setattr(word_writer, "write_block", None)  # not needed again
    assert ensure_words(own_world, processes=1) == folder
    finished = [(one.name, one.card.rows) for one in derived_indexes(own_world / "index-1")]
    assert ("words", 11) in finished


def test_an_index_that_is_there_is_not_made_again(own_world, monkeypatch):
    folder = ensure_words(own_world, processes=1)
    monkeypatch.setattr(word_writer, "write_words", None)
    assert ensure_words(own_world) == folder


def test_a_knowledge_base_without_entities(tmp_path):
    folder = ensure_words(make_kb(tmp_path, []), processes=1)
    index = WordIndex.open(folder)
    assert len(index) == 0
    assert postings(index, "a") == {}


def test_an_entity_of_no_words_is_a_row_without_terms(tmp_path):
    folder = ensure_words(make_kb(tmp_path, [article("a", "!?"), article("b", "B")]), processes=1)
    index = WordIndex.open(folder)
    assert index.lengths.tolist() == [0, 1]
    assert postings(index, "b") == {1: 1}


def test_counts_stop_at_what_two_bytes_hold(tmp_path):
    folder = ensure_words(make_kb(tmp_path, [article("a", "A", "so " * 70_000)]), processes=1)
    index = WordIndex.open(folder)
    assert postings(index, "so") == {0: 65_535}
    assert index.lengths.tolist() == [70_001]


def test_a_new_alias_index_has_a_new_word_index(own_world):
    ensure_words(own_world, processes=1)
    add(own_world, [Entity("ant", "Ant", "An insect.")])
    remove(own_world, ["sun"])
    reindex(own_world, processes=1)
    folder = own_world / "index-2" / "words"
    assert is_complete(folder)
    assert postings(WordIndex.open(folder), "ant") == {10: 1}
    assert verify(own_world) > 0


def test_an_alias_index_without_words_gets_none(own_world):
    reindex(own_world, processes=1)
    assert [one.name for one in derived_indexes(own_world / "index-2")] == ["short"]


def test_checking_a_knowledge_base_is_not_disturbed(own_world):
    before = verify(own_world)
    ensure_words(own_world, processes=1)
    assert verify(own_world) == before + len(ARRAYS) + 1


@pytest.mark.parametrize("name", ARRAYS)
def test_a_file_that_is_missing_or_cut_off_is_told(own_world, name):
    folder = ensure_words(own_world, processes=1)
    path = folder / f"{name}.npy"
    content = path.read_bytes()
    for damage in (content[:-1], content[:50], b""):
        path.write_bytes(damage)
        with pytest.raises(DamagedError, match=f"{name}.npy"):
            WordIndex.open(folder), SearchRows(folder)
    path.unlink()
    with pytest.raises(DamagedError, match=f"{name}.npy"):
        WordIndex.open(folder), SearchRows(folder)


def test_files_of_two_indexes_do_not_mix(own_world):
    folder = ensure_words(own_world, processes=1)
    numpy.save(folder / "counts.npy", numpy.zeros(3, numpy.uint16))
    with pytest.raises(DamagedError, match="do not fit each other"):
        WordIndex.open(folder)


def test_whoever_comes_second_waits_says_so_and_makes_none(own_world, caplog):
    made = []

    def come_second():
        made.append(ensure_words(own_world, processes=1))

    with write_lock(own_world, "index.lock"):
        thread = threading.Thread(target=come_second)
        thread.start()
        time.sleep(0.3)
        assert made == []
        written(own_world, own_world / "index-1" / "words")
        card = (own_world / "index-1" / "words" / COMPLETE).stat()
    thread.join()
    assert made == [own_world / "index-1" / "words"]
    assert caplog.text.count("another process is writing to it, and this one waits") == 1
    assert (made[0] / COMPLETE).stat().st_ino == card.st_ino


def test_two_processes_at_once(own_world):
    script = (
        "import sys; from pathlib import Path; from entlink.kb.indexes.words import writing as w\n"
        "made = []; whole = w.write_words\n"
        "w.write_words = lambda *a, **k: made.append(1) or whole(*a, **k)\n"
        "print(w.ensure_words(Path(sys.argv[1]), processes=1), len(made))"
    )
    command = [sys.executable, "-c", script, str(own_world)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [process.communicate()[0].split() for process in running]
    assert {folder for folder, _ in outputs} == {str(own_world / "index-1" / "words")}
    assert sum(int(made) for _, made in outputs) == 1


def test_where_nothing_can_be_written_it_is_made_elsewhere(own_world, monkeypatch, caplog):
    def refuse(folder, name, *, wait):
        raise PermissionError(errno.EACCES, "not allowed", str(folder / name))

    monkeypatch.setattr("entlink.kb.indexes.derived.write_lock", refuse)
    with caplog.at_level(logging.WARNING):
        folder = ensure_words(own_world, processes=1)
    assert own_world not in folder.parents
    assert is_complete(folder)
    assert "cannot be written" in caplog.text
    assert not (own_world / "index-1" / "words").exists()
    assert ensure_words(own_world, processes=1) == folder  # for this process it is there


def test_other_troubles_are_not_taken_for_it(own_world, monkeypatch):
    def refuse(folder, name, *, wait):
        raise OSError(errno.ENOSPC, "no space left", str(folder))

    monkeypatch.setattr("entlink.kb.indexes.derived.write_lock", refuse)
    with pytest.raises(OSError, match="no space left"):
        ensure_words(own_world, processes=1)


def test_an_index_of_unknown_kind_is_left_out_with_a_warning(own_world, caplog):
    for name in ("vectors-none", "telepathy"):
        folder = own_world / "index-1" / name
        folder.mkdir()
        card = {"maker": "x", "rows": 0, "entlink": "9", "made": "", "settings": {}, "files": {}}
        (folder / COMPLETE).write_text(json.dumps(card), encoding="utf8")
    ensure_words(own_world, processes=1)
    with caplog.at_level(logging.WARNING):
        reindex(own_world, processes=1)
    assert [one.name for one in derived_indexes(own_world / "index-2")] == ["short", "words"]
    assert [record.message.split(" could")[0].rpartition(" ")[2] for record in caplog.records] == [
        "telepathy",
        "vectors-none",
    ]


def test_a_card_that_cannot_be_read_is_told(own_world):
    folder = ensure_words(own_world, processes=1)
    (folder / COMPLETE).write_text("{", encoding="utf8")
    with pytest.raises(DamagedError, match=r"complete\.json cannot be read"):
        derived_indexes(own_world / "index-1")
    reindex(own_world, processes=1)
    assert [one.name for one in derived_indexes(own_world / "index-2")] == ["short", "words"]


def test_without_the_library_it_says_what_to_install(own_world, monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MissingExtraError, match=r"entlink\[retrieval\]"):
        ensure_words(own_world)
