from __future__ import annotations

from collections import Counter

import duckdb
import pytest

from entlink.engine.local import LocalEngine
from entlink.engine.protocol import ParquetFiles
from entlink.kb.build.count_links import LinkTotals
from entlink.kb.indexes.names import reindex
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.counts import ANCHORS, anchor_rows, counts_folder, linked_surfaces, occurrence_rows
from entlink.kb.names.index_rows import UNLINKED
from knowledge_bases import WORLD


def read(path) -> list[tuple]:
    return duckdb.execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchall()


@pytest.fixture
def base(world_folder):
    return world_folder / "counts" / "base"


@pytest.fixture
def ids(world):
    return {key: world.head(key)[0] for key in range(1, len(world) + 1)}


def links():
    for row in WORLD:
        for paragraph in row["paragraphs"]:
            for start, end, target in paragraph["links"]:
                yield row["id"], paragraph["text"][start:end], target


def test_anchors_are_the_links_counted(base, ids):
    expected = Counter((surface, target) for _, surface, target in links())
    assert {(surface, ids[key]): count for surface, key, count in read(base / "anchors.parquet")} == expected


def test_the_graph_is_who_links_to_whom(base, ids):
    expected = Counter((origin, target) for origin, _, target in links())
    found = {(ids[origin], ids[target]): count for origin, target, count in read(base / "graph.parquet")}
    assert found == expected


def test_counts_are_sorted_integers(base):
    for name in ("anchors", "graph", "occurrences"):
        rows = read(base / f"{name}.parquet")
        assert rows == sorted(
            rows, key=lambda row: [str(part).encode() if isinstance(part, str) else part for part in row]
        )
        assert all(type(row[-1]) is int and row[-1] > 0 for row in rows)


def test_rows_for_the_index(world_folder):
    anchors = list(anchor_rows(LocalEngine(), world_folder))
    assert sum(row.n for row in anchors) == sum(1 for _ in links())
    assert {row.s for row in anchors} == {8}
    assert {row.e for row in occurrence_rows(LocalEngine(), world_folder)} == {UNLINKED}


def test_counts_that_were_not_made_are_no_rows(tmp_path):
    assert list(anchor_rows(LocalEngine(), tmp_path)) == []
    assert list(occurrence_rows(LocalEngine(), tmp_path)) == []


def test_a_snapshot_has_its_own_counts(own_world):
    engine, base = LocalEngine(), counts_folder(own_world)
    other = counts_folder(own_world, "2021")
    other.mkdir()
    with engine.sql() as session:
        session.view("anchors", ParquetFiles([base / ANCHORS]))
        session.write("SELECT surface, entity, count + 1000 AS count FROM anchors WHERE entity = 1", other / ANCHORS)
    rows = list(anchor_rows(engine, own_world, "2021"))
    assert {row.e for row in rows} == {1}
    assert all(row.n > 1000 for row in rows)
    assert {row.f for row in rows} == set(linked_surfaces(engine, own_world, 1, 99, "2021"))
    assert list(linked_surfaces(engine, own_world, 2, 99, "2021")) == []
    reindex(own_world, snapshot="2021")
    with KnowledgeBase(own_world) as kb:
        assert max(name.support for row in rows for name in kb.aliases(row.f)) > 1000


@pytest.mark.parametrize(("resolved", "pairs", "mean"), [(0, 0, 0), (10, 4, 2), (11, 4, 3), (1, 3, 0)])
def test_the_links_of_an_average_name(resolved, pairs, mean):
    assert LinkTotals(resolved, 0, pairs).mean() == mean
