"""Counts as immutable Parquet files under `counts/<snapshot>/`: integers only, divided on reading.

- `anchors.parquet`: surface, entity, count: how often the surface links to the entity
- `graph.parquet`: origin, target, count: how often one entity's text links to another
- `occurrences.parquet`: surface, count: how often the surface stands in the texts unlinked
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from entlink.engine.local import literal, literals, sql
from entlink.kb.names import NameSource
from entlink.kb.staging import COLUMNS, UNLINKED, Row, row, write_rows
from entlink.kb.store import Store

BASE = "base"
_FETCH = 20_000
_LINKS = "{o: 'VARCHAR', f: 'VARCHAR', t: 'VARCHAR', n: 'BIGINT'}"


class LinkTotals(msgspec.Struct):
    """What became of the links of a build."""

    resolved: int = 0
    unresolved: int = 0
    pairs: int = 0

    def mean(self) -> int:
        """Links an average (surface, entity) pair has: the weight of an entity added later."""
        return round(self.resolved / self.pairs) if self.pairs else 0


class _Resolved(msgspec.Struct):
    t: str
    e: int


def write_link_counts(store: Store, staged: list[Path], folder: Path, work: Path, *, memory: str) -> LinkTotals:
    """Resolve the staged links' ends and write `anchors.parquet` and `graph.parquet`."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [path for path in staged if path.stat().st_size]
    with sql(work, memory=memory) as connection:
        source = f"read_json({literals(files)}, columns={_LINKS}, format='newline_delimited')"
        empty = "(SELECT ''::VARCHAR AS o, ''::VARCHAR AS f, ''::VARCHAR AS t, 0::BIGINT AS n WHERE false)"
        connection.execute(f"CREATE VIEW links AS SELECT * FROM {source if files else empty}")
        _load_resolved(connection, store, work / "resolved.jsonl")
        copy_to_parquet(
            connection,
            "SELECT f AS surface, e AS entity, sum(n)::BIGINT AS count FROM links JOIN resolved USING (t) "
            "GROUP BY f, e ORDER BY f, e",
            folder / "anchors.parquet",
        )
        copy_to_parquet(
            connection,
            "SELECT origins.e AS origin, targets.e AS target, sum(n)::BIGINT AS count FROM links "
            "JOIN resolved origins ON origins.t = o JOIN resolved targets ON targets.t = links.t "
            "GROUP BY origins.e, targets.e ORDER BY origins.e, targets.e",
            folder / "graph.parquet",
        )
        (links,) = _one(connection, "SELECT coalesce(sum(n), 0) FROM links")
        totals = read_totals(connection, folder, 0)
        totals.unresolved = int(links) - totals.resolved
        return totals


def _load_resolved(connection: duckdb.DuckDBPyConnection, store: Store, path: Path) -> None:
    """A table from every id or title that links name to its entity's key."""
    ids = connection.cursor()
    ids.execute("SELECT o FROM links UNION SELECT t FROM links")
    write_rows(_resolutions(ids, store), path)
    columns = "{t: 'VARCHAR', e: 'BIGINT'}"
    connection.execute(
        "CREATE TEMP TABLE resolved AS SELECT * FROM "
        f"read_json({literal(path)}, columns={columns}, format='newline_delimited')"
    )


def _resolutions(ids: duckdb.DuckDBPyConnection, store: Store) -> Iterator[_Resolved]:
    while rows := ids.fetchmany(_FETCH):
        for (id,) in rows:
            key = store.resolve(id)
            if key is not None:
                yield _Resolved(id, key)


def copy_to_parquet(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """Write the rows of a query; the file appears when it is complete."""
    partial = path.with_name(f"{path.name}.partial")
    connection.execute(f"COPY ({query}) TO {literal(partial)} (FORMAT parquet, COMPRESSION zstd)")
    partial.replace(path)


def read_totals(connection: duckdb.DuckDBPyConnection, folder: Path, unresolved: int) -> LinkTotals:
    """Add up `anchors.parquet`."""
    anchors = literal(folder / "anchors.parquet")
    pairs, resolved = _one(connection, f"SELECT count(*), coalesce(sum(count), 0) FROM read_parquet({anchors})")
    return LinkTotals(int(resolved), unresolved, int(pairs))


def _one(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[int, ...]:
    found = connection.execute(query).fetchone()
    assert found is not None
    return tuple(found)


def write_occurrences(staged: list[Path], folder: Path, work: Path, *, memory: str) -> None:
    """Add up the staged unlinked occurrences into `occurrences.parquet`."""
    files = [path for path in staged if path.stat().st_size]
    if not files:
        return
    with sql(work, memory=memory) as connection:
        copy_to_parquet(
            connection,
            "SELECT f AS surface, sum(n)::BIGINT AS count FROM "
            f"read_json({literals(files)}, columns={COLUMNS}, format='newline_delimited') GROUP BY f ORDER BY f",
            folder / "occurrences.parquet",
        )


def anchor_rows(folder: Path) -> Iterator[Row]:
    """The links as rows of the alias index."""
    for surface, entity, count in _read(folder / "anchors.parquet", "surface, entity, count"):
        yield row(surface, entity, count, int(NameSource.ANCHOR))


def occurrence_rows(folder: Path) -> Iterator[Row]:
    """The unlinked occurrences as rows of the alias index."""
    for surface, count in _read(folder / "occurrences.parquet", "surface, count"):
        yield row(surface, UNLINKED, count, 0)


def _read(path: Path, columns: str) -> Iterator[tuple[Any, ...]]:
    if not path.exists():
        return
    with sql() as connection:
        connection.execute(f"SELECT {columns} FROM read_parquet({literal(path)})")
        while rows := connection.fetchmany(_FETCH):
            yield from rows
