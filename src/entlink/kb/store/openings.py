"""Names found in openings, in the store: which were found, which of them hold, and what they redirect.

What was found is kept whether it holds or not, so that it can be judged anew when knowledge bases are merged. Stores
made before there were any lack the table; they read as ones without such names.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from entlink.kb.names.opening_names import names_in_opening
from entlink.kb.names.own_names import NameSource, given_names
from entlink.kb.store.manifest import OpeningTotals
from entlink.kb.store.store import has_table
from entlink.text.folding import key_of

if TYPE_CHECKING:
    from entlink.io.progress import Progress
    from entlink.kb.store.store import Store

_EVERY = 20_000
_OTHER, _TITLE = 0, 1  # what a given name is


def has_openings(connection: sqlite3.Connection) -> bool:
    """Whether the store is of a release that keeps names of openings."""
    return has_table(connection, "opening_names")


def opening_names(store: Store, first: int, last: int) -> dict[int, list[str]]:
    """The names that hold, of the entities with keys in `[first, last]`."""
    found: dict[int, list[str]] = defaultdict(list)
    if has_openings(store.connection):
        query = "SELECT entity, name FROM opening_names WHERE entity BETWEEN ? AND ? AND holds ORDER BY entity, name"
        for entity, name in store.connection.execute(query, (first, last)):
            found[entity].append(name)
    return found


def drop_openings(connection: sqlite3.Connection, key: int) -> None:
    """Remove the names of an entity's opening, and what they redirect."""
    if has_openings(connection):
        connection.execute(
            "DELETE FROM redirects WHERE source IN (SELECT redirect FROM opening_names WHERE entity = ?)", (key,)
        )
        connection.execute("DELETE FROM opening_names WHERE entity = ?", (key,))


def find_openings(store: Store, progress: Progress) -> OpeningTotals:
    """Read the openings of all entities and settle which of their names hold; inside a transaction."""
    connection, last = store.connection, store.last_key()
    progress("clearing names", 0, 1)
    _drop_redirects(connection)  # before what tells them from given ones is gone: this may be a second run
    connection.execute("DELETE FROM opening_names")
    for number, (key, _, version) in enumerate(store.entities(), 1):
        entity = version.entity
        for name in names_in_opening(entity.title, entity.description, entity.language):
            put_opening(connection, key, name)
        if number % _EVERY == 0:
            progress("reading openings", key, last)
    progress("reading openings", last, last)
    return settle_openings(store, progress)


def put_opening(connection: sqlite3.Connection, key: int, name: str) -> None:
    """Note a name that was found; whether it holds is settled later."""
    connection.execute("INSERT OR IGNORE INTO opening_names VALUES (?, ?, 0, NULL)", (key, name))


def merge_openings(
    merged: Store, stores: Sequence[Store], new_key: Callable[[int, int], int | None], progress: Progress
) -> OpeningTotals | None:
    """Take over what was found by knowledge bases that are merged, and settle it anew; None if none has read any."""
    read = False
    for number, store in enumerate(stores):
        if not has_openings(store.connection):
            continue
        for old, name in store.connection.execute("SELECT entity, name FROM opening_names ORDER BY entity, name"):
            read = True
            key = new_key(number, old)
            if key is not None:
                put_opening(merged.connection, key, name)
    return settle_openings(merged, progress) if read else None


def settle_openings(store: Store, progress: Progress) -> OpeningTotals:
    """Settle which of the names that were found hold, and which are redirects; inside a transaction.

    The title of another entity is no name, unless that one's opening names this one by its title in turn. A name that
    nobody else has, and that is no redirect, becomes one. Its own title, which a merge may have found in the opening
    of another that is now one with it, is no further name.
    """
    connection = store.connection
    progress("clearing redirects", 0, 1)
    _drop_redirects(connection)
    progress("clearing what held", 0, 1)
    connection.execute("UPDATE opening_names SET holds = 0, redirect = NULL")
    _fold_found(connection, progress)
    _fold_given(store, progress)
    progress("choosing the names that hold", 0, 1)
    connection.execute(_HOLDING)
    _redirect_free(connection, progress)
    for table in ("found_names", "given_names", "free_names"):
        connection.execute(f"DROP TABLE temp.{table}")
    progress("counting names", 0, 1)
    counts = connection.execute("SELECT count(*), sum(holds), count(DISTINCT redirect) FROM opening_names").fetchone()
    return OpeningTotals(*(int(count or 0) for count in counts))


def _drop_redirects(connection: sqlite3.Connection) -> None:
    """Remove the redirects that were inferred; those that were given stay."""
    connection.execute(
        "DELETE FROM redirects WHERE source IN (SELECT redirect FROM opening_names WHERE redirect IS NOT NULL)"
    )


def _redirect_free(connection: sqlite3.Connection, progress: Progress) -> None:
    """Make redirects of the names that are free. By way of a table: what is read must not change while it is read."""
    progress("choosing redirects", 0, 1)
    connection.execute(f"CREATE TEMP TABLE free_names AS {_FREE}")
    total = connection.execute("SELECT count(*) FROM temp.free_names").fetchone()[0]
    rows = connection.execute("SELECT entity, name FROM temp.free_names")
    connection.executemany(
        "UPDATE opening_names SET redirect = ? WHERE entity = ? AND name = ?",
        (
            (name[0].upper() + name[1:], entity, name)
            for entity, name in _told(rows, "marking redirects", total, progress)
        ),
    )
    progress("writing redirects", 0, 1)
    connection.execute(
        "INSERT OR IGNORE INTO redirects SELECT redirect, id FROM opening_names JOIN entities ON key = entity "
        "WHERE redirect IS NOT NULL ORDER BY redirect"
    )


def _fold_found(connection: sqlite3.Connection, progress: Progress) -> None:
    """`found_names`: the key of each name that was found."""
    connection.execute("CREATE TEMP TABLE found_names (entity INTEGER, name TEXT, key TEXT)")
    total = connection.execute("SELECT count(*) FROM opening_names").fetchone()[0]
    rows = connection.execute("SELECT entity, name FROM opening_names")
    connection.executemany(
        "INSERT INTO temp.found_names VALUES (?, ?, ?)",
        ((entity, name, key_of(name)) for entity, name in _told(rows, "folding names", total, progress)),
    )
    progress("sorting names", 0, 1)
    connection.execute("CREATE INDEX temp.found_key ON found_names (key, entity)")


def _told(rows: Iterator[tuple[int, str]], what: str, total: int, progress: Progress) -> Iterator[tuple[int, str]]:
    for number, row in enumerate(rows):
        if number % _EVERY == 0:
            progress(what, number, total)
        yield row


def _fold_given(store: Store, progress: Progress) -> None:
    """`given_names`: those of the keys that entities give themselves, or that redirect (then there is no entity)."""
    connection = store.connection
    connection.execute("CREATE TEMP TABLE given_names (key TEXT, entity INTEGER, kind INTEGER)")
    connection.executemany(
        "INSERT INTO temp.given_names SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM temp.found_names WHERE key = ?1)",
        _given(store, progress),
    )
    progress("sorting given names", 0, 2)
    connection.execute("CREATE INDEX temp.given_key ON given_names (key, kind)")
    progress("sorting given names", 1, 2)
    connection.execute("CREATE INDEX temp.given_entity ON given_names (entity, kind)")


def _given(store: Store, progress: Progress) -> Iterator[tuple[str, int | None, int]]:
    last = store.last_key()
    for number, (key, _, version) in enumerate(store.entities(), 1):
        for name, source in given_names(version.entity):
            yield key_of(name), key, _TITLE if source is NameSource.TITLE else _OTHER
        if number % _EVERY == 0:
            progress("settling names", key, last)
    for (source,) in store.connection.execute("SELECT source FROM redirects"):
        yield key_of(source), None, _OTHER


# Names each other: the other one's opening has a name that is the title of this one.
_HOLDING = f"""
UPDATE opening_names SET holds = 1 WHERE (entity, name) IN (
    SELECT f.entity, f.name FROM temp.found_names f WHERE NOT EXISTS (
        SELECT 1 FROM temp.given_names other
        WHERE other.key = f.key AND other.kind = {_TITLE} AND other.entity <> f.entity AND NOT EXISTS (
            SELECT 1 FROM temp.given_names own JOIN temp.found_names back
            ON back.key = own.key AND back.entity = other.entity
            WHERE own.entity = f.entity AND own.kind = {_TITLE}
        )
    ) AND NOT EXISTS (
        SELECT 1 FROM temp.given_names own WHERE own.key = f.key AND own.kind = {_TITLE} AND own.entity = f.entity
    )
)
"""
_FREE = """
SELECT o.entity, o.name FROM opening_names o JOIN temp.found_names f ON f.entity = o.entity AND f.name = o.name
WHERE o.holds
AND NOT EXISTS (SELECT 1 FROM temp.given_names g WHERE g.key = f.key)
AND NOT EXISTS (SELECT 1 FROM temp.found_names r WHERE r.key = f.key AND r.entity <> f.entity)
ORDER BY o.entity, o.name
"""
