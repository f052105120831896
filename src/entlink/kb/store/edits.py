"""Changing a knowledge base: every change is one transaction that readers see at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from entlink.documents import Entity
from entlink.errors import EntlinkError, ExistsError, FieldError, InputError, NotFoundError
from entlink.io.atomic import write_lock
from entlink.kb.snapshots.folders import home_of, is_snapshot
from entlink.kb.store.hyperlinks import drop_hyperlinks
from entlink.kb.store.openings import drop_openings
from entlink.kb.store.rules import set_rule, take_rules
from entlink.kb.store.store import CHECKSUM, DATABASE, Store, Version, existing
from entlink.kb.store.versions import (
    add_version,
    changed_version,
    check_apart,
    is_dated,
    meant_version,
    stated_version,
    version_from,
    with_dates_in_utc,
)
from entlink.kb.store.writing import (
    delete_entity,
    empty_log,
    insert_entity,
    insert_version,
    record_edit,
    replace_current,
    transaction,
)
from entlink.sources import Page, Source, whole_text
from entlink.text.field_limits import check_texts
from entlink.text.titles import tidy

_UNDATED = "undated"
_IDS_TOLD = 100
_SMALL = 32 << 20  # bytes: a larger database has no checksum after an edit, which is not to wait for it


class SyncReport(msgspec.Struct):
    """What a sync did: rows, each an entity or a version of one, and entities that it removed."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0

    def note(self, what: Literal["added", "changed", "unchanged", "removed"], id: str) -> None:
        """Count an entity or a version of one."""
        setattr(self, what, getattr(self, what) + 1)


class SyncPlan(SyncReport):
    """What a sync would do; `ids` has the first hundred that would be added, changed and removed."""

    ids: dict[str, list[str]] = msgspec.field(default_factory=lambda: {"added": [], "changed": [], "removed": []})

    def note(self, what: Literal["added", "changed", "unchanged", "removed"], id: str) -> None:
        super().note(what, id)
        if what in self.ids and len(self.ids[what]) < _IDS_TOLD:
            self.ids[what].append(id)


@contextmanager
def open_for_writing(folder: str | Path, *, wait: bool = False) -> Iterator[Store]:
    """The store under the folder's write lock, which is taken first: a replacement may be under way."""
    folder = existing(Path(folder))
    if is_snapshot(folder):
        raise InputError(f"{folder}: a snapshot stays as it was on its date. Edits are for {home_of(folder)} itself")
    with write_lock(folder, wait=wait), closing(Store(folder, writable=True)) as store:
        yield store
        if not (folder / CHECKSUM).exists() and (folder / DATABASE).stat().st_size < _SMALL:
            with suppress(OSError, EntlinkError):  # the edit is done, and can be without a checksum
                empty_log(store)


def add(
    folder: str | Path,
    entities: Iterable[Entity | Page],
    *,
    weight: int | None = None,
    replace: bool = False,
    wait: bool = False,
) -> int:
    """Add entities and versions, or with `replace` change those that are there; returns how many.

    With `replace` a page with dates changes the version that begins on the same date, or is a further one if there is
    none; a page without dates changes the current version, which keeps its dates.

    `weight` is the pseudo-count of each of their names; by default what an average name of the knowledge
    base has, so that a new "Mercury" neither always wins nor never. All are added, or none. With `wait` this edit,
    as any other, waits for another process that is writing.
    """
    count = 0
    with open_for_writing(folder, wait=wait) as store, transaction(store) as connection, _periods_apart(store):
        before, full = store.last_edit(), store.has_whole_texts()
        for count, item in enumerate(entities, 1):
            with _at_record(entities, count):
                page = _checked(item, full)
                if not replace:
                    _check_put_once(store, page, before)
                _add_one(store, connection, page, weight, replace=replace)
        _take_rules(store, entities)
    return count


def _take_rules(store: Store, source: object) -> None:
    """The pins and blocks of an exported knowledge base; known when all of it has been read."""

    def fail(problem: InputError) -> None:
        raise problem

    if isinstance(source, Source):
        take_rules(store, source.rules, source.path, fail)


@contextmanager
def _at_record(entities: Iterable[object], number: int) -> Iterator[None]:
    """Errors inside name the record, and its file, if the entities are read from one."""
    try:
        yield
    except (InputError, ExistsError) as problem:
        if not isinstance(entities, Source):
            raise
        kind = ExistsError if isinstance(problem, ExistsError) else InputError
        raise kind(f"{entities.path}, record {number}: {problem}") from problem


def _check_put_once(store: Store, page: Page, before: int) -> None:
    """An id that this very call has added must not be told as one that was there."""
    key = store.key(page.entity.id)
    if key is None or not _is_edited_since(store, key, before):
        return
    if not is_dated(page) or version_from(store.stated_versions(key), page.valid_from):
        raise InputError(
            f"the id {page.entity.id!r} appears a second time. "
            "Ids must be unique (each dated version needs its own valid_from)"
        )


def _is_edited_since(store: Store, key: int, before: int) -> bool:
    query = "SELECT 1 FROM edits WHERE entity = ? AND seq > ?"
    return store.connection.execute(query, (key, before)).fetchone() is not None


def _add_one(store: Store, connection: sqlite3.Connection, page: Page, weight: int | None, *, replace: bool) -> None:
    key = store.key(page.entity.id)
    if key is None:
        own = _added_weight(store) if weight is None else weight
        key = insert_entity(connection, page.entity, page.valid_from, page.valid_to, own)
    elif replace:
        before = store.stated_versions(key)
        _put_version(connection, key, before, page)
        after = [version.entity.description for version in store.stated_versions(key)]
        drop_hyperlinks(connection, key, after)
        if after[0] != before[0].entity.description:
            drop_openings(connection, key)
        if weight is not None:
            connection.execute("UPDATE entities SET weight = ? WHERE key = ?", (weight, key))
    else:
        versions = store.stated_versions(key)
        _check_is_new(store, versions, page)
        add_version(connection, key, versions[0], stated_version(page))
    record_edit(connection, key, "put")


def _put_version(connection: sqlite3.Connection, key: int, versions: list[Version], page: Page) -> None:
    """Replace the version that the page means, or add one where it means none that is there."""
    old, current = meant_version(versions, page), versions[0]
    if old is None:
        add_version(connection, key, current, stated_version(page))
    else:
        write = replace_current if old is current else insert_version
        write(connection, key, *changed_version(old, page))


def _check_is_new(store: Store, versions: list[Version], page: Page) -> None:
    id = page.entity.id
    if not is_dated(page):
        raise ExistsError(
            f"{store.folder}: an entity {id!r} is there already. "
            "--replace changes it; a valid_from date adds a version"
        )
    if version_from(versions, page.valid_from):
        since = page.valid_from or "the beginning"
        raise ExistsError(
            f"{store.folder}: the entity {id!r} has a version from {since} already. "
            "Give another valid_from; --replace changes that version"
        )


@contextmanager
def _periods_apart(store: Store) -> Iterator[None]:
    """The periods of what was edited inside must not overlap in the end, whatever the order of the edits."""
    before = store.last_edit()
    yield
    rows = store.connection.execute(
        "SELECT DISTINCT entity FROM edits WHERE seq > ? AND entity IN (SELECT entity FROM versions)", (before,)
    )
    for (key,) in rows.fetchall():
        versions = store.stated_versions(key)
        try:
            check_apart(versions)
        except FieldError as problem:
            raise InputError(f"entity {versions[0].entity.id!r}: {problem}") from problem


def remove(folder: str | Path, identifiers: Iterable[str], *, wait: bool = False) -> int:
    """Remove entities by id or another identifier that means just one; all or none."""
    count = 0
    with open_for_writing(folder, wait=wait) as store, transaction(store) as connection:
        for identifier in identifiers:
            key = _required(store, identifier)
            delete_entity(connection, key)
            record_edit(connection, key, "remove")
            count += 1
    return count


def pin(
    folder: str | Path, surface: str, identifier: str, *, case_sensitive: bool = False, wait: bool = False
) -> None:
    """From now on the surface always means this entity."""
    with open_for_writing(folder, wait=wait) as store, transaction(store) as connection:
        set_rule(connection, surface, _required(store, identifier), case_sensitive=case_sensitive)


def block(folder: str | Path, surface: str, *, case_sensitive: bool = False, wait: bool = False) -> None:
    """From now on the surface is never linked."""
    with open_for_writing(folder, wait=wait) as store, transaction(store) as connection:
        set_rule(connection, surface, None, case_sensitive=case_sensitive)


def unpin(folder: str | Path, surface: str, *, wait: bool = False) -> int:
    """Forget the pins on a surface; returns how many there were."""
    return _lift(folder, surface, "entity IS NOT NULL", wait=wait)


def unblock(folder: str | Path, surface: str, *, wait: bool = False) -> int:
    """Forget the blocks on a surface; returns how many there were."""
    return _lift(folder, surface, "entity IS NULL", wait=wait)


def unrule(folder: str | Path, surface: str, *, wait: bool = False) -> int:
    """Forget the pins and blocks on a surface; returns how many there were."""
    return _lift(folder, surface, "TRUE", wait=wait)


def _lift(folder: str | Path, surface: str, which: str, *, wait: bool) -> int:
    with open_for_writing(folder, wait=wait) as store, transaction(store) as connection:
        return connection.execute(f"DELETE FROM rules WHERE surface = ? AND {which}", (tidy(surface),)).rowcount


def sync(
    folder: str | Path,
    pages: Iterable[Entity | Page],
    *,
    delete: bool = False,
    dry_run: bool = False,
    wait: bool = False,
) -> SyncReport:
    """Bring a knowledge base in line with a table, by id; `delete` removes what the table lacks.

    Several rows with one id are versions of it, each with its own `valid_from`; rows mean versions as in `add`.
    All of it is done, or nothing. A table without rows never deletes: it is most likely one that failed to load.
    With `dry_run` nothing is changed, and what comes back is a `SyncPlan`.
    """
    report = SyncPlan() if dry_run else SyncReport()
    with open_for_writing(folder, wait=wait) as store:
        connection = store.connection
        connection.execute("CREATE TEMP TABLE seen (id TEXT, begins TEXT, PRIMARY KEY (id, begins)) WITHOUT ROWID")
        with transaction(store, keep=not dry_run), _periods_apart(store):
            rows, full = 0, store.has_whole_texts()
            for page in pages:
                rows += 1
                with _at_record(pages, rows):
                    _sync_one(store, connection, _checked(page, full), report)
            if delete:
                if not rows:
                    raise InputError("the table has no rows, and deleting what it lacks would delete everything")
                _delete_unseen(connection, report)
            _take_rules(store, pages)
    return report


def _sync_one(store: Store, connection: sqlite3.Connection, page: Page, report: SyncReport) -> None:
    _note_seen(connection, page)
    key = store.key(page.entity.id)
    old = None if key is None else meant_version(store.stated_versions(key), page)
    if old is not None and old == changed_version(old, page):
        report.note("unchanged", page.entity.id)
        return
    _add_one(store, connection, page, None, replace=True)
    report.note("added" if old is None else "changed", page.entity.id)


def _note_seen(connection: sqlite3.Connection, page: Page) -> None:
    """Only versions may have an id in common, and no two of them may begin on one date."""
    id, begins = page.entity.id, (page.valid_from or "") if is_dated(page) else _UNDATED
    seen = [row[0] for row in connection.execute("SELECT begins FROM seen WHERE id = ?", (id,))]
    if seen and (begins in seen or _UNDATED in (begins, *seen)):
        raise InputError(
            f"the id {id!r} appears twice in the table. Ids must be unique to sync by them, "
            "except that each dated version has its own valid_from"
        )
    connection.execute("INSERT INTO seen VALUES (?, ?)", (id, begins))


def _delete_unseen(connection: sqlite3.Connection, report: SyncReport) -> None:
    rows = connection.execute(
        "SELECT key, id FROM entities WHERE id NOT IN (SELECT id FROM seen) ORDER BY id"
    ).fetchall()
    for key, id in rows:
        delete_entity(connection, key)
        record_edit(connection, key, "remove")
        report.note("removed", id)


def _checked(item: Entity | Page, full: bool) -> Page:
    """The page with its dates, and its entity's description, as they are stored; an error names the entity."""
    page = item if isinstance(item, Page) else Page(item)
    if full and page.paragraphs:
        described = msgspec.structs.replace(page.entity, description=whole_text(page))
        page = msgspec.structs.replace(page, entity=described)
    entity = page.entity
    if not entity.id or not entity.title.strip():
        raise InputError(f"an entity needs an id and a title, got id {entity.id!r} and title {entity.title!r}")
    try:
        check_texts(msgspec.structs.asdict(entity))
        msgspec.json.encode(entity)
        return with_dates_in_utc(page)
    except FieldError as problem:
        raise InputError(f"entity {entity.id!r}: {problem}") from problem
    except UnicodeEncodeError as problem:
        raise InputError(f"entity {entity.id!r}: a text of it is not valid Unicode ({problem.reason})") from problem


def _required(store: Store, identifier: str) -> int:
    """The one entity an identifier means: what is changed for good must not be guessed."""
    keys = store.resolve_all(identifier)
    if not keys:
        raise NotFoundError(f"{store.folder}: no entity {identifier!r}. `entlink kb search` finds entities by name")
    if len(keys) > 1:
        ids = ", ".join(repr(head[0]) for key in keys[:5] if (head := store.head(key)))
        raise InputError(f"{store.folder}: {identifier!r} means {len(keys)} entities ({ids}). Give the id of one")
    return keys[0]


def _added_weight(store: Store) -> int:
    return int(store.meta("added_weight", "0"))
