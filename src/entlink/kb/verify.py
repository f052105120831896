"""Whether the files of a knowledge base are still what was written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from entlink.errors import DamagedError
from entlink.io.checksums import checksum, is_sealed
from entlink.kb.indexes.derived import COMPLETE as DERIVED
from entlink.kb.indexes.derived import DerivedCard
from entlink.kb.indexes.names import IndexCard
from entlink.kb.names.alias_index import COMPLETE
from entlink.kb.snapshots.folders import SNAPSHOTS, snapshot_folders
from entlink.kb.store.manifest import manifest_of
from entlink.kb.store.store import CHECKSUM, DATABASE, Store, existing
from entlink.kb.store.texts import TEXTS, TEXTS_CHECKSUM

_MOST_TOLD = 5
_REBUILD = "Build it again, or restore a copy"
_VECTORS = "vectors"  # the cache of vectors that are encoded on demand


class _Check(NamedTuple):
    """How many files of one kind there are, what is wrong with them, and how that is mended."""

    files: int
    problems: list[str]
    hint: str


def verify(folder: str | Path) -> int:
    """Check all files that hold something, by checksums where there are any; returns how many there are.

    DamagedError tells which files are missing or altered, and how to mend them. A large database that was edited has
    no checksum (`has_checksum`); then its structure is checked, and every entity read.
    """
    folder = existing(Path(folder))
    checks = list(_checks(folder))
    if problems := [problem for check in checks for problem in check.problems]:
        raise _damaged(folder, problems, next(check.hint for check in checks if check.problems))
    return sum(check.files for check in checks)


def has_checksum(folder: str | Path) -> bool:
    """Whether the database has a checksum: a large one has none from an edit to the next index."""
    return (Path(folder) / CHECKSUM).exists()


def _checks(folder: Path) -> Iterator[_Check]:
    """The checks, those first whose damage is worst."""
    if snapshot_folders(folder) or (folder / TEXTS).exists():  # first: who reads all entities needs them
        texts = _Check(1, _texts_problems(folder), _REBUILD)
        yield texts
        if texts.problems:
            return
    database = _Check(1, _database_problems(folder), _REBUILD)
    yield database
    if database.problems:
        return  # what it says of the other files cannot be relied on
    with closing(Store(folder)) as store:
        manifest, index = manifest_of(store), folder / (store.meta("index") or "index-1")
    yield _Check(len(manifest.counts), list(_altered(folder / "counts", manifest.counts, "counts")), _REBUILD)
    yield _card_check(index / COMPLETE, IndexCard, f"Run `entlink kb index {folder}` to make its index anew")
    for card in sorted(index.glob(f"*/{DERIVED}")):
        yield _card_check(card, DerivedCard, f"Remove {card.parent}: it is made anew when it is needed")
    for cache in sorted((folder / _VECTORS).glob("*.sqlite")):
        yield _Check(1, _cache_problems(cache), f"Remove {cache}: it is made anew when it is needed")
    for snapshot in snapshot_folders(folder):
        for check in _checks(snapshot):
            told = [f"{SNAPSHOTS}/{snapshot.name}: {problem}" for problem in check.problems]
            yield check._replace(problems=told)


def _database_problems(folder: Path) -> list[str]:
    """What is wrong with the database: by its checksum, or if it was edited, by its structure and its entities."""
    try:
        is_noted = _is_as_noted(folder)
        if is_noted is not None:
            return [] if is_noted else [f"{DATABASE} was altered or cut off: it is not what {CHECKSUM} says"]
        with closing(Store(folder)) as store:
            problems = _unsound(store.connection)
            if not problems:
                _read_all(store)
    except (sqlite3.DatabaseError, UnicodeError, DamagedError) as problem:
        return [f"{DATABASE}: {problem}"]
    return [f"{DATABASE}: {problem}" for problem in problems]


def _texts_problems(folder: Path) -> list[str]:
    """What is wrong with the texts that snapshots share: by checksum, or where none is noted, by structure."""
    is_noted = _is_as_noted(folder, TEXTS, TEXTS_CHECKSUM)
    if is_noted is None:
        return _structure_problems(folder / TEXTS, TEXTS)
    return [] if is_noted else [f"{TEXTS} was altered or cut off: it is not what {TEXTS_CHECKSUM} says"]


def _is_as_noted(folder: Path, name: str = DATABASE, note: str = CHECKSUM) -> bool | None:
    """Whether the database has its checksum; None where none was noted, or an edit took it away just now."""
    noted = folder / note
    try:
        told = noted.read_bytes()
        is_same = told == f"{checksum(folder / name)}  {name}\n".encode()
        return is_same if noted.read_bytes() == told else None
    except FileNotFoundError:
        return None


def _unsound(connection: sqlite3.Connection) -> list[str]:
    """What SQLite finds wrong with a database."""
    lines = (" ".join(line.split()) for (line,) in connection.execute(f"PRAGMA integrity_check({_MOST_TOLD})"))
    return [line for line in lines if line != "ok"]


def _read_all(store: Store) -> None:
    """Read every entity and every version: one that cannot be read is an error."""
    for _ in chain(store.entities(), store.past_versions()):
        pass


def _cache_problems(path: Path) -> list[str]:
    return _structure_problems(path, f"{path.parent.name}/{path.name}")


def _structure_problems(path: Path, name: str) -> list[str]:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            problems = _unsound(connection)
    except sqlite3.DatabaseError as problem:
        problems = [str(problem)]
    except UnicodeError:  # in SQLite's own message
        problems = ["its structure is damaged"]
    return [f"{name}: {problem}" for problem in problems]


def _card_check(path: Path, type: type[IndexCard] | type[DerivedCard], hint: str) -> _Check:
    """An index by its card: the card itself, and the files that it lists."""
    folder = path.parent
    told = folder.name if type is IndexCard else f"{folder.parent.name}/{folder.name}"
    try:
        content = path.read_bytes()
        card = msgspec.json.decode(content, type=type)
        # One that an earlier release made has no seal, and no field that is not known.
        is_old = not card.seal and msgspec.json.decode(content).keys() <= set(type.__struct_fields__)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as problem:
        return _Check(1, [f"{told}/{path.name} cannot be read ({problem})"], hint)
    problems = [] if is_old or is_sealed(content) else [f"{told}/{path.name} was altered"]
    return _Check(1 + len(card.files), [*problems, *_altered(folder, card.files, told)], hint)


def _altered(folder: Path, files: Mapping[str, str], told: str) -> Iterator[str]:
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            yield f"{told}/{name} is missing"
        elif checksum(path) != expected:
            yield f"{told}/{name} was altered or cut off"


def _damaged(folder: Path, problems: list[str], hint: str) -> DamagedError:
    told = "; ".join(problems[:_MOST_TOLD])
    more = f"; and {len(problems) - _MOST_TOLD} more" if len(problems) > _MOST_TOLD else ""
    return DamagedError(f"{folder}: {told}{more}. {hint}")
