from __future__ import annotations

import pytest

from entlink.engine.local import ignore_progress
from entlink.errors import SourceError
from entlink.kb import ingest as module
from entlink.kb.ingest import ingest
from entlink.kb.store import Store
from entlink.kb.writing import create_store
from entlink.sources import open_source
from knowledge_bases import article, write_articles

ROWS = [article(f"e{number}", f"Entity {number}", f"[[e{number}|it]] and it") for number in range(10)]


@pytest.fixture
def store(tmp_path):
    (tmp_path / "work").mkdir()
    create_store(tmp_path / "work")
    store = Store(tmp_path / "work", writable=True)
    yield store
    store.close()


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(module, "CHUNK_PAGES", 3)


def taken_in(store, path, rows=ROWS, *, skip: bool = False):
    source = open_source(
        write_articles(path / "rows.jsonl", rows), format="articles", on_error="skip" if skip else "stop"
    )
    return ingest(store, [source], path / "links", ignore_progress, skip=skip)


def test_everything_is_read_in_chunks(store, tmp_path):
    checkpoint = taken_in(store, tmp_path)
    assert (checkpoint.read, checkpoint.chunks, checkpoint.skipped) == ([10], 4, [0])
    assert store.count() == 10
    assert len(list((tmp_path / "links").iterdir())) == 4


def test_reading_goes_on_after_the_last_chunk_that_was_committed(store, tmp_path, monkeypatch):
    real, calls = module.write_rows, []

    def fail_at_the_third(rows, path) -> None:
        calls.append(path.name)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        real(rows, path)

    monkeypatch.setattr(module, "write_rows", fail_at_the_third)
    with pytest.raises(OSError, match="No space left"):
        taken_in(store, tmp_path)
    assert store.count() == 6
    checkpoint = taken_in(store, tmp_path)
    assert (checkpoint.read, store.count()) == ([10], 10)
    assert calls == [f"links-00000{number}.jsonl" for number in (0, 1, 2, 2, 3)]


def test_a_finished_reading_is_not_done_again(store, tmp_path):
    first = taken_in(store, tmp_path)
    assert taken_in(store, tmp_path) == first
    assert store.count() == 10


def test_a_doubled_id_rolls_its_chunk_back(store, tmp_path):
    rows = [*ROWS[:4], ROWS[1]]
    with pytest.raises(SourceError, match="record 5"):
        taken_in(store, tmp_path, rows)
    assert store.count() == 3


def test_doubled_ids_are_skipped_and_counted(store, tmp_path):
    checkpoint = taken_in(store, tmp_path, [*ROWS[:4], ROWS[1], ROWS[2], ROWS[9]], skip=True)
    assert store.count() == 5
    assert checkpoint.skipped == [2]
    assert ["record 5" in problem or "record 6" in problem for problem in checkpoint.problems] == [True, True]


def test_chunks_are_bounded_by_their_text_too(store, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_CHARACTERS", 20)
    assert taken_in(store, tmp_path).chunks > 4


def test_links_of_white_space_are_none(store, tmp_path):
    row = article("a", "A", "")
    row["paragraphs"] = [{"text": "a   b", "links": [[1, 3, "a"], [0, 5, "a"]]}]
    taken_in(store, tmp_path, [row])
    assert '"f":"a b"' in (tmp_path / "links" / "links-000000.jsonl").read_text()
    assert (tmp_path / "links" / "links-000000.jsonl").read_text().count("\n") == 1
