"""Changing a knowledge base: every change is one transaction that readers see at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from entlink.documents import Entity
from entlink.errors import ExistsError, InputError, NotFoundError
from entlink.kb.folding import key_of
from entlink.kb.ingest import add_version
from entlink.kb.names import tidy
from entlink.kb.store import Store
from entlink.kb.writing import (
    delete_entity,
    insert_entity,
    record_edit,
    replace_current,
    transaction,
    write_lock,
)
from entlink.sources.fields import FieldError, check_texts
from entlink.sources.page import Page

_ROWS_A_TRANSACTION = 1_000


class SyncReport(msgspec.Struct):
    """What a sync did."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0


@contextmanager
def open_for_writing(folder: str | Path) -> Iterator[Store]:
    """The store under the folder's write lock."""
    store = Store(Path(folder), writable=True)
    try:
        with write_lock(store.folder):
            yield store
    finally:
        store.close()


def add(
    folder: str | Path, entities: Iterable[Entity | Page], *, weight: int | None = None, replace: bool = False
) -> int:
    """Add entities, or with `replace` change those that are there; returns how many.

    `weight` is the pseudo-count of each of their names; by default what an average name of the knowledge
    base has, so that a new "Mercury" neither always wins nor never. All are added, or none.
    """
    count = 0
    with open_for_writing(folder) as store, transaction(store) as connection:
        for item in entities:
            page = item if isinstance(item, Page) else Page(item)
            _check(page.entity)
            _add_one(store, connection, page, weight, replace=replace)
            count += 1
    return count


def _add_one(store: Store, connection: sqlite3.Connection, page: Page, weight: int | None, *, replace: bool) -> None:
    key = store.key(page.entity.id)
    dated = page.valid_from is not None or page.valid_to is not None
    if key is None:
        own = _added_weight(store) if weight is None else weight
        key = insert_entity(connection, page.entity, page.valid_from, page.valid_to, own)
    elif dated and not replace:
        _add_version(store, connection, key, page)
    elif replace:
        valid_from, valid_to = (page.valid_from, page.valid_to) if dated else store.period(key)
        replace_current(connection, key, page.entity, valid_from, valid_to)
        if weight is not None:
            connection.execute("UPDATE entities SET weight = ? WHERE key = ?", (weight, key))
    else:
        raise ExistsError(
            f"{store.folder}: an entity {page.entity.id!r} is there already. "
            "--replace changes it; a valid_from date adds a version"
        )
    record_edit(connection, key, "put")


def _add_version(store: Store, connection: sqlite3.Connection, key: int, page: Page) -> None:
    try:
        add_version(store, connection, key, page)
    except sqlite3.IntegrityError:
        since = page.valid_from or "the beginning"
        raise ExistsError(
            f"{store.folder}: the entity {page.entity.id!r} has a version from {since} already. "
            "Give another valid_from; --replace changes the latest version"
        ) from None


def remove(folder: str | Path, identifiers: Iterable[str]) -> int:
    """Remove entities by id or other identifier; all or none."""
    count = 0
    with open_for_writing(folder) as store, transaction(store) as connection:
        for identifier in identifiers:
            key = _required(store, identifier)
            delete_entity(connection, key)
            record_edit(connection, key, "remove")
            count += 1
    return count


def pin(folder: str | Path, surface: str, identifier: str, *, case_sensitive: bool = False) -> None:
    """From now on the surface always means this entity."""
    with open_for_writing(folder) as store, transaction(store) as connection:
        _set_rule(connection, surface, _required(store, identifier), case_sensitive=case_sensitive)


def block(folder: str | Path, surface: str, *, case_sensitive: bool = False) -> None:
    """From now on the surface is never linked."""
    with open_for_writing(folder) as store, transaction(store) as connection:
        _set_rule(connection, surface, None, case_sensitive=case_sensitive)


def unrule(folder: str | Path, surface: str) -> int:
    """Forget the pins and blocks on a surface; returns how many there were."""
    with open_for_writing(folder) as store, transaction(store) as connection:
        return connection.execute("DELETE FROM rules WHERE surface = ?", (tidy(surface),)).rowcount


def _set_rule(connection: sqlite3.Connection, surface: str, entity: int | None, *, case_sensitive: bool) -> None:
    if not key_of(surface):
        raise InputError("an empty surface can be neither pinned nor blocked")
    connection.execute("INSERT OR REPLACE INTO rules VALUES (?, ?, ?)", (tidy(surface), int(case_sensitive), entity))


def sync(folder: str | Path, pages: Iterable[Page], *, delete: bool = False) -> SyncReport:
    """Bring a knowledge base in line with a table, by id; `delete` removes what the table lacks.

    Rows go in a thousand at a time; a sync that was cut off has done a part and can simply be run again.
    """
    report = SyncReport()
    with open_for_writing(folder) as store:
        connection = store.connection
        connection.execute("CREATE TEMP TABLE seen (id TEXT PRIMARY KEY) WITHOUT ROWID")
        for batch in _batches(pages):
            with transaction(store):
                for page in batch:
                    _sync_one(store, connection, page, report)
        if delete:
            _delete_unseen(store, report)
    return report


def _sync_one(store: Store, connection: sqlite3.Connection, page: Page, report: SyncReport) -> None:
    _check(page.entity)
    try:
        connection.execute("INSERT INTO seen VALUES (?)", (page.entity.id,))
    except sqlite3.IntegrityError:
        raise InputError(
            f"the id {page.entity.id!r} appears twice in the table. Ids must be unique to sync by them"
        ) from None
    key = store.key(page.entity.id)
    if key is None:
        _add_one(store, connection, page, None, replace=False)
        report.added += 1
    elif store.entity(key) == page.entity and (page.valid_from, page.valid_to) in ((None, None), store.period(key)):
        report.unchanged += 1
    else:
        _add_one(store, connection, page, None, replace=True)
        report.changed += 1


def _delete_unseen(store: Store, report: SyncReport) -> None:
    with transaction(store) as connection:
        rows = connection.execute("SELECT key FROM entities WHERE id NOT IN (SELECT id FROM seen)").fetchall()
        for (key,) in rows:
            delete_entity(connection, key)
            record_edit(connection, key, "remove")
        report.removed = len(rows)


def _batches(pages: Iterable[Page]) -> Iterator[list[Page]]:
    batch: list[Page] = []
    for page in pages:
        batch.append(page)
        if len(batch) >= _ROWS_A_TRANSACTION:
            yield batch
            batch = []
    if batch:
        yield batch


def _check(entity: Entity) -> None:
    if not entity.id or not entity.title.strip():
        raise InputError(f"an entity needs an id and a title, got id {entity.id!r} and title {entity.title!r}")
    try:
        check_texts(msgspec.structs.asdict(entity))
        msgspec.json.encode(entity)
    except FieldError as problem:
        raise InputError(f"entity {entity.id!r}: {problem}") from problem
    except UnicodeEncodeError as problem:
        raise InputError(f"entity {entity.id!r}: a text of it is not valid Unicode ({problem.reason})") from problem


def _required(store: Store, identifier: str) -> int:
    key = store.resolve(identifier)
    if key is None:
        raise NotFoundError(f"{store.folder}: no entity {identifier!r}. `entlink kb search` finds entities by name")
    return key


def _added_weight(store: Store) -> int:
    return int(store.meta("added_weight", "0"))
