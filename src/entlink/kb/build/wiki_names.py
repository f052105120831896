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

from entlink.engine.local import copy_to_parquet, fetched, json_rows, number, parquet_rows, sql
from entlink.kb.build.part_files import IDENTIFIERS, MEANINGS, REDIRECTS, TITLES
from entlink.kb.store.manifest import WikiTotals
from entlink.sources import numbers_file

EXTRAS, FINAL_REDIRECTS = "extras.parquet", "redirects.parquet"
_DOUBLINGS = 10  # each follows twice as many redirects at once: a chain of a thousand is followed to its end
_COLUMNS = {
    TITLES: "{p: 'BIGINT', r: 'BIGINT', t: 'VARCHAR', w: 'VARCHAR', i: 'BIGINT'}",
    REDIRECTS: "{w: 'VARCHAR', title: 'VARCHAR', target: 'VARCHAR'}",
    MEANINGS: "{w: 'VARCHAR', title: 'VARCHAR', name: 'VARCHAR', targets: 'VARCHAR[]'}",
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


def list_disambiguations(parts: Sequence[Path], folder: Path, work: Path, wiki: str | None, *, memory: str) -> None:
    """Write the sorted numbers of the pages that the table page_props calls disambiguations, a file a wiki.

    With a single export its name is given as `wiki`, whatever the tables call it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with sql(work, memory=memory) as connection:
        _load(connection, "identifiers", _COLUMNS[IDENTIFIERS], [part / IDENTIFIERS for part in parts])
        name = "wiki" if wiki is None else "''"
        connection.execute(
            f"SELECT DISTINCT {name} AS name, page FROM identifiers WHERE scheme = '{DISAMBIGUATION}' "
            "ORDER BY name, page"
        )
        for found, rows in groupby(fetched(connection), itemgetter(0)):
            file = folder / numbers_file(found if wiki is None else wiki)
            file.write_bytes(array("q", (page for _, page in rows)).tobytes())


def join_names(parts: Sequence[Path], folder: Path, work: Path, *, memory: str) -> WikiTotals:
    """Write `extras.parquet` and `redirects.parquet`. Each wiki has its own titles and numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    with sql(work, memory=memory) as connection:
        for name, columns in _COLUMNS.items():
            _load(connection, name.removesuffix(".jsonl"), columns, [part / name for part in parts])
        if number(connection, "SELECT count(DISTINCT w) FROM titles") == 1:
            # Of one wiki only, the tables need not tell whose they are.
            connection.execute("UPDATE identifiers SET wiki = (SELECT min(w) FROM titles)")
        _follow_redirects(connection)
        _gather_extras(connection)
        copy_to_parquet(
            connection, "SELECT w, source, target FROM final ORDER BY w, source", folder / FINAL_REDIRECTS
        )
        copy_to_parquet(
            connection,
            "SELECT DISTINCT p, r, k, s, v FROM extras ORDER BY p, r, k, s, v",
            folder / EXTRAS,
        )
        return _totals(connection)


def _load(connection: duckdb.DuckDBPyConnection, table: str, columns: str, paths: Sequence[Path]) -> None:
    connection.execute(f"CREATE TEMP TABLE {table} AS {json_rows(paths, columns)}")


def _follow_redirects(connection: duckdb.DuckDBPyConnection) -> None:
    """`final`: every redirect with the title at the end of its chain; `rings`: those that never end."""
    connection.execute(
        "CREATE TEMP TABLE given AS SELECT w, title AS source, min(target) AS target FROM "
        f"(SELECT w, title, target FROM redirects UNION ALL {_TABLED_REDIRECTS}) "
        "WHERE (w, title) NOT IN (SELECT w, t FROM titles) GROUP BY w, title"
    )
    connection.execute("CREATE TEMP TABLE final AS SELECT * FROM given")
    for _ in range(_DOUBLINGS):
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE final AS "
            "SELECT a.w AS w, a.source AS source, coalesce(b.target, a.target) AS target "
            "FROM final a LEFT JOIN final b ON a.w = b.w AND a.target = b.source"
        )
        if not number(connection, f"SELECT count(*) FROM final WHERE {_GOES_ON}"):
            break
    connection.execute(f"CREATE TEMP TABLE rings AS SELECT * FROM final WHERE {_GOES_ON}")
    connection.execute("DELETE FROM final WHERE (w, source) IN (SELECT w, source FROM rings)")


_GOES_ON = "(w, target) IN (SELECT w, source FROM final)"
# Of the tables `page` and `redirect`: who redirects by number, with its title and its target's.
_TABLED_REDIRECTS = (
    "SELECT names.wiki AS w, names.value AS title, targets.value AS target FROM identifiers targets "
    "JOIN identifiers names ON names.wiki = targets.wiki AND names.page = targets.page "
    f"WHERE targets.scheme = '{REDIRECT}' AND names.scheme = '{TITLE}'"
)
_NO_IDENTIFIERS = ", ".join(f"'{scheme}'" for scheme in (IS_REDIRECT, REDIRECT, TITLE))


def _gather_extras(connection: duckdb.DuckDBPyConnection) -> None:
    """`extras`: part, record, kind, scheme and value of everything to be added to a page."""
    # What redirects to a disambiguation page is a name of whatever that page lists, too.
    connection.execute(
        "CREATE TEMP TABLE pairs AS SELECT w, name, unnest(targets) AS target FROM meanings UNION ALL "
        "SELECT final.w, source, unnest(targets) FROM final JOIN meanings "
        "ON final.w = meanings.w AND final.target = meanings.title"
    )
    connection.execute(
        "CREATE TEMP TABLE extras AS "
        f"SELECT p, r, {ALIAS} AS k, '' AS s, source AS v FROM final JOIN titles "
        "ON final.w = titles.w AND target = t "
        f"UNION ALL SELECT p, r, {ALIAS}, '', name FROM pairs "
        "LEFT JOIN final ON pairs.w = final.w AND pairs.target = final.source "
        "JOIN titles ON pairs.w = titles.w AND coalesce(final.target, pairs.target) = t "
        f"UNION ALL SELECT p, r, {EXTERNAL}, scheme, value FROM identifiers JOIN titles "
        f"ON wiki = w AND page = i WHERE scheme NOT IN ({_NO_IDENTIFIERS})"
    )


_TO_NOTHING = (
    "SELECT count(*) FROM final WHERE (w, target) NOT IN (SELECT w, t FROM titles) "
    "AND (w, target) NOT IN (SELECT w, title FROM meanings)"
)


def _totals(connection: duckdb.DuckDBPyConnection) -> WikiTotals:
    return WikiTotals(
        redirects=number(connection, "SELECT count(*) FROM given"),
        loops=number(connection, "SELECT count(*) FROM rings"),
        to_nothing=number(connection, _TO_NOTHING),
        meanings=number(connection, "SELECT count(*) FROM meanings"),
    )


def read_extras(folder: Path, *, memory: str) -> Iterator[Extra]:
    """What is to be added, in the order of the pages."""
    with sql(folder, memory=memory) as connection:
        connection.execute(f"SELECT * FROM {parquet_rows(folder / EXTRAS)} ORDER BY p, r, k, s, v")
        for row in fetched(connection):
            yield Extra(*row)


def read_redirects(folder: Path, *, memory: str) -> Iterator[tuple[str, str]]:
    """Every redirect with the title it leads to in the end; of several wikis the first that has it."""
    with sql(folder, memory=memory) as connection:
        redirects = parquet_rows(folder / FINAL_REDIRECTS)
        connection.execute(f"SELECT source, target FROM {redirects} ORDER BY source, w")
        yield from fetched(connection)
