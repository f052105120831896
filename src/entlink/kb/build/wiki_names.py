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

import msgspec

from entlink.engine.protocol import Columns, Engine, JsonFiles, ParquetFiles, SqlSession
from entlink.kb.build.part_files import IDENTIFIERS, MEANINGS, REDIRECTS, TITLES
from entlink.kb.build.wikidata_items import WIKIDATA
from entlink.kb.store.manifest import WikiTotals
from entlink.sources import numbers_file

EXTRAS, FINAL_REDIRECTS = "extras.parquet", "redirects.parquet"
_DOUBLINGS = 10  # each follows twice as many redirects at once: a chain of a thousand is followed to its end
_COLUMNS: dict[str, Columns] = {
    TITLES: {"p": "BIGINT", "r": "BIGINT", "t": "STRING", "w": "STRING", "i": "BIGINT"},
    REDIRECTS: {"w": "STRING", "title": "STRING", "target": "STRING"},
    MEANINGS: {"w": "STRING", "title": "STRING", "name": "STRING", "place": "BIGINT", "target": "STRING"},
    IDENTIFIERS: {"wiki": "STRING", "page": "BIGINT", "scheme": "STRING", "value": "STRING"},
}
ALIAS, EXTERNAL = 0, 1
_TABLES: Columns = {"p": "BIGINT", "r": "BIGINT", "i": "STRING", "t": "STRING", "d": "BIGINT"}
# Schemes of the tables that are no identifiers of an entity.
IS_REDIRECT, REDIRECT, TITLE, DISAMBIGUATION, IMAGE = "is_redirect", "redirect", "title", "disambiguation", "image"
INTERNAL = "internal"  # of a page or item that is left out for what Wikidata says it is


class Extra(msgspec.Struct, array_like=True, frozen=True):
    """Something to add to page `record` of part `part`: an alias, or an identifier in a scheme."""

    part: int
    record: int
    kind: Literal[0, 1]
    scheme: str
    value: str


def list_disambiguations(engine: Engine, parts: Sequence[Path], folder: Path, work: Path, wiki: str | None) -> None:
    """Write the sorted numbers of the pages that the table page_props calls disambiguations, a file a wiki.

    With a single export its name is given as `wiki`, whatever the tables call it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with engine.sql(work) as session:
        session.view("identifiers", JsonFiles([part / IDENTIFIERS for part in parts], _COLUMNS[IDENTIFIERS]))
        name = "wiki" if wiki is None else "''"
        pages = session.rows(
            f"SELECT DISTINCT {name} AS name, page FROM identifiers WHERE scheme = '{DISAMBIGUATION}' "
            "ORDER BY name, page"
        )
        for found, rows in groupby(pages, itemgetter(0)):
            file = folder / numbers_file(found if wiki is None else wiki)
            file.write_bytes(array("q", (page for _, page in rows)).tobytes())


def join_names(
    engine: Engine, parts: Sequence[Path], folder: Path, work: Path, items: Path | None = None
) -> WikiTotals:
    """Write `extras.parquet` and `redirects.parquet`. Each wiki has its own titles and numbers.

    `items` is what was found of the items of Wikidata, whose pages in the wiki are known by their titles.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with engine.sql(work) as session:
        for name, columns in _COLUMNS.items():
            files = JsonFiles([part / name for part in parts], columns)
            session.view(name.removesuffix(".jsonl"), files, cached=True)
        if session.number("SELECT count(DISTINCT w) FROM titles") == 1:
            # Of one wiki only, the tables need not say whose they are.
            session.table(
                "identifiers",
                "SELECT one_wiki.w AS wiki, page, scheme, value FROM identifiers "
                "CROSS JOIN (SELECT min(w) AS w FROM titles) one_wiki",
            )
        session.view("items", JsonFiles([], _TABLES) if items is None else ParquetFiles([items]), cached=True)
        _follow_redirects(session)
        _gather_extras(session)
        session.write("SELECT w, source, target FROM ended ORDER BY w, source", folder / FINAL_REDIRECTS)
        session.write("SELECT DISTINCT p, r, k, s, v FROM extras ORDER BY p, r, k, s, v", folder / EXTRAS)
        return _totals(session)


def _follow_redirects(session: SqlSession) -> None:
    """`ended`: every redirect with the title at the end of its chain; `rings`: those that never end."""
    session.table(
        "given",
        "SELECT w, title AS source, min(target) AS target FROM "
        f"(SELECT w, title, target FROM redirects UNION ALL {_TABLED_REDIRECTS}) named "
        "WHERE NOT EXISTS (SELECT 1 FROM titles WHERE titles.w = named.w AND titles.t = named.title) "
        "GROUP BY w, title",
    )
    session.table("followed", "SELECT w, source, target FROM given")
    for _ in range(_DOUBLINGS):
        session.table(
            "followed",
            "SELECT a.w AS w, a.source AS source, coalesce(b.target, a.target) AS target "
            "FROM followed a LEFT JOIN followed b ON a.w = b.w AND a.target = b.source",
        )
        if not session.number(f"SELECT count(*) FROM followed a WHERE {_GOES_ON}"):
            break
    session.table("rings", f"SELECT w, source, target FROM followed a WHERE {_GOES_ON}")
    session.table("ended", f"SELECT w, source, target FROM followed a WHERE NOT {_GOES_ON}")


_GOES_ON = "EXISTS (SELECT 1 FROM followed b WHERE b.w = a.w AND b.source = a.target)"
# Of the tables `page` and `redirect`: who redirects by number, with its title and its target's.
_TABLED_REDIRECTS = (
    "SELECT names.wiki AS w, names.value AS title, targets.value AS target FROM identifiers targets "
    "JOIN identifiers names ON names.wiki = targets.wiki AND names.page = targets.page "
    f"WHERE targets.scheme = '{REDIRECT}' AND names.scheme = '{TITLE}'"
)
_NO_IDENTIFIERS = ", ".join(f"'{scheme}'" for scheme in (IS_REDIRECT, REDIRECT, TITLE))


def _gather_extras(session: SqlSession) -> None:
    """`extras`: part, record, kind, scheme and value of everything to be added to a page."""
    # What redirects to a disambiguation page is a name of whatever that page lists, too.
    session.table(
        "pairs",
        "SELECT w, name, target FROM meanings WHERE target IS NOT NULL UNION ALL "
        "SELECT ended.w AS w, ended.source AS name, meanings.target AS target FROM ended JOIN meanings "
        "ON ended.w = meanings.w AND ended.target = meanings.title WHERE meanings.target IS NOT NULL",
    )
    # An item has its page by title; what the table says of the page is used where no item does.
    session.table("linked", "SELECT t, min(i) AS i FROM items WHERE t IS NOT NULL GROUP BY t")
    session.table(
        "numbered",
        "SELECT p, r, linked.i AS v FROM titles JOIN linked ON titles.t = linked.t "
        "UNION ALL SELECT p, r, value AS v FROM identifiers JOIN titles ON wiki = w AND page = titles.i "
        f"WHERE scheme = '{WIKIDATA}' AND NOT EXISTS (SELECT 1 FROM linked WHERE linked.t = titles.t)",
    )
    session.table(
        "extras",
        f"SELECT p, r, {ALIAS} AS k, '' AS s, source AS v FROM ended JOIN titles "
        "ON ended.w = titles.w AND target = t "
        f"UNION ALL SELECT p, r, {ALIAS} AS k, '' AS s, name AS v FROM pairs "
        "LEFT JOIN ended ON pairs.w = ended.w AND pairs.target = ended.source "
        "JOIN titles ON pairs.w = titles.w AND coalesce(ended.target, pairs.target) = t "
        f"UNION ALL SELECT p, r, {EXTERNAL} AS k, scheme AS s, value AS v FROM identifiers JOIN titles "
        f"ON wiki = w AND page = i WHERE scheme NOT IN ({_NO_IDENTIFIERS}, '{WIKIDATA}') "
        f"UNION ALL SELECT p, r, {EXTERNAL} AS k, '{WIKIDATA}' AS s, v FROM numbered "
        f"UNION ALL SELECT p, r, {EXTERNAL} AS k, '{INTERNAL}' AS s, '' AS v FROM items WHERE d = 1 "
        f"UNION ALL SELECT numbered.p AS p, numbered.r AS r, {EXTERNAL} AS k, '{INTERNAL}' AS s, '' AS v "
        "FROM numbered JOIN items ON v = items.i WHERE d = 1",
    )


_TO_NOTHING = (
    "SELECT count(*) FROM ended WHERE NOT EXISTS "
    "(SELECT 1 FROM titles WHERE titles.w = ended.w AND titles.t = ended.target) AND NOT EXISTS "
    "(SELECT 1 FROM meanings WHERE meanings.w = ended.w AND meanings.title = ended.target)"
)


def _totals(session: SqlSession) -> WikiTotals:
    return WikiTotals(
        redirects=session.number("SELECT count(*) FROM given"),
        loops=session.number("SELECT count(*) FROM rings"),
        to_nothing=session.number(_TO_NOTHING),
        meanings=session.number("SELECT count(*) FROM meanings WHERE place = 0"),
    )


def read_extras(engine: Engine, folder: Path) -> Iterator[Extra]:
    """What is to be added, in the order of the pages."""
    with engine.sql(folder) as session:
        session.view("extras", ParquetFiles([folder / EXTRAS]))
        for row in session.rows("SELECT p, r, k, s, v FROM extras ORDER BY p, r, k, s, v"):
            yield Extra(*row)


def read_redirects(engine: Engine, folder: Path) -> Iterator[tuple[str, str]]:
    """Every redirect with the title it leads to in the end; of several wikis the first that has it."""
    with engine.sql(folder) as session:
        session.view("redirects", ParquetFiles([folder / FINAL_REDIRECTS]))
        for source, target, _ in session.rows("SELECT source, target, w FROM redirects ORDER BY source, w"):
            yield source, target
