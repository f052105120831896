"""Several knowledge bases into one: entities by id or title, counts added up, one index made."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from entlink.documents import Entity
from entlink.engine.local import LocalEngine
from entlink.engine.protocol import DEFAULT_MEMORY, Columns, Engine, JsonFiles, ParquetFiles, SqlSession
from entlink.errors import InputError
from entlink.io.atomic import write_lock
from entlink.io.checksums import checksum, checksums
from entlink.io.progress import Progress, ignore_progress
from entlink.io.resuming import clear
from entlink.kb.build.count_links import LinkTotals, read_totals
from entlink.kb.build.fill_hyperlinks import merge_hyperlinks
from entlink.kb.build.from_sources import (
    SUFFIX,
    check_found,
    check_target,
    move_into_place,
    telling_of_leftovers,
)
from entlink.kb.build.match_titles import redirect_rows
from entlink.kb.build.merge_by_title import TitleMerge
from entlink.kb.build.steps import FIRST_INDEX
from entlink.kb.indexes.derived import SHORT
from entlink.kb.indexes.names import IndexWriter
from entlink.kb.indexes.short_names import write_short
from entlink.kb.names.counts import ANCHORS, BASE, GRAPH, OCCURRENCES, counts_folder
from entlink.kb.names.index_rows import write_rows
from entlink.kb.snapshots.folders import snapshot_folders
from entlink.kb.store.manifest import Manifest, SourceCard, manifest_of
from entlink.kb.store.openings import merge_openings
from entlink.kb.store.store import DATABASE, DESCRIPTIONS, Store, Version
from entlink.kb.store.writing import (
    create_indexes,
    create_store,
    empty_log,
    insert_entity,
    insert_version,
    replace_current,
    set_meta,
    transaction,
)
from entlink.kb.types.tables import merge_types
from entlink.text.dates import now
from entlink.version import __version__

Conflict = Literal["error", "first", "last"]
By = Literal["id", "title"]
_EVERY = 20_000
_MOVED: Columns = {"k": "BIGINT", "old": "BIGINT", "new": "BIGINT"}


class _Moved(msgspec.Struct):
    """An entity's key before (in the k-th knowledge base) and after the merge."""

    k: int
    old: int
    new: int


def merge(
    folders: Sequence[str | Path],
    out: str | Path,
    *,
    by: By = "id",
    on_conflict: Conflict = "error",
    replace: bool = False,
    memory: str = DEFAULT_MEMORY,
    processes: int | None = None,
    command: str = "",
    progress: Progress = ignore_progress,
) -> Manifest:
    """Merge knowledge bases. An id in two of them with unlike entities is an error, or the first or last wins.

    With `by` "title" ids do not matter: entities of different knowledge bases are one if they have the same title, if
    the title of one is a redirect of the other, or if their openings name each other.

    Pins and blocks come along, the first one on a surface standing, and so do the links in descriptions. Links
    and text counts are added up, so the sources should not overlap.
    """
    target = Path(out)
    check_target(target, replace=replace)
    _check_unlike(folders)
    if by == "title" and on_conflict != "error":
        raise InputError("a merge by title has no conflicts of ids: leave on_conflict out, or merge by id")
    engine = LocalEngine(processes=processes, memory=memory, progress=progress)
    for folder in filter(snapshot_folders, map(Path, folders)):
        logging.getLogger(__name__).warning("%s is merged as it is now, without its snapshots", folder)
    stores = [Store(Path(folder)) for folder in folders]
    work = target.with_name(target.name + SUFFIX)
    try:
        with (
            write_lock(work),
            telling_of_leftovers(work, "is what is left: run the command again, which begins anew"),
        ):
            clear(work)  # a merge starts anew: unlike a build it reads nothing that is slow to read again
            create_store(work)
            manifest = _merge_into(engine, work, stores, by, on_conflict, command)
            check_found(manifest, work, target)
            move_into_place(work, target)
            return manifest
    finally:
        for store in stores:
            store.close()


def _check_unlike(folders: Sequence[str | Path]) -> None:
    """A knowledge base merged with itself would count all its links twice."""
    seen: set[Path] = set()
    for folder in folders:
        place = Path(folder).resolve()
        if place in seen:
            raise InputError(f"{folder} is given twice. Name each knowledge base once")
        seen.add(place)


def _merge_into(
    engine: Engine, work: Path, stores: Sequence[Store], by: By, on_conflict: Conflict, command: str
) -> Manifest:
    staging, progress = work / "staging", engine.progress
    staging.mkdir()
    merged = Store(work, writable=True)
    try:
        with transaction(merged):
            moves = Moves(merged)
            joining = TitleMerge(merged, stores, moves.new_key, progress) if by == "title" else None
            write_rows(
                _merged_entities(merged, stores, moves, joining, on_conflict, progress), staging / "moved.jsonl"
            )
            merge_hyperlinks(merged, stores, moves.new_key)
            openings = merge_openings(merged, stores, moves.new_key, progress)
            merge_types(merged, stores)
        create_indexes(merged)
        links = _merge_counts(engine, work, stores, staging)
        writer = IndexWriter(engine, merged, work / FIRST_INDEX, staging)
        writer.write_names()
        writer.finish(writer.counted_texts())
        write_short(merged, work / FIRST_INDEX / SHORT, progress)
        manifest = _manifest(merged, stores, links, command)
        manifest.openings, manifest.joined = openings, joining.totals if joining else None
        with transaction(merged) as connection:
            set_meta(connection, "index", FIRST_INDEX)
            set_meta(connection, "added_weight", str(links.mean()))
            set_meta(connection, "texts", str(manifest.texts))
            set_meta(
                connection, DESCRIPTIONS, "full" if all(store.has_whole_texts() for store in stores) else "opening"
            )
            set_meta(connection, "manifest", msgspec.json.encode(manifest).decode())
        empty_log(merged)
        return manifest
    finally:
        merged.close()


class Moves:
    """Where each entity went, in a temporary table."""

    def __init__(self, merged: Store) -> None:
        self._connection = merged.connection
        self._connection.execute(
            "CREATE TEMP TABLE moves (k INTEGER, old INTEGER, new INTEGER, PRIMARY KEY (k, old)) WITHOUT ROWID"
        )

    def note(self, number: int, old: int, new: int) -> None:
        self._connection.execute("INSERT INTO temp.moves VALUES (?, ?, ?)", (number, old, new))

    def new_key(self, number: int, old: int) -> int | None:
        """The key in the merged store of an entity of the store with this number."""
        row = self._connection.execute("SELECT new FROM temp.moves WHERE k = ? AND old = ?", (number, old)).fetchone()
        return int(row[0]) if row else None


def _merged_entities(
    merged: Store,
    stores: Sequence[Store],
    moves: Moves,
    joining: TitleMerge | None,
    on_conflict: Conflict,
    progress: Progress,
) -> Iterator[_Moved]:
    total = sum(store.count() for store in stores)
    done = 0
    for number, store in enumerate(stores):
        for old, weight, _ in store.entities():
            if joining:
                new = joining.take(number, old, weight)
            else:
                new = _merge_entity(merged, stores[: number + 1], old, weight, on_conflict)
            moves.note(number, old, new)
            done += 1
            if done % _EVERY == 0:
                progress("merging", done, total)
            yield _Moved(number, old, new)
        for rule in store.rules():
            merged.connection.execute(
                "INSERT OR IGNORE INTO rules VALUES (?, ?, ?)",
                (
                    rule.surface,
                    int(rule.case_sensitive),
                    None if rule.entity is None else moves.new_key(number, rule.entity),
                ),
            )
        if not joining:
            merged.connection.executemany("INSERT OR IGNORE INTO redirects VALUES (?, ?)", redirect_rows(store))
    if joining:
        joining.finish()
    progress("merging", total, total)


def _merge_entity(merged: Store, stores: Sequence[Store], old: int, weight: int, on_conflict: Conflict) -> int:
    """Take an entity of the last of these stores, those before it being merged; returns its new key."""
    connection = merged.connection
    current, *others = stores[-1].stated_versions(old)
    key = merged.key(current.entity.id)
    if key is None:
        key = insert_entity(connection, current.entity, current.valid_from, current.valid_to, weight)
    elif (there := merged.stated_versions(key)) == [current, *others] or on_conflict == "first":
        return key
    elif on_conflict == "error":
        raise _conflict(stores, there, [current, *others])
    else:
        connection.execute("DELETE FROM versions WHERE entity = ?", (key,))
        replace_current(connection, key, current.entity, current.valid_from, current.valid_to)
    for version in others:
        insert_version(connection, key, version.entity, version.valid_from, version.valid_to)
    return key


def _conflict(stores: Sequence[Store], there: list[Version], here: list[Version]) -> InputError:
    """The error for an id with unlike entities: in which knowledge bases, and what differs."""
    id = here[0].entity.id
    first = next(store for store in stores if store.key(id) is not None)
    return InputError(
        f"the id {id!r} means {there[0].entity.title!r} in {first.folder} and {here[0].entity.title!r} in "
        f"{stores[-1].folder}; what differs: {', '.join(_unlike(there, here))}. "
        "--on-conflict first or last chooses one"
    )


def _unlike(there: list[Version], here: list[Version]) -> list[str]:
    """The fields in which the current versions differ, and whether the others do."""
    one, two = there[0], here[0]
    fields = [name for name in Entity.__struct_fields__ if getattr(one.entity, name) != getattr(two.entity, name)]
    fields += [name for name in ("valid_from", "valid_to") if getattr(one, name) != getattr(two, name)]
    return fields + (["past versions"] if there[1:] != here[1:] else [])


def _merge_counts(
    engine: Engine, work: Path, stores: Sequence[Store], staging: Path, snapshot: str = BASE
) -> LinkTotals:
    """Add up the counts of all, with the entities' keys changed to those of the merged store."""
    folder = counts_folder(work, snapshot)
    folder.mkdir(parents=True)
    counts = [counts_folder(store.folder, snapshot) for store in stores]
    with engine.sql(staging) as session:
        session.view("moved", JsonFiles([staging / "moved.jsonl"], _MOVED), cached=True)
        anchors = _union(session, counts, ANCHORS, "surface, entity, count")
        session.write(
            f"SELECT surface, new AS entity, CAST(sum(count) AS BIGINT) AS count FROM ({anchors}) a "
            "JOIN moved ON moved.k = a.k AND old = entity GROUP BY surface, new ORDER BY surface, entity",
            folder / ANCHORS,
        )
        graph = _union(session, counts, GRAPH, "origin, target, count")
        session.write(
            f"SELECT o.new AS origin, t.new AS target, CAST(sum(count) AS BIGINT) AS count FROM ({graph}) g "
            "JOIN moved o ON o.k = g.k AND o.old = origin JOIN moved t ON t.k = g.k AND t.old = target "
            "GROUP BY o.new, t.new ORDER BY origin, target",
            folder / GRAPH,
        )
        occurrences = _union(session, counts, OCCURRENCES, "surface, count")
        if occurrences:
            session.write(
                f"SELECT surface, CAST(sum(count) AS BIGINT) AS count FROM ({occurrences}) a "
                "GROUP BY surface ORDER BY surface",
                folder / OCCURRENCES,
            )
        unresolved = sum(manifest_of(store).links_unresolved for store in stores)
        return read_totals(session, folder, unresolved)


def _union(session: SqlSession, counts: Sequence[Path], file: str, columns: str) -> str:
    """One query over the same counts of every knowledge base, with its number as `k`."""
    queries = []
    for k, folder in enumerate(counts):
        if (folder / file).exists():
            name = f"{file.removesuffix('.parquet')}_{k}"
            session.view(name, ParquetFiles([folder / file]))
            queries.append(f"SELECT {k} AS k, {columns} FROM {name}")
    return " UNION ALL ".join(queries)


def _manifest(merged: Store, stores: Sequence[Store], links: LinkTotals, command: str) -> Manifest:
    cards = [
        SourceCard(
            store.folder.name,
            "kb",
            (store.folder / DATABASE).stat().st_size,
            checksum(store.folder / DATABASE),
            store.count(),
            0,
        )
        for store in stores
    ]
    return Manifest(
        entlink=__version__,
        built=now(),
        command=command,
        sources=cards,
        entities=merged.count(),
        links=links.resolved,
        links_unresolved=links.unresolved,
        texts=sum(manifest_of(store).texts for store in stores),
        counts=checksums(merged.folder / "counts"),
    )
