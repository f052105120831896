"""What a wiki says of a page elsewhere than on the page: redirects, disambiguation pages, tables of identifiers.

Joined by SQL before the entities go into the store, so that an entity is written once, with all its names.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Literal

import duckdb
import msgspec

from entlink.engine.local import copy_to_parquet, fetched, literal, literals, number, sql
from entlink.kb.manifest import WikiTotals
from entlink.kb.parts import IDENTIFIERS, MEANINGS, REDIRECTS, TITLES

EXTRAS, FINAL_REDIRECTS = "extras.parquet", "redirects.parquet"
_DOUBLINGS = 10  # each follows twice as many redirects at once: a chain of a thousand is followed to its end
_COLUMNS = {
    TITLES: "{p: 'BIGINT', r: 'BIGINT', t: 'VARCHAR', w: 'VARCHAR', i: 'BIGINT'}",
    REDIRECTS: "{title: 'VARCHAR', target: 'VARCHAR'}",
    MEANINGS: "{title: 'VARCHAR', name: 'VARCHAR', targets: 'VARCHAR[]'}",
    IDENTIFIERS: "{wiki: 'VARCHAR', page: 'BIGINT', scheme: 'VARCHAR', value: 'VARCHAR'}",
}
ALIAS, EXTERNAL = 0, 1
# Schemes of the tables that are no identifiers of an entity.
IS_REDIRECT, REDIRECT, TITLE, DISAMBIGUATION, IMAGE = "is_redirect", "redirect", "title", "disambiguation", "image"


class Extra(msgspec.Struct, array_like=True, frozen=True):
    """Something to add to page `record` of part `part`: an alias, or an identifier in a scheme."""

    part: int
    record: int
    kind: Literal[0, 1]
    scheme: str
    value: str


def list_disambiguations(parts: Sequence[Path], folder: Path, work: Path, *, memory: str) -> None:
    """Write `WIKI.numbers`: the sorted numbers of the pages that the table page_props calls disambiguations."""
    folder.mkdir(parents=True, exist_ok=True)
    with sql(work, memory=memory) as connection:
        _load(connection, "identifiers", _COLUMNS[IDENTIFIERS], [part / IDENTIFIERS for part in parts])
        connection.execute(
            f"SELECT DISTINCT wiki, page FROM identifiers WHERE scheme = '{DISAMBIGUATION}' ORDER BY wiki, page"
        )
        for wiki, rows in groupby(fetched(connection), itemgetter(0)):
            (folder / f"{wiki}.numbers").write_bytes(array("q", (page for _, page in rows)).tobytes())


def join_names(parts: Sequence[Path], folder: Path, work: Path, *, memory: str) -> WikiTotals:
    """Write `extras.parquet` and `redirects.parquet`."""
    folder.mkdir(parents=True, exist_ok=True)
    with sql(work, memory=memory) as connection:
        for name, columns in _COLUMNS.items():
            _load(connection, name.removesuffix(".jsonl"), columns, [part / name for part in parts])
        _follow_redirects(connection)
        _gather_extras(connection)
        copy_to_parquet(connection, "SELECT source, target FROM final ORDER BY source", folder / FINAL_REDIRECTS)
        copy_to_parquet(
            connection,
            "SELECT DISTINCT p, r, k, s, v FROM extras ORDER BY p, r, k, s, v",
            folder / EXTRAS,
        )
        return _totals(connection)


def _load(connection: duckdb.DuckDBPyConnection, table: str, columns: str, paths: list[Path]) -> None:
    files = [path for path in paths if path.exists() and path.stat().st_size]
    if files:
        rows = f"read_json({literals(files)}, columns={columns}, format='newline_delimited')"
        connection.execute(f"CREATE TEMP TABLE {table} AS SELECT * FROM {rows}")
    else:
        fields = columns.strip("{}").replace(":", "").replace("'", "")
        connection.execute(f"CREATE TEMP TABLE {table} ({fields})")


def _follow_redirects(connection: duckdb.DuckDBPyConnection) -> None:
    """`final`: every redirect with the title at the end of its chain; `rings`: those that never end."""
    connection.execute(
        "CREATE TEMP TABLE given AS SELECT title AS source, min(target) AS target FROM "
        f"(SELECT title, target FROM redirects UNION ALL {_TABLED_REDIRECTS}) "
        "WHERE title NOT IN (SELECT t FROM titles) GROUP BY title"
    )
    connection.execute("CREATE TEMP TABLE final AS SELECT * FROM given")
    for _ in range(_DOUBLINGS):
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE final AS "
            "SELECT a.source AS source, coalesce(b.target, a.target) AS target "
            "FROM final a LEFT JOIN final b ON a.target = b.source"
        )
        if not number(connection, "SELECT count(*) FROM final WHERE target IN (SELECT source FROM final)"):
            break
    connection.execute("CREATE TEMP TABLE rings AS SELECT * FROM final WHERE target IN (SELECT source FROM final)")
    connection.execute("DELETE FROM final WHERE source IN (SELECT source FROM rings)")


# Of the tables `page` and `redirect`: who redirects by number, with its title and its target's.
_TABLED_REDIRECTS = (
    "SELECT names.value AS title, targets.value AS target FROM identifiers targets JOIN identifiers names "
    f"ON names.wiki = targets.wiki AND names.page = targets.page WHERE targets.scheme = '{REDIRECT}' "
    f"AND names.scheme = '{TITLE}'"
)
_NO_IDENTIFIERS = ", ".join(f"'{scheme}'" for scheme in (IS_REDIRECT, REDIRECT, TITLE, DISAMBIGUATION))


def _gather_extras(connection: duckdb.DuckDBPyConnection) -> None:
    """`extras`: part, record, kind, scheme and value of everything to be added to a page."""
    wikis = number(connection, "SELECT count(DISTINCT w) FROM titles")
    same_wiki = "wiki = w AND" if wikis > 1 else ""  # of one wiki only, the tables need not tell whose they are
    # What redirects to a disambiguation page is a name of whatever that page lists, too.
    connection.execute(
        "CREATE TEMP TABLE pairs AS SELECT name, unnest(targets) AS target FROM meanings UNION ALL "
        "SELECT source, unnest(targets) FROM final JOIN meanings ON final.target = meanings.title"
    )
    connection.execute(
        "CREATE TEMP TABLE extras AS "
        f"SELECT p, r, {ALIAS} AS k, '' AS s, source AS v FROM final JOIN titles ON target = t "
        f"UNION ALL SELECT p, r, {ALIAS}, '', name FROM pairs LEFT JOIN final ON pairs.target = final.source "
        "JOIN titles ON coalesce(final.target, pairs.target) = t "
        f"UNION ALL SELECT p, r, {EXTERNAL}, scheme, value FROM identifiers JOIN titles "
        f"ON {same_wiki} page = i WHERE scheme NOT IN ({_NO_IDENTIFIERS})"
    )


_TO_NOTHING = (
    "SELECT count(*) FROM final WHERE target NOT IN (SELECT t FROM titles) "
    "AND target NOT IN (SELECT title FROM meanings)"
)


def _totals(connection: duckdb.DuckDBPyConnection) -> WikiTotals:
    return WikiTotals(
        redirects=number(connection, "SELECT count(*) FROM given"),
        loops=number(connection, "SELECT count(*) FROM rings"),
        to_nothing=number(connection, _TO_NOTHING),
        meanings=number(connection, "SELECT count(*) FROM meanings"),
    )


def read_extras(folder: Path) -> Iterator[Extra]:
    """What is to be added, in the order of the pages."""
    with sql() as connection:
        connection.execute(f"SELECT * FROM read_parquet({literal(folder / EXTRAS)}) ORDER BY p, r, k, s, v")
        for row in fetched(connection):
            yield Extra(*row)


def read_redirects(folder: Path) -> Iterator[tuple[str, str]]:
    """Every redirect with the title it leads to in the end."""
    with sql() as connection:
        connection.execute(f"SELECT * FROM read_parquet({literal(folder / FINAL_REDIRECTS)}) ORDER BY source")
        yield from fetched(connection)
