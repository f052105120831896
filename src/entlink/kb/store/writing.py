"""Writing `kb.sqlite`: the tables filled in bulk or one entity at a time, under the folder's write lock."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from entlink.documents import Entity
from entlink.errors import EntlinkError, LockedError
from entlink.io.atomic import write_whole
from entlink.io.checksums import checksum
from entlink.kb.store.hyperlinks import drop_hyperlinks
from entlink.kb.store.openings import drop_openings
from entlink.kb.store.records import encode_record
from entlink.kb.store.store import CHECKSUM, DATABASE, STORE_VERSION, Store
from entlink.text.dates import now

if TYPE_CHECKING:
    from entlink.kb.store.texts import TextWriter


def create_store(folder: Path) -> None:
    """An empty store in the folder."""
    with errors_told(folder), closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN")
        for statement in statements(_script("schema.sql")):
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES ('store_version', ?)", (str(STORE_VERSION),))
        connection.execute("COMMIT")


def create_indexes(store: Store) -> None:
    with errors_told(store.folder):
        for statement in statements(_script("indexes.sql")):
            store.connection.execute(statement)


def create_type_tables(connection: sqlite3.Connection) -> None:
    """The tables of what is known of types, in a store of a release that had none."""
    made = [one.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS") for one in statements(_script("schema.sql"))]
    indexes = statements(_script("indexes.sql"))
    for statement in (*made, *indexes):
        if "type_names" in statement or "type_parents" in statement:
            connection.execute(statement)


def empty_log(store: Store) -> None:
    """Write what is in the write-ahead log into the database, so that the folder can be moved or copied.

    All of it is then in one file, whose checksum is noted. Where others are reading that is left for another time.
    """
    with errors_told(store.folder):
        is_busy = store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if not is_busy:
        told = f"{checksum(store.folder / DATABASE)}  {DATABASE}\n"  # as sha256sum --check reads it
        write_whole(store.folder / CHECKSUM, told.encode())


def _script(name: str) -> str:
    return files("entlink.kb.store").joinpath(name).read_text(encoding="utf8")


def statements(script: str) -> list[str]:
    """The statements of an SQL script, run one by one: sqlite3's own script runner commits first."""
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [statement for statement in "\n".join(lines).split(";") if statement.strip()]


@contextmanager
def transaction(store: Store, *, keep: bool = True) -> Iterator[sqlite3.Connection]:
    """All or nothing, and nothing without `keep`. A full disk or a second writer is told in words."""
    connection = store.connection
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        if keep:
            (store.folder / CHECKSUM).unlink(missing_ok=True)
        connection.execute("COMMIT" if keep else "ROLLBACK")
    except BaseException as problem:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(problem, sqlite3.OperationalError):
            raise _explained(problem, store.folder) from problem
        raise


@contextmanager
def errors_told(folder: Path) -> Iterator[None]:
    """Outside of a transaction too, a full disk is told in words."""
    try:
        yield
    except sqlite3.OperationalError as problem:
        raise _explained(problem, folder) from problem


_LITTLE = 1 << 16  # bytes: with fewer free, SQLite's errors are many, and all mean a full disk


def _explained(problem: sqlite3.OperationalError, folder: Path) -> EntlinkError:
    if "locked" in str(problem):
        return LockedError(f"{folder}: another process is writing to it. Try again when it is done")
    if "full" in str(problem) or shutil.disk_usage(folder).free < _LITTLE:
        return EntlinkError(f"{folder}: the disk is full; nothing was changed. Make room and run the command again")
    return EntlinkError(f"{folder}: {problem}; nothing was changed. Check the disk and run the command again")


def set_meta(connection: sqlite3.Connection, name: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))


def insert_entity(
    connection: sqlite3.Connection,
    entity: Entity,
    valid_from: str | None,
    valid_to: str | None,
    weight: int = 0,
    *,
    texts: TextWriter | None = None,
) -> int:
    """Insert a new entity; sqlite3.IntegrityError when the id is taken. Its description goes to `texts`, if given."""
    record = encode_record(entity, () if texts is None else texts.put(entity.description))
    cursor = connection.execute(
        "INSERT INTO entities (id, title, valid_from, valid_to, weight, record) VALUES (?, ?, ?, ?, ?, ?)",
        (entity.id, entity.title, valid_from, valid_to, weight, record),
    )
    key = cursor.lastrowid
    assert key is not None
    _insert_facets(connection, key, entity)
    return key


def replace_current(
    connection: sqlite3.Connection, key: int, entity: Entity, valid_from: str | None, valid_to: str | None
) -> None:
    connection.execute(
        "UPDATE entities SET title = ?, valid_from = ?, valid_to = ?, record = ? WHERE key = ?",
        (entity.title, valid_from, valid_to, encode_record(entity), key),
    )
    connection.execute("DELETE FROM types WHERE entity = ?", (key,))
    connection.execute("DELETE FROM identifiers WHERE entity = ?", (key,))
    _insert_facets(connection, key, entity)


def insert_version(
    connection: sqlite3.Connection, key: int, entity: Entity, valid_from: str | None, valid_to: str | None
) -> None:
    """Keep a version beside the current one; an undated beginning sorts before every date."""
    connection.execute(
        "INSERT OR REPLACE INTO versions VALUES (?, ?, ?, ?, ?)",
        (key, valid_from or "", valid_to, entity.title, encode_record(entity)),
    )


def delete_entity(connection: sqlite3.Connection, key: int) -> None:
    connection.execute("DELETE FROM entities WHERE key = ?", (key,))
    for table in ("types", "identifiers", "versions", "rules"):
        connection.execute(f"DELETE FROM {table} WHERE entity = ?", (key,))
    drop_hyperlinks(connection, key)
    drop_openings(connection, key)


def record_edit(connection: sqlite3.Connection, key: int, operation: str) -> None:
    connection.execute("INSERT INTO edits (entity, operation, time) VALUES (?, ?, ?)", (key, operation, now()))


def insert_redirects(store: Store, redirects: Iterable[tuple[str, str]]) -> None:
    """Fill the table of redirects; one that is there already is replaced."""
    with transaction(store) as connection:
        connection.executemany("INSERT OR REPLACE INTO redirects VALUES (?, ?)", redirects)


def _insert_facets(connection: sqlite3.Connection, key: int, entity: Entity) -> None:
    if entity.types:
        connection.executemany("INSERT OR IGNORE INTO types VALUES (?, ?)", [(name, key) for name in entity.types])
    if entity.external:
        rows = [(value, scheme, key) for scheme, value in entity.external.items()]
        connection.executemany("INSERT OR IGNORE INTO identifiers VALUES (?, ?, ?)", rows)
