from __future__ import annotations

import shutil
import stat

import numpy
import pytest

from entlink.documents import Entity
from entlink.encoders.dual import PlainDual
from entlink.kb.indexes.vectors.store import EntityVectors, _Memory
from entlink.kb.indexes.vectors.writing import build_vectors
from entlink.kb.store.edits import add, remove
from tiny_encoders import LetterEncoder, LongDual


def nothing(stage, done, total):
    pass


@pytest.fixture
def dual():
    return PlainDual(LetterEncoder())


def texts_of(dual):
    return sum(dual.encoder.calls)


def test_vectors_are_those_of_the_encoder_in_the_order_of_the_keys(own_world, opened, dual):
    kb = opened(own_world)
    keys = [kb.key(id) for id in ("venus", "sun", "venus", "planet")]
    expected = dual.encode_entities([kb.entity(key) for key in keys])
    assert numpy.allclose(EntityVectors(kb, dual).of(keys), expected, atol=1e-3)
    assert EntityVectors(kb, dual).of([]).shape == (0, 64)


def test_what_is_not_there_is_zeros(own_world, opened, dual):
    kb = opened(own_world)
    assert not EntityVectors(kb, dual).of([10_000, -3]).any()


def test_an_entity_is_encoded_once_for_every_process(own_world, opened, dual):
    kb = opened(own_world)
    keys = [kb.key(id) for id in ("venus", "sun")]
    first = EntityVectors(kb, dual).of(keys)
    encoded = texts_of(dual)
    assert numpy.array_equal(EntityVectors(opened(own_world), dual).of(keys), first)
    assert texts_of(dual) == encoded
    assert list((own_world / "vectors").glob("*.sqlite"))


def test_with_an_index_nothing_is_encoded_and_the_vectors_are_the_same(own_world, opened, dual):
    kb = opened(own_world)
    keys = [kb.key(entity.id) for entity in kb]
    before = EntityVectors(kb, dual).of(keys)
    build_vectors(own_world, dual, nothing)
    shutil.rmtree(own_world / "vectors")
    encoded = texts_of(dual)
    assert numpy.allclose(EntityVectors(kb, dual).of(keys), before, atol=1e-6)
    assert texts_of(dual) == encoded
    assert not (own_world / "vectors").exists()


def test_what_changed_since_the_index_is_encoded(own_world, opened, dual):
    build_vectors(own_world, dual, nothing)
    kb = opened(own_world)
    vectors = EntityVectors(kb, dual)
    sun, venus, york = (kb.key(id) for id in ("sun", "venus", "york"))
    before = vectors.of([sun, venus, york])
    add(own_world, [Entity("sun", "Sol", "A star.")], replace=True)
    remove(own_world, ["york"])
    kb.refresh()
    after = vectors.of([sun, venus, york])
    expected = dual.encode_entities([Entity("sun", "Sol", "A star.")])[0]
    assert numpy.allclose(after[0], expected, atol=1e-3)
    assert not numpy.allclose(before[0], expected, atol=1e-1)
    assert numpy.array_equal(after[1], before[1])
    assert not after[2].any()


@pytest.mark.parametrize("indexed", [False, True])
def test_vectors_are_as_of_the_date(own_world, opened, dual, indexed):
    if indexed:
        build_vectors(own_world, dual, nothing)
    key = opened(own_world).key("swazi")
    for date, title in ((None, "Eswatini"), ("2018-04-19", "Eswatini"), ("2018-04-18", "Swaziland")):
        kb = opened(own_world, date=date)
        expected = dual.encode_entities([kb.entity(key)])[0]
        assert kb.entity(key).title == title
        assert numpy.allclose(EntityVectors(kb, dual).of([key])[0], expected, atol=1e-3)


def test_a_folder_that_cannot_be_written_keeps_vectors_in_memory(own_world, opened, dual, caplog, monkeypatch):
    import sqlite3

    def refuse(*arguments, **settings):
        raise sqlite3.OperationalError("attempt to write a readonly database")

    kb = opened(own_world)
    monkeypatch.setattr("entlink.encoders.cache.sqlite3.connect", refuse)
    vectors = EntityVectors(kb, dual)
    key = kb.key("sun")
    assert vectors.of([key]).any()
    encoded = texts_of(dual)
    vectors.forget()
    assert vectors.of([key]).any()
    assert texts_of(dual) == encoded
    assert "kept in memory" in caplog.text
    assert stat.S_ISDIR(own_world.stat().st_mode)


def test_few_vectors_are_kept_in_memory(own_world, opened, dual, monkeypatch):
    monkeypatch.setattr("entlink.kb.indexes.vectors.store._KEPT", 3)
    kb = opened(own_world)
    keys = [kb.key(entity.id) for entity in kb]
    vectors = EntityVectors(kb, dual)
    every = vectors.of(keys)
    assert len(vectors._memory._places) == 3
    assert numpy.array_equal(every, [vectors.of([key])[0] for key in keys])
    assert numpy.array_equal(every[::-1], vectors.of(keys[::-1]))


def test_a_memory_grows_to_its_most():
    memory = _Memory(2, 4)
    for key in range(4):
        memory.put([key], numpy.full((1, 2), key + 1, numpy.float32))
    found, missing = memory.get([3, 0, 9, 9])
    assert found.tolist() == [[4, 4], [1, 1], [0, 0], [0, 0]]
    assert missing == {9: [2, 3]}
    memory.put([7], numpy.ones((1, 2), numpy.float32))
    assert memory.get([0])[1] == {0: [0]}
    memory.put(range(10, 20), numpy.ones((10, 2), numpy.float32))
    assert len(memory._places) == len(memory._rows) == 4


def test_vectors_of_any_length_keep_it_from_a_cache_and_from_an_index(own_world, opened):
    kb, dual = opened(own_world), LongDual(LetterEncoder())
    keys = [kb.key(entity.id) for entity in kb]
    expected = dual.encode_entities([kb.entity(key) for key in keys])
    assert numpy.linalg.norm(expected, axis=1).max() > 5
    for _ in ("encoded", "from the cache"):
        assert numpy.allclose(EntityVectors(kb, dual).of(keys), expected, atol=1e-2)
    build_vectors(own_world, dual, nothing)
    shutil.rmtree(own_world / "vectors")
    assert numpy.allclose(EntityVectors(kb, dual).of(keys), expected, atol=1e-2)
