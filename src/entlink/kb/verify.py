"""Whether the files of a knowledge base are still what was written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from entlink.errors import DamagedError
from entlink.io.checksums import checksum
from entlink.kb.indexes.names import IndexCard, read_card
from entlink.kb.store.manifest import Manifest
from entlink.kb.store.store import DATABASE, Store

_MOST_TOLD = 5


def verify(folder: str | Path) -> int:
    """Check the database and recompute the checksums of index and counts; returns how many files were checked.

    DamagedError tells which files are missing or altered, and how to mend them.
    """
    store = Store(Path(folder))
    try:
        problems = list(_database_problems(store))
        card, manifest = _card(store), _manifest(store)
        index = store.folder / store.meta("index")
    finally:
        store.close()
    broken_index = list(_altered(index, card.files))
    broken_counts = list(_altered(store.folder / "counts", manifest.counts))
    if problems or broken_counts:
        raise _damaged(store.folder, [*problems, *broken_counts, *broken_index], "Build it again, or restore a copy")
    if broken_index:
        raise _damaged(store.folder, broken_index, f"Run `entlink kb index {store.folder}` to make its index anew")
    return 1 + len(card.files) + len(manifest.counts)


def _database_problems(store: Store) -> Iterator[str]:
    try:
        for (line,) in store.connection.execute("PRAGMA quick_check(5)").fetchall():
            if line != "ok":
                yield f"{DATABASE}: {' '.join(line.split())}"
    except sqlite3.DatabaseError as problem:
        yield f"{DATABASE}: {problem}"


def _card(store: Store) -> IndexCard:
    index = store.folder / (store.meta("index") or "index-1")
    try:
        return read_card(index)
    except (OSError, msgspec.DecodeError) as problem:
        hint = f"Run `entlink kb index {store.folder}` to make its index anew"
        raise _damaged(store.folder, [f"{index.name}/index.json cannot be read ({problem})"], hint) from problem


def _manifest(store: Store) -> Manifest:
    try:
        return msgspec.json.decode(store.meta("manifest"), type=Manifest)
    except msgspec.DecodeError as problem:
        raise _damaged(
            store.folder, [f"its manifest cannot be read ({problem})"], "Build it again, or restore a copy"
        ) from problem


def _altered(folder: Path, files: Mapping[str, str]) -> Iterator[str]:
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            yield f"{folder.name}/{name} is missing"
        elif checksum(path) != expected:
            yield f"{folder.name}/{name} was altered or cut off"


def _damaged(folder: Path, problems: list[str], hint: str) -> DamagedError:
    told = "; ".join(problems[:_MOST_TOLD])
    more = f"; and {len(problems) - _MOST_TOLD} more" if len(problems) > _MOST_TOLD else ""
    return DamagedError(f"{folder}: {told}{more}. {hint}")
