"""The links in the descriptions of entities: where they stand, and which entities they lead to.

A row belongs to a description, known by its checksum, not to a version: links of a text that was changed are never
found, and a text that only changed its dates or its title keeps them. Stores made before there were any lack the
table; they read as ones without links.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable

import msgspec

from entlink.errors import DamagedError
from entlink.kb.store.store import Store, has_table

Hyperlink = tuple[int, int, int]  # start, end, key of the target
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[int])


def description_checksum(description: str) -> int:
    """What tells one description from another, as a signed integer of 64 bits."""
    digest = hashlib.blake2b(description.encode("utf8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def encode_hyperlinks(links: Iterable[Hyperlink]) -> bytes:
    """Links as one list of small integers: how far each begins after the one before, its length, its target."""
    flat: list[int] = []
    before = 0
    for start, end, target in sorted(links):
        flat += start - before, end - start, target
        before = start
    return _encoder.encode(flat)


def decode_hyperlinks(blob: bytes) -> list[Hyperlink]:
    """The links that were encoded, in the order of the text."""
    flat = _decoder.decode(blob)
    links: list[Hyperlink] = []
    start = 0
    for after, length, target in zip(flat[::3], flat[1::3], flat[2::3], strict=True):
        start += after
        links.append((start, start + length, target))
    return links


def has_hyperlinks(store: Store) -> bool:
    """Whether there is any link."""
    connection = store.connection
    return (
        keeps_hyperlinks(connection) and connection.execute("SELECT 1 FROM hyperlinks LIMIT 1").fetchone() is not None
    )


def hyperlinks_of(store: Store, key: int, description: str) -> list[Hyperlink]:
    """The links of a description of the entity with this key, in the order of the text."""
    if not keeps_hyperlinks(store.connection):
        return []
    row = store.connection.execute(
        "SELECT links FROM hyperlinks WHERE entity = ? AND description = ?", (key, description_checksum(description))
    ).fetchone()
    try:
        return decode_hyperlinks(row[0]) if row else []
    except (msgspec.DecodeError, ValueError) as problem:
        raise DamagedError(
            f"{store.folder}: the links of entity {key} cannot be read ({problem}). Build it again, or restore a copy"
        ) from problem


def keeps_hyperlinks(connection: sqlite3.Connection) -> bool:
    """Whether the store is of a release that keeps links."""
    return has_table(connection, "hyperlinks")


def put_hyperlinks(connection: sqlite3.Connection, key: int, description: int, links: Iterable[Hyperlink]) -> None:
    """Store the links of the description with this checksum, in place of those it had."""
    row = (key, description, encode_hyperlinks(links))
    connection.execute("INSERT OR REPLACE INTO hyperlinks VALUES (?, ?, ?)", row)


def drop_hyperlinks(connection: sqlite3.Connection, key: int, keep: Iterable[str] = ()) -> None:
    """Remove the links of an entity, but for those of the descriptions that it still has."""
    if not keeps_hyperlinks(connection):
        return
    kept = {description_checksum(description) for description in keep}
    rows = connection.execute("SELECT description FROM hyperlinks WHERE entity = ?", (key,)).fetchall()
    gone = [(key, description) for (description,) in rows if description not in kept]
    connection.executemany("DELETE FROM hyperlinks WHERE entity = ? AND description = ?", gone)
