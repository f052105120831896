"""The links of a build, their ends found, counted into Parquet files; `entlink.kb.names.counts` reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import msgspec

from entlink.engine.local import copy_to_parquet, fetched, json_rows, number, parquet_rows, sql
from entlink.kb.build.fill_store import KEYS
from entlink.kb.build.part_files import LINKS, TITLES
from entlink.kb.names.counts import BASE
from entlink.kb.names.index_rows import COLUMNS, write_rows
from entlink.kb.store.store import Store

_LINKS = "{p: 'BIGINT', r: 'BIGINT', f: 'VARCHAR', t: 'VARCHAR', n: 'BIGINT', w: 'VARCHAR'}"
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


def write_link_counts(
    store: Store, parts: Sequence[Path], redirects: Path, work: Path, *, memory: str, targets: Path | None = None
) -> LinkTotals:
    """Resolve the staged links' ends and write `anchors.parquet` and `graph.parquet`.

    A link of a wiki names a title of it, by way of `redirects` where that file is; any other may name an id as well.
    What each page's links lead to is written to `targets`, if that is given.
    """
    folder = store.folder / "counts" / BASE
    folder.mkdir(parents=True, exist_ok=True)
    with sql(work, memory=memory) as connection:
        _view(connection, "staged_links", _LINKS, [part / LINKS for part in parts])
        _view(connection, "stored", _STORED, [part / KEYS for part in parts])
        _view(connection, "titles", _TITLES, [part / TITLES for part in parts])
        # A page that did not go into the store, such as a double, has no links either.
        connection.execute(
            "CREATE TABLE links AS SELECT stored.e AS o, f, t, n, w FROM staged_links JOIN stored USING (p, r)"
        )
        _resolve(connection, store, redirects, work / "resolved.jsonl")
        if targets is not None:
            _write_targets(connection, targets)
        copy_to_parquet(
            connection,
            "SELECT f AS surface, e AS entity, sum(n)::BIGINT AS count FROM targeted GROUP BY f, e ORDER BY f, e",
            folder / "anchors.parquet",
        )
        copy_to_parquet(
            connection,
            "SELECT o AS origin, e AS target, sum(n)::BIGINT AS count FROM targeted GROUP BY o, e ORDER BY o, e",
            folder / "graph.parquet",
        )
        totals = read_totals(connection, folder, 0)
        totals.unresolved = number(connection, "SELECT coalesce(sum(n), 0) FROM links") - totals.resolved
        return totals


def _view(connection: duckdb.DuckDBPyConnection, name: str, columns: str, paths: Sequence[Path]) -> None:
    connection.execute(f"CREATE TEMP VIEW {name} AS {json_rows(paths, columns)}")


def _resolve(connection: duckdb.DuckDBPyConnection, store: Store, redirects: Path, path: Path) -> None:
    """A table from everything that links name, a title of a wiki or else anything, to the key of its entity."""
    connection.execute(
        "CREATE TEMP TABLE titled AS SELECT w, t, min(e) AS e FROM titles JOIN stored USING (p, r) GROUP BY w, t"
    )
    if redirects.exists():
        connection.execute(
            f"INSERT INTO titled SELECT r.w, r.source, e FROM {parquet_rows(redirects)} r "
            "JOIN titled ON titled.w = r.w AND t = r.target WHERE (r.w, r.source) NOT IN (SELECT w, t FROM titled)"
        )
    ids = connection.cursor()
    ids.execute("SELECT DISTINCT t FROM links WHERE w IS NULL")
    write_rows(_resolutions(ids, store), path)
    _view(connection, "found", "{t: 'VARCHAR', e: 'BIGINT'}", [path])
    connection.execute(
        "CREATE TEMP TABLE targeted AS SELECT f, o, n, e FROM links JOIN titled ON links.w = titled.w "
        "AND links.t = titled.t UNION ALL SELECT f, o, n, e FROM links JOIN found ON links.t = found.t "
        "WHERE links.w IS NULL"
    )


def _write_targets(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Of each page, by part and record, its entity `o` and the entity `e` behind each target `t` it names."""
    connection.execute(
        "CREATE TEMP VIEW named AS SELECT DISTINCT p, r, stored.e AS o, t, w FROM staged_links "
        "JOIN stored USING (p, r)"
    )
    copy_to_parquet(
        connection,
        "SELECT p, r, o, named.t AS t, e FROM named JOIN titled ON named.w = titled.w AND named.t = titled.t "
        "UNION ALL SELECT p, r, o, named.t AS t, e FROM named JOIN found ON named.t = found.t "
        "WHERE named.w IS NULL ORDER BY p, r",
        path,
    )


def _resolutions(ids: duckdb.DuckDBPyConnection, store: Store) -> Iterator[_Resolved]:
    for (id,) in fetched(ids):
        key = store.resolve(id)
        if key is not None:
            yield _Resolved(id, key)


def read_totals(connection: duckdb.DuckDBPyConnection, folder: Path, unresolved: int) -> LinkTotals:
    """Add up `anchors.parquet`."""
    anchors = parquet_rows(folder / "anchors.parquet")
    pairs = number(connection, f"SELECT count(*) FROM {anchors}")
    resolved = number(connection, f"SELECT coalesce(sum(count), 0) FROM {anchors}")
    return LinkTotals(resolved, unresolved, pairs)


def write_occurrences(staged: list[Path], folder: Path, work: Path, *, memory: str) -> None:
    """Add up the staged unlinked occurrences into `occurrences.parquet`."""
    files = [path for path in staged if path.stat().st_size]
    if not files:
        return
    with sql(work, memory=memory) as connection:
        copy_to_parquet(
            connection,
            f"SELECT f AS surface, sum(n)::BIGINT AS count FROM ({json_rows(files, COLUMNS)}) GROUP BY f ORDER BY f",
            folder / "occurrences.parquet",
        )
