"""Counts as immutable Parquet files under `counts/<snapshot>/`: integers only, divided on reading.

- `anchors.parquet`: surface, entity, count: how often the surface links to the entity
- `graph.parquet`: origin, target, count: how often one entity's text links to another
- `occurrences.parquet`: surface, count: how often the surface stands in the texts unlinked
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from entlink.engine.local import copy_to_parquet, fetched, literal, literals, number, sql
from entlink.kb.ingest import KEYS
from entlink.kb.names import NameSource
from entlink.kb.parts import LINKS, TITLES
from entlink.kb.staging import COLUMNS, UNLINKED, Row, row, write_rows
from entlink.kb.store import Store

BASE = "base"
_LINKS = "{p: 'BIGINT', r: 'BIGINT', f: 'VARCHAR', t: 'VARCHAR', n: 'BIGINT', u: 'BOOLEAN'}"
_STORED = "{p: 'BIGINT', r: 'BIGINT', e: 'BIGINT'}"
_TITLES = "{p: 'BIGINT', r: 'BIGINT', t: 'VARCHAR', w: 'VARCHAR', i: 'BIGINT'}"


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


def write_link_counts(store: Store, parts: Sequence[Path], redirects: Path, work: Path, *, memory: str) -> LinkTotals:
    """Resolve the staged links' ends and write `anchors.parquet` and `graph.parquet`.

    A link of a wiki names a title, by way of `redirects` where that file is; any other may name an id as well.
    """
    folder = store.folder / "counts" / BASE
    folder.mkdir(parents=True, exist_ok=True)
    with sql(work, memory=memory) as connection:
        _view(connection, "staged_links", _LINKS, [part / LINKS for part in parts])
        _view(connection, "stored", _STORED, [part / KEYS for part in parts])
        _view(connection, "titles", _TITLES, [part / TITLES for part in parts])
        # A page that did not go into the store, such as a double, has no links either.
        connection.execute(
            "CREATE TABLE links AS SELECT stored.e AS o, f, t, n, u FROM staged_links JOIN stored USING (p, r)"
        )
        _resolve(connection, store, redirects, work / "resolved.jsonl")
        copy_to_parquet(
            connection,
            "SELECT f AS surface, e AS entity, sum(n)::BIGINT AS count FROM links JOIN resolved USING (t, u) "
            "GROUP BY f, e ORDER BY f, e",
            folder / "anchors.parquet",
        )
        copy_to_parquet(
            connection,
            "SELECT o AS origin, e AS target, sum(n)::BIGINT AS count FROM links JOIN resolved USING (t, u) "
            "GROUP BY o, e ORDER BY o, e",
            folder / "graph.parquet",
        )
        totals = read_totals(connection, folder, 0)
        totals.unresolved = number(connection, "SELECT coalesce(sum(n), 0) FROM links") - totals.resolved
        return totals


def _view(connection: duckdb.DuckDBPyConnection, name: str, columns: str, paths: Sequence[Path]) -> None:
    """JSON lines as a view; with no files one without rows."""
    files = [path for path in paths if path.exists() and path.stat().st_size]
    fields = columns.strip("{}").split(", ")
    empty = ", ".join("NULL::{1} AS {0}".format(*field.replace("'", "").split(": ")) for field in fields)
    source = f"read_json({literals(files)}, columns={columns}, format='newline_delimited')"
    query = f"SELECT * FROM {source}" if files else f"SELECT {empty} WHERE false"
    connection.execute(f"CREATE TEMP VIEW {name} AS {query}")


def _resolve(connection: duckdb.DuckDBPyConnection, store: Store, redirects: Path, path: Path) -> None:
    """A table from everything that links name to the key of its entity."""
    redirected = f"SELECT source, target FROM read_parquet({literal(redirects)})" if redirects.exists() else ""
    connection.execute(
        "CREATE TEMP TABLE titled AS SELECT t, min(e) AS e FROM titles JOIN stored USING (p, r) GROUP BY t"
    )
    if redirected:
        connection.execute(
            f"INSERT INTO titled SELECT source, e FROM ({redirected}) JOIN titled ON t = target "
            "WHERE source NOT IN (SELECT t FROM titled)"
        )
    ids = connection.cursor()
    ids.execute("SELECT DISTINCT t FROM links WHERE NOT u")
    write_rows(_resolutions(ids, store), path)
    _view(connection, "found", "{t: 'VARCHAR', e: 'BIGINT'}", [path])
    connection.execute(
        "CREATE TEMP TABLE resolved AS SELECT t, true AS u, e FROM titled UNION ALL SELECT t, false, e FROM found"
    )


def _resolutions(ids: duckdb.DuckDBPyConnection, store: Store) -> Iterator[_Resolved]:
    for (id,) in fetched(ids):
        key = store.resolve(id)
        if key is not None:
            yield _Resolved(id, key)


def read_totals(connection: duckdb.DuckDBPyConnection, folder: Path, unresolved: int) -> LinkTotals:
    """Add up `anchors.parquet`."""
    anchors = literal(folder / "anchors.parquet")
    pairs = number(connection, f"SELECT count(*) FROM read_parquet({anchors})")
    resolved = number(connection, f"SELECT coalesce(sum(count), 0) FROM read_parquet({anchors})")
    return LinkTotals(resolved, unresolved, pairs)


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
        yield from fetched(connection)
