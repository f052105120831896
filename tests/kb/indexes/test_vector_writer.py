from __future__ import annotations

import json

import numpy
import pytest

from entlink.documents import Entity
from entlink.encoders import dual as duals
from entlink.encoders.dual import PlainDual
from entlink.errors import ConfigError, InputError
from entlink.io.checksums import checksums
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.indexes.derived import derived_folder, is_complete, read_complete
from entlink.kb.indexes.names import reindex
from entlink.kb.indexes.vectors import writing as vector_writer
from entlink.kb.indexes.vectors.index import LIST_FILE, VectorIndex, index_name, open_vectors
from entlink.kb.indexes.vectors.store import EntityVectors
from entlink.kb.indexes.vectors.writing import build_vectors
from entlink.kb.store.edits import add, remove
from tiny_encoders import LetterEncoder


def nothing(stage, done, total):
    pass


@pytest.fixture(autouse=True)
def named_encoders(monkeypatch):
    """`letters` is the name of an encoder."""
    monkeypatch.setattr("entlink.encoders.loading.load_encoder", lambda spec: LetterEncoder(name=spec))


@pytest.fixture
def dual():
    return duals.load_dual("letters")


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(vector_writer, "_BLOCK", 4)
    monkeypatch.setattr(vector_writer, "_BATCH", 3)


def words(number):
    return (
        f"{['red', 'green', 'blue', 'old'][number % 4]} {['lamp', 'chair', 'desk'][number % 3]} {number * 7919 % 613}"
    )


def many(folder, count, first=0):
    table = folder / f"many-{first}-{count}.jsonl"
    rows = (
        {"id": str(n), "title": words(n), "description": f"A {words(n * 31)}."} for n in range(first, first + count)
    )
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    build([table], folder / "many.kb", BuildOptions(processes=1, count_text=False))
    return folder / "many.kb"


def files_of(folder):
    return {name: digest for name, digest in checksums(folder).items() if name != "complete.json"}


def test_every_version_has_a_row(own_world, opened, dual):
    card = build_vectors(own_world, dual, nothing)
    kb = opened(own_world)
    index = open_vectors(kb, dual)
    assert card.rows == len(index) == 11
    assert (index.rows.keys == kb.key("swazi")).sum() == 2
    assert card.settings["identity"] == dual.entity_identity
    assert card.settings["dimension"] == 64
    assert not (index.folder / LIST_FILE).exists()
    assert [path.name for path in kb.index_folder.iterdir() if path.name.startswith("unfinished")] == []


def test_an_index_that_is_there_is_not_made_again(own_world, dual):
    first = build_vectors(own_world, dual, nothing)
    encoded = list(dual.encoder.calls)
    assert build_vectors(own_world, dual, nothing) == first
    assert dual.encoder.calls == encoded


def test_blocks_make_no_difference(own_world, opened, dual, small_blocks, monkeypatch):
    build_vectors(own_world, dual, nothing)
    folder = derived_folder(opened(own_world), index_name(dual))
    before = files_of(folder)
    monkeypatch.undo()
    (folder / "complete.json").unlink()
    build_vectors(own_world, dual, nothing)
    assert files_of(folder) == before


@pytest.mark.parametrize("killed_at", [1, 2, 3, 4])
def test_an_interrupted_run_goes_on_where_it_stopped(own_world, opened, dual, small_blocks, killed_at):
    class Killed(LetterEncoder):
        def encode(self, texts):
            if len(self.calls) == killed_at:
                raise KeyboardInterrupt
            return super().encode(texts)

    kb = opened(own_world)
    folder = derived_folder(kb, index_name(dual))
    with pytest.raises(KeyboardInterrupt):
        build_vectors(own_world, PlainDual(Killed()), nothing)
    assert not is_complete(folder)
    assert open_vectors(kb, dual) is None
    build_vectors(own_world, dual, nothing)
    resumed, encoded = files_of(folder), sum(dual.encoder.calls)
    (folder / "complete.json").unlink()
    fresh = duals.load_dual("letters")
    build_vectors(own_world, fresh, nothing)
    assert files_of(folder) == resumed
    if killed_at > 2:  # calls; a block of four has two
        assert encoded < sum(fresh.encoder.calls)


def test_progress_goes_from_nothing_to_all(own_world, dual, small_blocks):
    told = []
    build_vectors(own_world, dual, lambda *report: told.append(report))
    assert {stage for stage, _, _ in told} == {"encoding entities"}
    done = [done for _, done, _ in told]
    assert done == sorted(done)
    assert (done[0], done[-1], told[0][2]) == (0, 10, 10)


def test_a_knowledge_base_without_entities(tmp_path, opened, dual):
    table = tmp_path / "none.jsonl"
    table.write_text("")
    build([table], tmp_path / "none.kb", BuildOptions(format="jsonl", processes=1))
    assert build_vectors(tmp_path / "none.kb", dual, nothing).rows == 0
    kb = opened(tmp_path / "none.kb")
    index = open_vectors(kb, dual)
    assert index.rows.rows_of(kb, [1, 2]).tolist() == [-1, -1]
    assert [list(rows) for rows, _ in index.search(kb, numpy.ones((2, 64), numpy.float32), 3)] == [[], []]


@pytest.mark.parametrize("flat", [True, False])
def test_an_index_made_anew_is_as_one_made_from_scratch(tmp_path, opened, dual, monkeypatch, small_blocks, flat):
    if not flat:
        monkeypatch.setattr(vector_writer, "FLAT", 100)
        monkeypatch.setattr(vector_writer, "_LISTS", 8)
    folder = many(tmp_path, 150)
    build_vectors(folder, dual, nothing)
    add(folder, [Entity("7", "A new seven"), Entity("new", "Quite new", "Never seen.")], replace=True)
    remove(folder, ["9", "149"])
    asked = []
    monkeypatch.setattr(LetterEncoder, "encode", _counting(LetterEncoder.encode, asked))
    reindex(folder, processes=1)
    assert sum(asked) == 4 - 1  # two titles, one with a description
    kb = opened(folder)
    renewed = derived_folder(kb, index_name(dual))
    assert renewed.parent.name == "index-2"
    before = files_of(renewed)
    assert (LIST_FILE in before) is not flat
    (renewed / "complete.json").unlink()
    build_vectors(folder, dual, nothing)
    assert files_of(renewed) == before
    assert sum(asked) > 200


def _counting(encode, asked):
    def counted(self, texts):
        asked.append(len(texts))
        return encode(self, texts)

    return counted


def test_what_was_encoded_for_searching_is_not_encoded_again(own_world, opened, dual, monkeypatch):
    build_vectors(own_world, dual, nothing)
    add(own_world, [Entity("new", "Quite new", "Never seen.")])
    kb = opened(own_world)
    key = kb.key("new")
    before = EntityVectors(kb, dual).of([key])
    asked = []
    monkeypatch.setattr(LetterEncoder, "encode", _counting(LetterEncoder.encode, asked))
    reindex(own_world, processes=1)
    kb.refresh()
    assert asked == []
    assert numpy.allclose(EntityVectors(kb, dual).of([key]), before, atol=1e-6)


def test_versions_of_a_changed_entity_are_made_anew(own_world, opened, dual):
    from entlink.sources import Page

    build_vectors(own_world, dual, nothing)
    add(own_world, [Page(Entity("swazi", "New Eswatini"), valid_from="2030-01-01")])
    reindex(own_world, processes=1)
    kb = opened(own_world)
    index = open_vectors(kb, dual)
    assert (index.rows.keys == kb.key("swazi")).sum() == 3
    for date in ("2010", "2020", "2031"):
        then = opened(own_world, date=date)
        row = index.rows.rows_of(then, [kb.key("swazi")])
        expected = dual.encode_entities([then.get("swazi")])
        assert numpy.allclose(index.vectors(row), expected, atol=1e-3)


def test_without_edits_no_encoder_is_needed_to_make_it_anew(own_world, opened, dual, monkeypatch):
    build_vectors(own_world, dual, nothing)
    monkeypatch.setattr("entlink.encoders.loading.load_encoder", None)
    reindex(own_world, processes=1)
    assert open_vectors(opened(own_world), dual) is not None


def test_an_encoder_that_has_changed_leaves_the_index_out_and_says_so(own_world, opened, dual, monkeypatch, caplog):
    build_vectors(own_world, dual, nothing)
    add(own_world, [Entity("new", "New")])
    monkeypatch.setattr("entlink.encoders.loading.load_encoder", lambda spec: LetterEncoder(32, name=spec))
    reindex(own_world, processes=1)
    assert open_vectors(opened(own_world), dual) is None
    assert "made with the encoder" in caplog.text
    assert "--vectors letters" in caplog.text


def test_an_encoder_given_as_an_object_leaves_the_index_out_and_says_so(own_world, opened, caplog):
    dual = PlainDual(LetterEncoder(name="own"))
    build_vectors(own_world, dual, nothing)
    add(own_world, [Entity("new", "New")])
    reindex(own_world, processes=1)
    assert open_vectors(opened(own_world), dual) is None
    assert "cannot be loaded again" in caplog.text


def test_vectors_that_are_no_numbers_stop_it(own_world, opened, dual):
    dual.encoder.encode = lambda texts: numpy.full((len(texts), 64), numpy.inf, numpy.float32)
    with pytest.raises(InputError, match="'letters' gave no numbers"):
        build_vectors(own_world, dual, nothing)
    assert not is_complete(derived_folder(opened(own_world), index_name(dual)))


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_encoded(own_world, dual, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(InputError, match=r"own\.kb: cannot be written"):
        build_vectors(own_world, dual, nothing)
    assert dual.encoder.calls == []


def test_lists_are_the_same_whenever_they_are_made(tmp_path, opened, dual, monkeypatch):
    monkeypatch.setattr(vector_writer, "FLAT", 100)
    monkeypatch.setattr(vector_writer, "_LISTS", 8)
    folder = many(tmp_path, 300)
    build_vectors(folder, dual, nothing)
    target = derived_folder(opened(folder), index_name(dual))
    before = files_of(target)
    (target / "complete.json").unlink()
    build_vectors(folder, dual, nothing)
    assert files_of(target) == before
    assert read_complete(target).settings["samples"].keys() == {"vectors.npy", "lists.faiss"}


def test_an_index_of_another_encoder_is_told_with_what_to_run(own_world, opened, dual):
    build_vectors(own_world, dual, nothing)
    folder = derived_folder(opened(own_world), index_name(dual))
    other = PlainDual(LetterEncoder(32, "others"))
    with pytest.raises(ConfigError, match=r"'letters' \(64 numbers, .* is 'others' \(32 numbers, .*--vectors others"):
        VectorIndex(folder, other)
