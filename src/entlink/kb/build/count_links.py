"""The links of a build, their ends found, counted into Parquet files; `entlink.kb.names.counts` reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from entlink.engine.protocol import Columns, Engine, JsonFiles, ParquetFiles, SqlSession
from entlink.kb.build.fill_store import KEYS
from entlink.kb.build.part_files import LINKS, TITLES
from entlink.kb.names.counts import ANCHORS, BASE, GRAPH, OCCURRENCES, counts_folder
from entlink.kb.names.index_rows import COLUMNS, write_rows
from entlink.kb.store.store import Store

_STAGED: dict[str, tuple[str, Columns]] = {
    "staged_links": (
        LINKS,
        {"p": "BIGINT", "r": "BIGINT", "f": "STRING", "t": "STRING", "n": "BIGINT", "w": "STRING"},
    ),
    "stored": (KEYS, {"p": "BIGINT", "r": "BIGINT", "e": "BIGINT"}),
    "titles": (TITLES, {"p": "BIGINT", "r": "BIGINT", "t": "STRING", "w": "STRING", "i": "BIGINT"}),
}
_FOUND: Columns = {"t": "STRING", "e": "BIGINT"}


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
    engine: Engine,
    store: Store,
    parts: Sequence[Path],
    redirects: Path,
    work: Path,
    *,
    targets: Path | None = None,
    snapshot: str = BASE,
) -> LinkTotals:
    """Resolve the staged links' ends and write `anchors.parquet` and `graph.parquet`.

    A link of a wiki names a title of it, by way of `redirects` where that file is; any other may name an id as well.
    What each page's links lead to is written to `targets`, if that is given.
    """
    folder = counts_folder(store.folder, snapshot)
    folder.mkdir(parents=True, exist_ok=True)
    with engine.sql(work) as session:
        for name, (file, columns) in _STAGED.items():
            session.view(name, JsonFiles([part / file for part in parts], columns))
        # A page that did not go into the store, such as a double, has no links either.
        session.table("links", "SELECT stored.e AS o, f, t, n, w FROM staged_links JOIN stored USING (p, r)")
        _resolve(session, store, redirects, work / "resolved.jsonl")
        if targets is not None:
            _write_targets(session, targets)
        session.write(
            "SELECT f AS surface, e AS entity, CAST(sum(n) AS BIGINT) AS count FROM targeted "
            "GROUP BY f, e ORDER BY surface, entity",
            folder / ANCHORS,
        )
        session.write(
            "SELECT o AS origin, e AS target, CAST(sum(n) AS BIGINT) AS count FROM targeted "
            "GROUP BY o, e ORDER BY origin, target",
            folder / GRAPH,
        )
        totals = read_totals(session, folder)
        totals.unresolved = session.number("SELECT coalesce(sum(n), 0) FROM links") - totals.resolved
        return totals


def _resolve(session: SqlSession, store: Store, redirects: Path, path: Path) -> None:
    """A table from everything that links name, a title of a wiki or else anything, to the key of its entity."""
    session.table("titled", "SELECT w, t, min(e) AS e FROM titles JOIN stored USING (p, r) GROUP BY w, t")
    if redirects.exists():
        session.view("redirects", ParquetFiles([redirects]))
        session.table(
            "titled",
            "SELECT w, t, e FROM titled UNION ALL SELECT redirects.w AS w, redirects.source AS t, titled.e AS e "
            "FROM redirects JOIN titled ON titled.w = redirects.w AND titled.t = redirects.target WHERE NOT EXISTS "
            "(SELECT 1 FROM titled taken WHERE taken.w = redirects.w AND taken.t = redirects.source)",
        )
    named = (target for (target,) in session.rows("SELECT DISTINCT t FROM links WHERE w IS NULL"))
    write_rows(_resolutions(named, store), path)
    session.view("found", JsonFiles([path], _FOUND))
    session.table(
        "targeted",
        "SELECT f, o, n, e FROM links JOIN titled ON links.w = titled.w AND links.t = titled.t "
        "UNION ALL SELECT f, o, n, e FROM links JOIN found ON links.t = found.t WHERE links.w IS NULL",
    )


def _write_targets(session: SqlSession, path: Path) -> None:
    """Of each page, by part and record, its entity `o` and the entity `e` behind each target `t` it names."""
    session.table("named", "SELECT DISTINCT p, r, stored.e AS o, t, w FROM staged_links JOIN stored USING (p, r)")
    session.write(
        "SELECT p, r, o, named.t AS t, titled.e AS e FROM named "
        "JOIN titled ON named.w = titled.w AND named.t = titled.t "
        "UNION ALL SELECT p, r, o, named.t AS t, found.e AS e FROM named "
        "JOIN found ON named.t = found.t WHERE named.w IS NULL ORDER BY p, r",
        path,
    )


def _resolutions(named: Iterable[str], store: Store) -> Iterator[_Resolved]:
    for target in named:
        key = store.resolve(target)
        if key is not None:
            yield _Resolved(target, key)


def read_totals(session: SqlSession, folder: Path, unresolved: int = 0) -> LinkTotals:
    """Add up `anchors.parquet`."""
    session.view("anchors", ParquetFiles([folder / ANCHORS]))
    pairs = session.number("SELECT count(*) FROM anchors")
    resolved = session.number("SELECT coalesce(sum(count), 0) FROM anchors")
    return LinkTotals(resolved, unresolved, pairs)


def write_occurrences(
    engine: Engine, staged: Sequence[Path], store: Store, work: Path, *, snapshot: str = BASE
) -> None:
    """Add up the staged unlinked occurrences into `occurrences.parquet`."""
    if not any(path.stat().st_size for path in staged):
        return
    with engine.sql(work) as session:
        session.view("staged", JsonFiles(staged, COLUMNS))
        session.write(
            "SELECT f AS surface, CAST(sum(n) AS BIGINT) AS count FROM staged GROUP BY f ORDER BY surface",
            counts_folder(store.folder, snapshot) / OCCURRENCES,
        )
