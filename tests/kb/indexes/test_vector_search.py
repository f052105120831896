"""Searching by vectors, held against comparing with every entity."""

from __future__ import annotations

import json
import random
import shutil

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entlink.documents import Entity
from entlink.encoders.dual import PlainDual
from entlink.errors import ConfigError, DamagedError
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.indexes.names import reindex
from entlink.kb.indexes.vectors import index as vector_index
from entlink.kb.indexes.vectors import writing as vector_writer
from entlink.kb.indexes.vectors.index import LIST_FILE, VECTOR_FILE, open_vectors
from entlink.kb.indexes.vectors.search import VectorSearch
from entlink.kb.indexes.vectors.store import rounded
from entlink.kb.indexes.vectors.writing import build_vectors
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add, remove
from entlink.sources import Page
from tiny_encoders import LetterEncoder, LongDual

TYPES = ("lamp", "chair", "desk")
COLOURS = ("red", "green", "blue", "old", "new", "broken")


def nothing(stage, done, total):
    pass


def words(number):
    some = random.Random(number)
    return f"{some.choice(COLOURS)} {some.choice(TYPES)} {some.randrange(10**6)}"


def rows(count):
    for number in range(count):
        row = {"id": str(number), "title": words(number), "types": [TYPES[number % 3]]}
        if number % 5 == 0:
            row |= {"valid_to": "2010-01-01"}
            yield row
            row = row | {"title": words(number + 10**6), "valid_from": "2010-01-01"}
            row.pop("valid_to")
        yield row


@pytest.fixture(scope="module")
def dual():
    return PlainDual(LetterEncoder(32))


@pytest.fixture(scope="module")
def made(tmp_path_factory, dual):
    """A knowledge base with dated versions and types, and an index over its vectors."""
    folder = tmp_path_factory.mktemp("vectors")
    table = folder / "many.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows(300)))
    build([table], folder / "many.kb", BuildOptions(processes=1, count_text=False))
    build_vectors(folder / "many.kb", dual, nothing)
    return folder / "many.kb"


@pytest.fixture
def own(made, tmp_path):
    return shutil.copytree(made, tmp_path / "own.kb")


@pytest.fixture(scope="module")
def queries(dual):
    return dual.encoder.encode([words(number) for number in range(500, 600)])


def oracle(kb, dual, queries, limit, types=frozenset()):
    """The nearest of all entities; types are those of today, whatever the date."""
    typed = kb.keys_of_types(types)
    entities = [entity for entity in kb if not types or kb.key(entity.id) in typed]
    keys = [kb.key(entity.id) for entity in entities]
    if not keys:
        return [[] for _ in queries]
    vectors = rounded(rounded(dual.encode_entities(entities), dual), dual)  # in the cache, and in the index
    found = []
    for query in queries:
        products = vectors @ query
        best = numpy.lexsort((keys, -products))[:limit]
        found.append([(keys[row], float(products[row])) for row in best])
    return found


def assert_same(found, expected):
    """The same scores; and the same entities, but that those of equal scores may change places."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert [score for _, score in one] == pytest.approx([score for _, score in other], rel=1e-6, abs=1e-6)
        clear = [key for key, score in other if score > other[-1][1] + 1e-5]
        assert {key for key, _ in one} >= set(clear)
        assert len({key for key, _ in one}) == len(one)


@pytest.mark.parametrize(
    "types", [frozenset(), frozenset({"lamp"}), frozenset({"lamp", "desk"}), frozenset({"none"})]
)
@pytest.mark.parametrize("date", [None, "2005-01-01", "2010-01-01", "2020-01-01"])
def test_search_is_as_comparing_with_all(made, opened, dual, queries, types, date):
    kb = opened(made, date=date)
    assert_same(VectorSearch(kb, dual).search(queries, 10, types), oracle(kb, dual, queries, 10, types))


@pytest.mark.parametrize("limit", [1, 299, 300, 1000])
def test_any_number_may_be_asked_for(made, opened, dual, queries, limit):
    kb = opened(made)
    found = VectorSearch(kb, dual).search(queries[:5], limit)
    assert_same(found, oracle(kb, dual, queries[:5], limit))


def test_queries_of_zeros_find_nothing(made, opened, dual, queries):
    search = VectorSearch(opened(made), dual)
    mixed = numpy.array([queries[0], numpy.zeros(32), queries[1]], numpy.float32)
    found = search.search(mixed, 5)
    assert found[1] == []
    assert [found[0], found[2]] == search.search(queries[:2], 5)
    assert search.search(numpy.zeros((0, 32), numpy.float32), 5) == []


def test_a_query_finds_the_same_alone(made, opened, dual, queries):
    search = VectorSearch(opened(made), dual)
    together = search.search(queries, 10)
    assert [search.search(queries[row : row + 1], 10)[0] for row in range(len(queries))] == together


def edit(folder, seed):
    some = random.Random(seed)
    changed = [Entity(str(n), words(some.randrange(10**9)), types=(some.choice(TYPES),)) for n in range(0, 60, 3)]
    added = [Entity(f"new {n}", words(some.randrange(10**9)), types=(TYPES[n % 3],)) for n in range(30)]
    dated = [Page(Entity("4", "a later lamp", types=("lamp",)), valid_from="2015-01-01")]
    add(folder, [*changed, *added], replace=True)
    add(folder, dated)
    remove(folder, [str(n) for n in range(200, 240)])


@pytest.mark.parametrize("types", [frozenset(), frozenset({"lamp"})])
@pytest.mark.parametrize("date", [None, "2005-01-01", "2016-01-01"])
def test_edits_count_at_once_and_an_index_made_anew_finds_the_same(
    own, opened, dual, queries, types, date, monkeypatch
):
    monkeypatch.setattr("entlink.encoders.loading.load_encoder", lambda spec: LetterEncoder(32))
    kb = opened(own, date=date)
    search = VectorSearch(kb, dual)
    search.search(queries[:3], 10, types)
    edit(own, 1)
    kb.refresh()
    before = search.search(queries, 10, types)
    assert_same(before, oracle(kb, dual, queries, 10, types))
    monkeypatch.setattr(vector_writer, "load_recipe", lambda recipe: dual)
    reindex(own, processes=1)
    kb.refresh()
    assert not kb.changed_keys
    assert_same(search.search(queries, 10, types), before)


def test_an_index_may_come_while_one_searches(own, opened, dual, queries):
    kb = opened(own)
    other = PlainDual(LetterEncoder(16))
    search = VectorSearch(kb, other)
    assert not search.is_ready
    with pytest.raises(
        ConfigError, match=r"no index over vectors of 'letters' \(16 numbers.*there is one of 'letters'"
    ):
        search.search(queries[:, :16], 3)
    build_vectors(own, other, nothing)
    assert search.is_ready
    assert len(search.search(queries[:1, :16], 3)[0]) == 3


@pytest.fixture
def with_lists(made, tmp_path, dual, monkeypatch):
    """The same with lists around centres, all of which are searched."""
    monkeypatch.setattr(vector_writer, "FLAT", 100)
    monkeypatch.setattr(vector_writer, "_LISTS", 8)
    monkeypatch.setattr(vector_index, "_FEW", 0)
    folder = shutil.copytree(made, tmp_path / "lists.kb")
    shutil.rmtree(next((folder / "index-1").glob("vectors-*")))
    build_vectors(folder, dual, nothing)
    return folder


@pytest.mark.parametrize("types", [frozenset(), frozenset({"lamp"}), frozenset({"none"})])
@pytest.mark.parametrize("date", [None, "2005-01-01"])
def test_lists_find_what_comparing_finds(with_lists, opened, dual, queries, types, date):
    edit(with_lists, 2)
    kb = opened(with_lists, date=date)
    index = open_vectors(kb, dual)
    assert (index.folder / LIST_FILE).exists()
    found = VectorSearch(kb, dual).search(queries, 10, types)
    expected = oracle(kb, dual, queries, 10, types)
    same = sum(len(set(one) & set(other)) for one, other in zip(_keys(found), _keys(expected), strict=True))
    assert same >= 0.99 * sum(map(len, expected))
    for one, other in zip(found, expected, strict=True):
        scores = dict(other)
        assert all(score == pytest.approx(scores[key], abs=1e-5) for key, score in one if key in scores)
        assert len(one) == len(other)


def _keys(found):
    return [[key for key, _ in one] for one in found]


@pytest.mark.parametrize("name", [VECTOR_FILE, LIST_FILE])
@pytest.mark.parametrize("damage", ["cut", "altered", "gone"])
def test_a_damaged_file_is_told(with_lists, opened, dual, name, damage):
    path = next((with_lists / "index-1").glob(f"vectors-*/{name}"))
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[:-100])
    elif damage == "altered":
        path.write_bytes(content[:-100] + bytes(100))
    else:
        path.unlink()
    with pytest.raises(DamagedError, match=f"{name}.*--vectors"):
        open_vectors(opened(with_lists), dual)


def test_lists_that_are_none_are_told(with_lists, opened, dual, queries, monkeypatch):
    next((with_lists / "index-1").glob(f"vectors-*/{LIST_FILE}")).write_bytes(b"no lists at all")
    monkeypatch.setattr(vector_index, "check_samples", lambda folder, expected: None)
    with pytest.raises(DamagedError, match="cannot be read"):
        VectorSearch(opened(with_lists), dual).search(queries, 3)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_rows_of_keys_are_those_that_hold(made, data):
    date = data.draw(st.sampled_from([None, "2001-01-01", "2010-01-01", "2030-01-01"]))
    keys = data.draw(st.lists(st.integers(-5, 400), max_size=20))
    with KnowledgeBase.open(made, date=date) as kb:
        index = open_vectors(kb, PlainDual(LetterEncoder(32)))
        mask = index.rows.findable(kb)
        for key, row in zip(keys, index.rows.rows_of(kb, keys).tolist(), strict=True):
            own = [place for place in numpy.flatnonzero(index.rows.keys == key) if mask[place]]
            assert own == ([row] if row >= 0 else [])


@pytest.mark.parametrize("flat", [10, 50_000])
def test_vectors_of_any_length_are_compared_by_their_products(own, opened, queries, monkeypatch, flat):
    monkeypatch.setattr(vector_writer, "FLAT", flat)
    monkeypatch.setattr(vector_writer, "_LISTS", 4)
    monkeypatch.setattr(vector_index, "_FEW", flat)
    dual = LongDual(LetterEncoder(32))
    build_vectors(own, dual, nothing)
    add(own, [Entity("fresh", "a very long red lamp of many words 17"), Entity("short", "lamp")])
    kb = opened(own)
    expected = oracle(kb, dual, 3 * queries, 10)
    assert_same(VectorSearch(kb, dual).search(3 * queries, 10), expected)
    assert max(score for found in expected for _, score in found) > 3
    assert "fresh" in {kb.head(key)[0] for found in expected for key, _ in found}
