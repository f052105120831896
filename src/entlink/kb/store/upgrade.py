"""Bringing the store of an older release up to this one, one version at a time.

A migration is an SQL script in `migrations/`, named after the version it leads to; all that are due run in a
single transaction, so that a store is at one version or at the next, never between.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path

from entlink.errors import DamagedError, VersionError
from entlink.io.atomic import write_lock
from entlink.kb.snapshots.folders import snapshot_folders
from entlink.kb.store.store import CHECKSUM, DATABASE, STORE_VERSION, existing
from entlink.kb.store.writing import errors_told, set_meta, statements


def upgrade(folder: str | Path) -> tuple[int, int]:
    """Upgrade a knowledge base in place, its snapshots first; returns the version it had and the one it has now."""
    folder = existing(Path(folder))
    for snapshot in snapshot_folders(folder):
        upgrade(snapshot)
    database = folder / DATABASE
    with (
        write_lock(folder),
        errors_told(folder),
        closing(sqlite3.connect(database, isolation_level=None)) as connection,
    ):
        return _migrate(connection, folder)


def _migrate(connection: sqlite3.Connection, folder: Path) -> tuple[int, int]:
    found = _version(connection, folder)
    if found > STORE_VERSION:
        raise VersionError(
            f"{folder}: made by a newer entlink (store version {found}, this release has {STORE_VERSION}). "
            "Upgrade entlink: pip install -U entlink"
        )
    if found == STORE_VERSION:
        return found, found
    (folder / CHECKSUM).unlink(missing_ok=True)
    connection.execute("BEGIN IMMEDIATE")
    for version in range(found + 1, STORE_VERSION + 1):
        script = files("entlink.kb.store").joinpath("migrations", f"{version:04}.sql").read_text(encoding="utf8")
        for statement in statements(script):
            connection.execute(statement)
    set_meta(connection, "store_version", str(STORE_VERSION))
    connection.execute("COMMIT")
    return found, STORE_VERSION


def _version(connection: sqlite3.Connection, folder: Path) -> int:
    try:
        row = connection.execute("SELECT value FROM meta WHERE name = 'store_version'").fetchone()
        return int(row[0])
    except (sqlite3.DatabaseError, TypeError, ValueError) as problem:
        raise DamagedError(
            f"{folder}: {DATABASE} does not say its version ({problem}); it cannot be upgraded"
        ) from problem
