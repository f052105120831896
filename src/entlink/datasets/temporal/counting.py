"""Links to counts: what each link leads to as of each snapshot, and how often each mention leads to each entity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from entlink.datasets.temporal.distances import edits
from entlink.datasets.temporal.staging import COLUMNS, LINKS, PAGES, REDIRECTS
from entlink.engine.protocol import Columns, Engine, JsonFiles, ParquetFiles, SqlSession
from entlink.errors import InputError
from entlink.kb.names.index_rows import write_rows

BUCKETS = 16  # of entities: each is a bounded piece of work
COUNTS, TARGETS, ALL_LINKS, NAMES = "counts.parquet", "targets.parquet", "all_links.parquet", "names"
EDITS: Columns = {"f": "STRING", "t": "STRING", "d": "BIGINT", "l": "BIGINT"}
_DOUBLINGS = 10  # each follows twice as many redirects at once


def count(engine: Engine, parts: Sequence[Path], path: Path) -> None:
    """Write a folder with

    - `counts.parquet`: surface `f` leads to entity `e` as of snapshot `s` with `n` links, `c` of them in running
      text, of which `d` name its title and no redirect
    - `targets.parquet`: the pages as of each snapshot, without their texts
    - `all_links.parquet`: how many links there are, whatever they lead to
    - `names`: every mention with the title of its entity, by bucket of entities
    """
    path.mkdir(exist_ok=True)
    with engine.sql(path.parent) as session:
        view_parts(session, parts, LINKS, REDIRECTS)
        view_parts(session, parts, PAGES, cached=True)
        _check_pages(session)
        resolve_titles(session)
        session.table(
            "counts",
            "SELECT pages.s AS s, links.f AS f, named.e AS e, count(*) AS n, CAST(sum(links.c) AS BIGINT) AS c, "
            "CAST(sum(links.c * named.d) AS BIGINT) AS d "
            "FROM links JOIN pages ON links.p = pages.p AND links.r = pages.r "
            "JOIN named ON named.s = pages.s AND named.t = links.t GROUP BY pages.s, links.f, named.e",
        )
        session.write("SELECT s, f, e, n, c, d FROM counts", path / COUNTS)
        session.write("SELECT s, e, p, r, n, a, z, t, created, revised FROM pages", path / TARGETS)
        session.write(
            "SELECT pages.s AS s, count(*) AS n FROM links "
            "JOIN pages ON links.p = pages.p AND links.r = pages.r GROUP BY pages.s",
            path / ALL_LINKS,
        )
        (path / NAMES).mkdir(exist_ok=True)
        session.partition(
            f"SELECT DISTINCT counts.e % {BUCKETS} AS b, counts.f AS f, pages.t AS t FROM counts "
            "JOIN pages ON pages.s = counts.s AND pages.e = counts.e",
            "b",
            path / NAMES,
        )


def view_parts(session: SqlSession, parts: Sequence[Path], *names: str, cached: bool = False) -> None:
    """Views of the rows of all parts, named like their files."""
    for name in names:
        files = JsonFiles([part / name for part in parts], COLUMNS[name])
        session.view(name.removesuffix(".jsonl"), files, cached=cached)


def _check_pages(session: SqlSession) -> None:
    """A page that comes twice would count twice, and its links as well."""
    twice = session.rows(
        "SELECT e, t FROM (SELECT s, e, min(t) AS t, count(*) AS n FROM pages GROUP BY s, e) one WHERE n > 1 "
        "ORDER BY e, t LIMIT 1"
    )
    for page, title in twice:
        raise InputError(
            f"the page {title} (number {page}) comes twice as of a snapshot: histories that were given have the same "
            "pages. Give each page's history once"
        )


def resolve_titles(session: SqlSession) -> None:
    """`named`: the entity `e` behind each title `t` as of each snapshot; `d` is 1 for its own, 0 for a redirect.

    It is made of `pages` (`s`, `t`, `e`) and `redirects` (`s`, `source`, `target`).
    """
    session.table("titled", "SELECT s, t, min(e) AS e FROM pages GROUP BY s, t")
    session.table(
        "followed",
        "SELECT s, source, min(target) AS target FROM redirects WHERE NOT EXISTS "
        "(SELECT 1 FROM titled WHERE titled.s = redirects.s AND titled.t = redirects.source) GROUP BY s, source",
    )
    for _ in range(_DOUBLINGS):
        session.table(
            "followed",
            "SELECT a.s AS s, a.source AS source, coalesce(b.target, a.target) AS target "
            "FROM followed a LEFT JOIN followed b ON a.s = b.s AND a.target = b.source",
        )
        if not session.number(
            "SELECT count(*) FROM followed a "
            "WHERE EXISTS (SELECT 1 FROM followed b WHERE b.s = a.s AND b.source = a.target)"
        ):
            break
    session.table(
        "named",
        "SELECT s, t, e, 1 AS d FROM titled UNION ALL "
        "SELECT followed.s AS s, followed.source AS t, titled.e AS e, 0 AS d FROM followed "
        "JOIN titled ON titled.s = followed.s AND titled.t = followed.target",
    )


def write_edits(engine: Engine, names: Path, bucket: int, path: Path) -> None:
    """Write how far each mention of a bucket is from the titles of its entity."""
    rows = bucket_rows(engine, names, bucket, "SELECT DISTINCT f, t FROM staged ORDER BY f, t")
    write_rows(({"f": f, "t": t, **dict(zip("dl", edits(f, t), strict=True))} for f, t in rows), path)


def bucket_rows(
    engine: Engine, folder: Path, bucket: int, query: str, column: str = "b"
) -> Iterator[tuple[Any, ...]]:
    """The answer to a query over the rows (`staged`) of one bucket of a partitioned folder, streamed."""
    files = sorted(folder.glob(f"{column}={bucket}/*.parquet"))
    if not files:
        return
    with engine.sql(folder.parent) as session:
        session.view("staged", ParquetFiles(files))
        yield from session.rows(query)
