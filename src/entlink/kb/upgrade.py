"""Bringing the store of an older release up to this one, one version at a time.

A migration is an SQL script in `migrations/`, named after the version it leads to; all that are due run in a
single transaction, so that a store is at one version or at the next, never between.
"""

from __future__ import annotations

import sqlite3
from importlib.resources import files
from pathlib import Path

from entlink.errors import DamagedError, NotFoundError, VersionError
from entlink.kb.store import DATABASE, STORE_VERSION
from entlink.kb.writing import set_meta, statements, write_lock


def upgrade(folder: str | Path) -> tuple[int, int]:
    """Upgrade a knowledge base in place; returns the version it had and the one it has now."""
    folder = Path(folder)
    if not (folder / DATABASE).is_file():
        raise NotFoundError(f"{folder}: no knowledge base there (no {DATABASE})")
    with write_lock(folder):
        connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
        try:
            return _migrate(connection, folder)
        finally:
            connection.close()


def _migrate(connection: sqlite3.Connection, folder: Path) -> tuple[int, int]:
    found = _version(connection, folder)
    if found > STORE_VERSION:
        raise VersionError(
            f"{folder}: made by a newer entlink (store version {found}, this release has {STORE_VERSION}). "
            "Upgrade entlink: pip install -U entlink"
        )
    connection.execute("BEGIN IMMEDIATE")
    for version in range(found + 1, STORE_VERSION + 1):
        script = files("entlink.kb").joinpath("migrations", f"{version:04}.sql").read_text(encoding="utf8")
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
