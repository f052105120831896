"""Filters 1 to 6 of TempEL, each a condition in SQL on a mention of an entity as of a snapshot, counted on its own.

The columns of `pairs`, a row for a surface `f` that leads to entity `e` as of snapshot `s`:

- `n`: links; `c`: those in running text; `d`: those of them that name the title itself, and no redirect
- `t`: links of that surface to any entity, so that P(e|m) is n ÷ t; `i`: links to the entity with any surface
- `k`: surfaces of the entity; `a`: links of the snapshot; `z`: tokens of the entity's page
- `r`: rank of the surface among those of the entity by P(e|m); `q`: rank of the entity among those of the surface
- `x` ÷ `l`: edit distance of the surface and the title
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from entlink.datasets.temporal.counting import BUCKETS, COUNTS, EDITS, TARGETS
from entlink.datasets.temporal.options import TemporalOptions, exact
from entlink.engine.protocol import Engine, JsonFiles, ParquetFiles, SqlSession

PAIRS, KEPT, FUNNEL = "pairs.parquet", "kept", "funnel.json"
CATEGORY = "category"
_PRIOR = "CAST(counts.n AS DOUBLE) / mentions.t"
# Equal priors have one rank, and the next lower prior has the next one.
_PAIRS = (
    "SELECT counts.s AS s, counts.e AS e, counts.f AS f, counts.n AS n, counts.c AS c, counts.d AS d, "
    "mentions.t AS t, inlinks.i AS i, inlinks.k AS k, wikis.a AS a, targets.n AS z, edits.d AS x, edits.l AS l, "
    f"CAST(dense_rank() OVER (PARTITION BY counts.s, counts.e ORDER BY {_PRIOR} DESC) AS BIGINT) AS r, "
    f"CAST(dense_rank() OVER (PARTITION BY counts.s, counts.f ORDER BY {_PRIOR} DESC) AS BIGINT) AS q "
    "FROM counts JOIN mentions ON mentions.s = counts.s AND mentions.f = counts.f "
    "JOIN inlinks ON inlinks.s = counts.s AND inlinks.e = counts.e JOIN wikis ON wikis.s = counts.s "
    "JOIN targets ON targets.s = counts.s AND targets.e = counts.e "
    "JOIN edits ON edits.f = counts.f AND edits.t = targets.t"
)


class Interval(NamedTuple):
    """A snapshot's own time: what was created after `since` and until `until`, the snapshot, is new in it."""

    since: str
    until: str


class Filter(NamedTuple):
    """A filter by its number in the paper and the name of its hyperparameter; `keeps` is its condition."""

    number: int
    name: str
    keeps: str
    counted: str = "c"  # the column that counts the mentions that are left


class Step(msgspec.Struct):
    """What a filter did, by snapshot: mentions that reached it, those left, and those it would remove on its own."""

    number: int
    name: str
    before: list[int]
    left: list[int]
    alone: list[int | None]


def filters(options: TemporalOptions) -> list[Filter]:
    """Filters 1 to 6, in their order; bounds are compared in whole numbers."""
    rank = "r" if options.rank_among == "mentions" else "q"
    return [
        Filter(1, "min_men_prior_rank", f"{rank} >= {options.min_men_prior_rank}"),
        Filter(1, "max_men_prior", _at_most("n", "t", options.max_men_prior)),
        Filter(2, "min_nr_inlinks", f"i >= {options.min_nr_inlinks}"),
        Filter(2, "min_len_target_ent", f"z >= {options.min_len_target_ent}"),
        Filter(2, "min_ent_prior", _at_least("i", "a", options.min_ent_prior)),
        Filter(2, "max_ent_prior", _at_most("i", "a", options.max_ent_prior)),
        Filter(3, "min_men_prior", _at_least("n", "t", options.min_men_prior)),
        Filter(4, "min_mens_per_ent", f"n >= {options.min_mens_per_ent}"),
        Filter(5, "ed_men_title", _at_least("x", "l", options.ed_men_title)),
        Filter(6, "redirects", "d > 0", "d"),
    ]


def _at_least(part: str, whole: str, bound: float) -> str:
    above, below = exact(bound)
    return f"{part} * {below} >= {whole} * {above}"


def _at_most(part: str, whole: str, bound: float) -> str:
    above, below = exact(bound)
    return f"{part} * {below} <= {whole} * {above}"


def apply_filters(
    engine: Engine,
    counted: Path,
    edits: Sequence[Path],
    options: TemporalOptions,
    intervals: Sequence[Interval],
    continual: Sequence[int] | None,
    path: Path,
) -> None:
    """Write all pairs, those that pass by bucket of their entities, and what each filter did.

    `continual` are the entities that are so by an earlier part of the dataset, where there is one.
    """
    path.mkdir(exist_ok=True)
    with engine.sql(path.parent) as session:
        session.view("counts", ParquetFiles([counted / COUNTS]))
        session.view("targets", ParquetFiles([counted / TARGETS]))
        session.view("edits", JsonFiles(edits, EDITS))
        _gather(session)
        session.write(_PAIRS, path / PAIRS)
        session.view("pairs", ParquetFiles([path / PAIRS]))
        _make_categories(session, intervals, continual)
        chosen = filters(options)
        steps = list(_steps(session, chosen, len(intervals)))
        passing = " AND ".join(each.keeps for each in chosen)
        session.table(
            "kept",
            f"SELECT pairs.s AS s, pairs.e AS e, f, g, d, pairs.e % {BUCKETS} AS b FROM pairs "
            f"JOIN categories ON categories.s = pairs.s AND categories.e = pairs.e WHERE {passing}",
        )
        left = by_snapshot(session, "SELECT s, CAST(sum(d) AS BIGINT) AS n FROM kept GROUP BY s", len(intervals))
        steps.append(Step(0, CATEGORY, steps[-1].left, left, [None] * len(left)))
        (path / KEPT).mkdir(exist_ok=True)
        session.partition("SELECT s, e, f, g, d, b FROM kept", "b", path / KEPT)
    (path / FUNNEL).write_bytes(msgspec.json.encode(steps))


def _gather(session: SqlSession) -> None:
    """What the columns of pairs are counted from."""
    session.table("mentions", "SELECT s, f, CAST(sum(n) AS BIGINT) AS t FROM counts GROUP BY s, f")
    session.table("inlinks", "SELECT s, e, CAST(sum(n) AS BIGINT) AS i, count(*) AS k FROM counts GROUP BY s, e")
    session.table("wikis", "SELECT s, CAST(sum(n) AS BIGINT) AS a FROM counts GROUP BY s")


def _make_categories(session: SqlSession, intervals: Sequence[Interval], continual: Sequence[int] | None) -> None:
    """`categories`: 0 for continual entities, 1 for the new ones of each snapshot, as in `rows.CATEGORIES`."""
    times = " UNION ALL ".join(
        f"SELECT {number} AS s, '{each.since}' AS since, '{each.until}' AS until"
        for number, each in enumerate(intervals)
    )
    session.table("times", times)
    listed = ", ".join(map(str, continual or [])) or "-1"
    # Who is continual in the dataset is not new as well in a snapshot from before its first.
    session.table(
        "recent",
        "SELECT DISTINCT targets.s AS s, targets.e AS e FROM targets JOIN times ON times.s = targets.s "
        f"WHERE targets.created > times.since AND targets.created <= times.until AND NOT targets.e IN ({listed})",
    )
    if continual is not None:
        staying = f"SELECT DISTINCT s, e, 0 AS g FROM targets WHERE e IN ({listed})"
    else:
        # Created before the first interval: what is new in the first snapshot is not continual, though it may stay.
        staying = (
            "SELECT times.s AS s, often.e AS e, 0 AS g FROM "
            "(SELECT e, count(DISTINCT s) AS n FROM targets GROUP BY e) often CROSS JOIN times "
            f"WHERE n = {len(intervals)} AND NOT EXISTS (SELECT 1 FROM recent WHERE recent.e = often.e)"
        )
    session.table("categories", f"{staying} UNION ALL SELECT s, e, 1 AS g FROM recent")


def _steps(session: SqlSession, chosen: Sequence[Filter], snapshots: int) -> list[Step]:
    """What each filter removes of the mentions that those before it left, and what it would remove alone."""
    query = "SELECT s, CAST(sum({count}) AS BIGINT) AS n FROM pairs WHERE {where} GROUP BY s"
    all_of_them = by_snapshot(session, query.format(count="c", where="c > 0"), snapshots)
    before, passed, steps = all_of_them, ["c > 0"], []
    for each in chosen:
        passed.append(each.keeps)
        left = by_snapshot(session, query.format(count=each.counted, where=" AND ".join(passed)), snapshots)
        keeps = by_snapshot(session, query.format(count=each.counted, where=each.keeps), snapshots)
        alone: list[int | None] = [whole - some for whole, some in zip(all_of_them, keeps, strict=True)]
        steps.append(Step(each.number, each.name, before, left, alone))
        before = left
    return steps


def by_snapshot(session: SqlSession, query: str, snapshots: int) -> list[int]:
    """The numbers that a query gives by snapshot; 0 where it gives none."""
    found = dict(session.rows(query))
    return [int(found.get(number, 0)) for number in range(snapshots)]
