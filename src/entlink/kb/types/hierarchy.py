"""Which types are kinds of which, and what they are called: the tables `type_parents` and `type_names` of a store.

Both are asked a type at a time, so that memory does not grow with them. Stores of an older release lack them: they
read as types without a hierarchy and without names.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from entlink.kb.store.store import has_table

PARENTS, NAMES = "type_parents", "type_names"
_CACHED = 20_000

# UNION leaves out what is there already, and so ends where the hierarchy runs in a circle.
_ABOVE = f"""
WITH RECURSIVE above (type) AS (
    VALUES (?) UNION SELECT parent FROM {PARENTS} JOIN above USING (type)
) SELECT type FROM above"""
_BELOW = f"""
WITH RECURSIVE below (type) AS (
    VALUES (?) UNION SELECT kind.type FROM {PARENTS} kind JOIN below ON kind.parent = below.type
) SELECT type FROM below WHERE EXISTS (SELECT 1 FROM types WHERE types.type = below.type)"""


class Hierarchy:
    """The hierarchy of types in a store; `forget` when the store has changed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.forget()

    def forget(self) -> None:
        """Drop what was read."""
        self._above: dict[str, frozenset[str]] = {}
        self._names: dict[str, str] = {}
        self._tables: dict[str, bool] = {}

    def _has(self, table: str) -> bool:
        if table not in self._tables:
            self._tables[table] = has_table(self._connection, table)
        return self._tables[table]

    @property
    def is_there(self) -> bool:
        """Whether any type is said to be below another."""
        query = f"SELECT 1 FROM {PARENTS} LIMIT 1"
        return self._has(PARENTS) and self._connection.execute(query).fetchone() is not None

    def above(self, type: str) -> frozenset[str]:
        """A type and every type that it is a kind of, however far above."""
        found = self._above.get(type)
        if found is None:
            rows = self._connection.execute(_ABOVE, (type,)) if self._has(PARENTS) else [(type,)]
            found = frozenset(row[0] for row in rows)
            if len(self._above) >= _CACHED:
                self._above.clear()
            self._above[type] = found
        return found

    def below(self, type: str) -> frozenset[str]:
        """The types that entities have, of those that are this type or a kind of it."""
        query = _BELOW if self._has(PARENTS) else "SELECT type FROM types WHERE type = ? LIMIT 1"
        return frozenset(row[0] for row in self._connection.execute(query, (type,)))

    def has_parent(self, type: str) -> bool:
        """Whether a type is said to be below another."""
        query = f"SELECT 1 FROM {PARENTS} WHERE type = ? LIMIT 1"
        return self._has(PARENTS) and self._connection.execute(query, (type,)).fetchone() is not None

    def has_any(self, types: Iterable[str]) -> bool:
        """Whether an entity has one of these types, or the hierarchy one of them."""
        asked = [("types", "type"), *([(PARENTS, "type"), (PARENTS, "parent")] if self._has(PARENTS) else [])]
        return any(
            self._connection.execute(f"SELECT 1 FROM {table} WHERE {column} = ? LIMIT 1", (type,)).fetchone()
            for type in types
            for table, column in asked
        )

    def name(self, type: str) -> str:
        """What a type is called; the type itself where nothing says it."""
        found = self._names.get(type)
        if found is None:
            query = f"SELECT name FROM {NAMES} WHERE type = ?"
            row = self._connection.execute(query, (type,)).fetchone() if self._has(NAMES) else None
            if len(self._names) >= _CACHED:
                self._names.clear()
            found = self._names[type] = row[0] if row else type
        return found

    def called(self, name: str) -> list[str]:
        """The types with this name, whatever its case."""
        if not self._has(NAMES):
            return []
        rows = self._connection.execute(f"SELECT type FROM {NAMES} WHERE name = ? COLLATE NOCASE", (name,))
        return sorted(row[0] for row in rows)
