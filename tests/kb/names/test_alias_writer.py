from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.engine.local import LocalEngine
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.indexes import names as index
from entlink.kb.names import alias_writer
from entlink.kb.names.alias_index import AliasIndex
from entlink.kb.names.alias_writer import partition, shards_for, write_groups, write_tries
from entlink.kb.names.index_rows import BUCKETS, UNLINKED, row, write_rows
from entlink.text.folding import key_of
from knowledge_bases import article, make_kb, write_articles

FORMS = ["Mercury", "mercury", "MERCURY", "Mer-cury", "Mer cury", "Sun", "sun", "北京", "北 京", "C++", "!!!", "'"]
NAMED = st.tuples(st.sampled_from(FORMS), st.integers(1, 6), st.integers(0, 9), st.sampled_from([1, 2, 4, 8, 65, 68]))
SEEN = st.tuples(st.sampled_from(FORMS), st.just(UNLINKED), st.integers(1, 9), st.just(0))


def written(folder, rows, shards: int, processes: int = 1) -> AliasIndex:
    staged = folder / "rows.jsonl"
    write_rows((row(*one) for one in rows), staged)
    engine = LocalEngine(processes=processes, memory="256MB")
    partition(engine, [staged], folder / "partitions" / "names")
    write_tries(engine, folder / "partitions", folder / "index", shards)
    write_groups(engine, folder / "partitions", folder / "index", shards)
    return AliasIndex(folder / "index", shards)


def counted(rows) -> dict[str, dict[str, tuple[int, dict[tuple[int, int], tuple[int, int]]]]]:
    """Key to form to (unlinked, postings by entity and kind), summed up in the plainest way."""
    named = {key_of(form) for form, entity, _, _ in rows if entity != UNLINKED}
    groups: dict = defaultdict(lambda: defaultdict(lambda: [0, {}]))
    for form, entity, count, sources in rows:
        if key_of(form) not in named:
            continue
        place = groups[key_of(form)][form]
        if entity == UNLINKED:
            place[0] += count
        else:
            kind = (entity, sources & (8 | 64))
            before = place[1].get(kind, (0, 0))
            place[1][kind] = (before[0] + count, before[1] | sources)
    return {key: {form: tuple(place) for form, place in forms.items()} for key, forms in groups.items()}


def read(aliases: AliasIndex) -> dict:
    return {
        key: {
            form.text: (form.unlinked, {(e, s & (8 | 64)): (n, s) for e, n, s in form.triples()})
            for form in aliases.group(key)
        }
        for key in aliases.keys("")
    }


@settings(max_examples=12, deadline=None)
@given(rows=st.lists(st.one_of(NAMED, SEEN), max_size=40), shards=st.sampled_from([1, 2, 4]))
def test_groups_are_those_of_a_plain_count(tmp_path_factory, rows, shards):
    aliases = written(tmp_path_factory.mktemp("index"), rows, shards)
    assert read(aliases) == counted(rows)


@pytest.mark.parametrize("shards", [1, 4])
def test_of_many_keys_those_are_known_that_are_there(tmp_path, shards):
    aliases = written(tmp_path, [(name, 1, 1, 8) for name in ("Kettle", "Copper kettle", "Pan")], shards)
    assert list(aliases.known(["pan", "pot", "copper kettle", "copper", ""])) == ["pan", "copper kettle"]


def test_postings_come_most_linked_first_and_by_entity_among_equals(tmp_path):
    rows = [("A", 3, 5, 8), ("A", 1, 5, 8), ("A", 2, 7, 8), ("A", 9, 1, 1)]
    (form,) = written(tmp_path, rows, 1).group("a")
    assert [entity for entity, _, _ in form.triples()] == [2, 1, 3, 9]


def test_a_form_of_too_many_entities_keeps_the_most_linked(tmp_path, monkeypatch):
    monkeypatch.setattr(alias_writer, "MAX_POSTINGS", 3)
    rows = [("A", entity, entity, 8) for entity in range(1, 8)] + [("A", UNLINKED, 99, 0)]
    (form,) = written(tmp_path, rows, 1).group("a")
    assert [entity for entity, _, _ in form.triples()] == [7, 6, 5]
    assert form.unlinked == 99


def test_no_rows_make_an_empty_index(tmp_path):
    assert len(written(tmp_path, [], 1)) == 0


@pytest.mark.parametrize(("keys", "shards"), [(0, 1), (1, 1), (1_500_000, 1), (1_500_001, 2), (20_000_000, 16)])
def test_shards_grow_with_the_keys(keys, shards):
    assert shards_for(keys) == shards


def test_shards_are_a_divisor_of_the_buckets_however_many_keys():
    assert all(BUCKETS % shards_for(10**exponent) == 0 for exponent in range(13))


ROWS = [
    article(f"e{n}", f"Name {n % 37} of thing {n}", f"[[e{n * 7 % 300}|thing {n % 50}]] and Name {n % 9}, thing 3.")
    for n in range(300)
]


@pytest.fixture
def small_pieces(monkeypatch):
    """Several shards and several tasks a step, as a large knowledge base has."""
    monkeypatch.setattr(alias_writer, "KEYS_A_SHARD", 150)
    monkeypatch.setattr(index, "ENTITIES_A_TASK", 100)
    monkeypatch.setattr("entlink.kb.build.source_parts._WORTH_A_POOL", 0)
    monkeypatch.setattr("entlink.sources.part.PART_PAGES", 50)


def test_index_and_counts_are_byte_for_byte_the_same_whatever_the_processes(tmp_path, small_pieces):
    source = write_articles(tmp_path / "rows.jsonl", ROWS)
    files = []
    for name, processes in (("one", 1), ("again", 1), ("two", 2)):
        build([source], tmp_path / f"{name}.kb", BuildOptions(format="articles", processes=processes))
        files.append(bytes_of(tmp_path / f"{name}.kb"))
    assert len([name for name in files[0] if name.endswith(".trie")]) == 4
    assert "counts/base/occurrences.parquet" in files[0]
    assert files[0] == files[1] == files[2]


def bytes_of(folder) -> dict[str, bytes]:
    paths = [path for part in ("counts", "index-1") for path in (folder / part).rglob("*") if path.is_file()]
    dated = "complete.json"  # says when it was made
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.name != dated}


def test_several_shards_mean_the_same_as_one(tmp_path, opened, monkeypatch):
    one = opened(make_kb(tmp_path, ROWS, "one"))
    monkeypatch.setattr(alias_writer, "KEYS_A_SHARD", 150)
    four = opened(make_kb(tmp_path, ROWS, "four"))
    assert (one.alias_index.shards, four.alias_index.shards) == (1, 4)
    assert {key: one.alias_index.group(key) for key in one.alias_index.keys("")} == {
        key: four.alias_index.group(key) for key in four.alias_index.keys("")
    }
