"""Filters 8 to 10: how many entities, how many mentions of each, and the same numbers in all snapshots.

What chance decides depends on hashes of names alone, so that the same seed takes the same mentions whatever the order
in which they are read; a mention that stands in several snapshots has the same chance in all of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from entlink.datasets.selection import hash_of
from entlink.datasets.temporal import subsets
from entlink.datasets.temporal.counting import BUCKETS, TARGETS, bucket_rows, view_parts
from entlink.datasets.temporal.filters import FUNNEL, KEPT, PAIRS, Step, by_snapshot
from entlink.datasets.temporal.options import TemporalOptions
from entlink.datasets.temporal.staging import LINKS
from entlink.engine.protocol import Columns, Engine, JsonFiles, ParquetFiles, SqlSession
from entlink.kb.names.index_rows import write_rows

MENTIONS, CHOSEN, WANTED, CURVES = "mentions", "chosen.parquet", "wanted", "curves.json"
CAPPED: Columns = {
    **dict.fromkeys(("s", "e", "g", "u", "p", "r", "o", "a", "b", "k", "y", "h"), "BIGINT"),
    "f": "STRING",
}
PROFILE: Columns = {"g": "BIGINT", "u": "BIGINT", "w": "BIGINT", "m": "BIGINT"}
_NEW = 1


class Quota(msgspec.Struct):
    """In category `g` and subset `u` the entity with the `w`-th most mentions has `m` of them, in every snapshot."""

    g: int
    u: int
    w: int
    m: int


class _Capped(msgspec.Struct):
    """A mention `f` of entity `e` that is the `k`-th by chance of its subset; `y` and `h` are of its entity."""

    s: int
    e: int
    g: int
    u: int
    p: int
    r: int
    o: int
    a: int
    b: int
    k: int
    y: int
    h: int
    f: str


class Curve(msgspec.Struct):
    """Mentions per entity of a snapshot, category and subset: `entities[n]` of them have n mentions."""

    s: int
    g: int
    u: int
    entities: dict[int, int]


def choose_entities(
    engine: Engine,
    counted: Path,
    filtered: Path,
    split: Sequence[Path],
    parts: Sequence[Path],
    options: TemporalOptions,
    snapshots: int,
    path: Path,
) -> None:
    """Write the mentions of at most so many continual and of all new entities, by bucket, and what was left out."""
    path.mkdir(exist_ok=True)
    with engine.sql(path.parent) as session:
        session.view("pairs", ParquetFiles([filtered / PAIRS]))
        kept = sorted((filtered / KEPT).glob("*/*.parquet"))
        if kept:
            session.view("kept", ParquetFiles(kept))
        else:
            session.table("kept", "SELECT s, e, f, 0 AS g, d, 0 AS b FROM pairs WHERE n < 0")
        for name in (subsets.PLACED, subsets.ENTITIES):
            files = JsonFiles([folder / name for folder in split], subsets.COLUMNS[name])
            session.view(name.removesuffix(".jsonl"), files, cached=True)
        session.view("targets", ParquetFiles([counted / TARGETS]))
        view_parts(session, parts, LINKS)
        session.table(
            "candidates",
            "SELECT kept.s AS s, kept.e AS e, kept.g AS g, kept.f AS f, kept.d AS d, placed.u AS u, entities.y AS y, "
            "entities.h AS h FROM kept JOIN placed ON placed.e = kept.e AND placed.f = kept.f "
            "JOIN entities ON entities.s = kept.s AND entities.e = kept.e AND entities.g = kept.g",
        )
        before = by_snapshot(session, _sum("kept", "1 = 1"), snapshots)
        split_up = by_snapshot(session, _sum("candidates", "1 = 1"), snapshots)
        # Entities with mentions enough in more snapshots come first, so that they are the same in all if they can be.
        session.table(
            "taken",
            "SELECT s, e FROM (SELECT s, e, row_number() OVER (PARTITION BY s ORDER BY y DESC, h, e) AS place "
            f"FROM entities WHERE g <> {_NEW}) numbered WHERE place <= {options.nr_ct_ents_per_cut}",
        )
        session.table(
            "chosen",
            f"SELECT s, e, g, f, u, d, y FROM candidates WHERE g = {_NEW} OR "
            "EXISTS (SELECT 1 FROM taken WHERE taken.s = candidates.s AND taken.e = candidates.e)",
        )
        left = by_snapshot(session, _sum("chosen", "1 = 1"), snapshots)
        nobody: list[int | None] = [None] * snapshots
        steps = [
            Step(7, "ed_men_subsets", before, split_up, nobody),
            Step(8, "nr_ct_ents_per_cut", split_up, left, nobody),
        ]
        (path / MENTIONS).mkdir(exist_ok=True)
        session.partition(
            f"SELECT chosen.e % {BUCKETS} AS bucket, chosen.s AS s, chosen.e AS e, chosen.g AS g, chosen.u AS u, "
            "chosen.y AS y, chosen.f AS f, targets.e AS j, links.v AS v, links.p AS p, links.r AS r, "
            "links.o AS o, links.a AS a, links.b AS b FROM chosen JOIN (SELECT DISTINCT s, e, t FROM targets) own "
            "ON own.s = chosen.s AND own.e = chosen.e "
            "JOIN links ON links.f = chosen.f AND links.t = own.t AND links.c = 1 "
            "JOIN targets ON targets.p = links.p AND targets.r = links.r AND targets.s = chosen.s",
            "bucket",
            path / MENTIONS,
        )
    (path / FUNNEL).write_bytes(msgspec.json.encode(steps))


def _sum(table: str, where: str) -> str:
    return f"SELECT s, CAST(sum(d) AS BIGINT) AS n FROM {table} WHERE {where} GROUP BY s"


def cap_bucket(engine: Engine, chosen: Path, bucket: int, options: TemporalOptions, path: Path) -> None:
    """Write at most `max_mens_per_ent` mentions of each entity and subset of a bucket, numbered `k` by chance."""
    query = "SELECT s, e, g, u, f, j, v, p, r, o, a, b, y FROM staged ORDER BY s, e, u, f, j, v, p, r, o"
    write_rows(_capped(bucket_rows(engine, chosen / MENTIONS, bucket, query, "bucket"), options), path)


def _capped(rows: Iterator[tuple[Any, ...]], options: TemporalOptions) -> Iterator[_Capped]:
    for (s, e, u), mentions in groupby(rows, itemgetter(0, 1, 3)):
        chance = hash_of(options.seed, "entity", str(e)) >> 1
        drawn = heapq.nsmallest(
            options.max_mens_per_ent[u],
            ((hash_of(options.seed, "mention", f"{e} {row[5]} {row[6]} {row[4]}"), row) for row in mentions),
        )
        for number, (_, row) in enumerate(drawn, 1):
            _, _, g, _, f, _, _, p, r, o, a, b, y = row
            yield _Capped(s, e, g, u, p, r, o, a, b, number, y, chance, f)


def equalise(
    engine: Engine,
    filtered: Path,
    capped: Sequence[Path],
    before: Sequence[int],
    options: TemporalOptions,
    snapshots: int,
    profile: Path | None,
    path: Path,
) -> None:
    """Write the mentions of the dataset, the same number per entity in every snapshot if that is wanted.

    Entities of a snapshot are put in order by their number of mentions; the n-th of each keeps as many as the n-th of
    the snapshot that has fewest there. With `profile` it keeps as many as an earlier part of the dataset has.
    """
    path.mkdir(exist_ok=True)
    with engine.sql(path.parent) as session:
        session.view("capped", JsonFiles(capped, CAPPED), cached=True)
        session.table("tally", "SELECT s, g, u, e, y, h, count(*) AS m FROM capped GROUP BY s, g, u, e, y, h")
        after_cap = by_snapshot(session, "SELECT s, count(*) AS n FROM capped GROUP BY s", snapshots)
        curves = {"before": _curves(session, "tally")}
        if options.equal_snapshots:
            if profile is not None:
                session.view("profile", JsonFiles([profile], PROFILE))
            _make_quotas(session, snapshots, is_given=profile is not None)
        else:
            session.table("quotas", "SELECT s, g, u, e, m AS q FROM tally")
        session.table(
            "chosen",
            "SELECT capped.s AS s, capped.e AS e, capped.g AS g, capped.u AS u, capped.f AS f, capped.k AS k, "
            "capped.p AS p, capped.r AS r, capped.o AS o, capped.a AS a, capped.b AS b FROM capped JOIN quotas ON "
            "quotas.s = capped.s AND quotas.g = capped.g AND quotas.u = capped.u AND quotas.e = capped.e "
            "WHERE capped.k <= quotas.q",
        )
        left = by_snapshot(session, "SELECT s, count(*) AS n FROM chosen GROUP BY s", snapshots)
        nobody: list[int | None] = [None] * snapshots
        steps = [
            Step(9, "max_mens_per_ent", list(before), after_cap, nobody),
            Step(10, "equal_snapshots", after_cap, left, nobody),
        ]
        session.table("tally", "SELECT s, g, u, e, count(*) AS m FROM chosen GROUP BY s, g, u, e")
        curves["after"] = _curves(session, "tally")
        session.view("pairs", ParquetFiles([filtered / PAIRS]))
        session.write(
            "SELECT chosen.s AS s, chosen.e AS e, chosen.g AS g, chosen.u AS u, chosen.k AS k, chosen.f AS f, "
            "chosen.p AS p, chosen.o AS o, chosen.r AS page, tally.m AS x, "
            "pairs.n AS n, pairs.t AS t, pairs.i AS i, pairs.k AS mentions, pairs.a AS wiki, pairs.r AS place, "
            "pairs.x AS d, pairs.l AS l FROM chosen "
            "JOIN pairs ON pairs.s = chosen.s AND pairs.e = chosen.e AND pairs.f = chosen.f "
            "JOIN tally ON tally.s = chosen.s AND tally.g = chosen.g AND tally.u = chosen.u AND tally.e = chosen.e",
            path / CHOSEN,
        )
        (path / WANTED).mkdir(exist_ok=True)
        session.partition("SELECT DISTINCT p AS part, r, o, a, b FROM chosen", "part", path / WANTED)
    (path / FUNNEL).write_bytes(msgspec.json.encode(steps))
    (path / CURVES).write_bytes(msgspec.json.encode(curves))


def _make_quotas(session: SqlSession, snapshots: int, *, is_given: bool) -> None:
    """`quotas`: of each entity and subset, how many mentions may stay."""
    # As many entities everywhere as where there are fewest.
    numbered = (
        "SELECT s, g, e, row_number() OVER (PARTITION BY s, g ORDER BY y DESC, h, e) AS place "
        "FROM (SELECT DISTINCT s, g, e, y, h FROM tally) entities"
    )
    fewest = (
        "SELECT g, count(DISTINCT w) AS most FROM profile GROUP BY g"
        if is_given
        else "SELECT g, min(n) AS most FROM (SELECT s, g, count(DISTINCT e) AS n FROM tally GROUP BY s, g) sizes "
        f"GROUP BY g HAVING count(*) = {snapshots}"
    )
    session.table(
        "staying",
        f"SELECT numbered.s AS s, numbered.g AS g, numbered.e AS e FROM ({numbered}) numbered "
        f"JOIN ({fewest}) fewest ON fewest.g = numbered.g WHERE numbered.place <= fewest.most",
    )
    session.table(
        "ordered",
        "SELECT tally.s AS s, tally.g AS g, tally.u AS u, tally.e AS e, tally.m AS m, "
        "row_number() OVER (PARTITION BY tally.s, tally.g, tally.u ORDER BY tally.m DESC, tally.h, tally.e) AS w "
        "FROM tally JOIN staying ON staying.s = tally.s AND staying.g = tally.g AND staying.e = tally.e",
    )
    lowest = "profile" if is_given else "(SELECT g, u, w, min(m) AS m FROM ordered GROUP BY g, u, w)"
    session.table(
        "quotas",
        "SELECT ordered.s AS s, ordered.g AS g, ordered.u AS u, ordered.e AS e, fewest.m AS q "
        f"FROM ordered JOIN {lowest} fewest "
        "ON fewest.g = ordered.g AND fewest.u = ordered.u AND fewest.w = ordered.w",
    )


def _curves(session: SqlSession, table: str) -> list[Curve]:
    query = f"SELECT s, g, u, m, count(*) AS n FROM {table} GROUP BY s, g, u, m ORDER BY s, g, u, m"
    found = []
    for (s, g, u), rows in groupby(session.rows(query), itemgetter(0, 1, 2)):
        found.append(Curve(s, g, u, {m: n for *_, m, n in rows}))
    return found
