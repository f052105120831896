"""Which entities of a knowledge base are known already: a byte for each key, so that millions are soon looked up."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from entlink.datasets.selection import hash_of
from entlink.engine.protocol import Engine, Task
from entlink.errors import InputError, SourceError
from entlink.io.ledger import Ledger, OnError
from entlink.kb.store.hyperlinks import hyperlinks_of
from entlink.kb.store.store import DATABASE, Store
from entlink.sources import Page, Part, Source, TypeNode, open_source

NEW, KNOWN, HELD_OUT = 0, 1, 2
_LIST = ".txt"  # a list of ids, one a line
_STAGE = "reading what is known"
_KINDS = "Give a knowledge base, a dump of Wikidata, a table, or a .txt file with an id in each line"


def known_flags(engine: Engine, store: Store, known: Path, on_error: OnError, work: Path) -> bytearray:
    """For each key of the store whether its id is in a knowledge base, a dump, a table, or a list of ids."""
    given = store.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entities'").fetchone()
    flags = bytearray((int(given[0]) if given else 0) + 1)  # links may lead to entities that were removed
    if known.is_dir() and (known / DATABASE).exists():
        other = Store(known)
        try:
            keys = (_key(store, id) for (id,) in other.connection.execute("SELECT id FROM entities ORDER BY key"))
            _set(flags, keys)
        finally:
            other.close()
    elif known.name.endswith(_LIST):
        _set(flags, (_key(store, id) for id in _listed(known)))
    else:
        source = _opened(known, on_error)
        tasks = (
            Task(f"known-{number:06}", (part, store.folder, on_error)) for number, part in enumerate(source.parts())
        )
        work.mkdir()
        for path in engine.map_to_files(write_known_keys, tasks, work, stage=_STAGE):
            _set(flags, iter(array("q", path.read_bytes())))
    if not any(flags):
        raise InputError(f"none of the entities of {store.folder} is in {known}. Do both have the same kind of ids?")
    return flags


def _listed(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8-sig") as lines:
            yield from (id for line in lines if (id := line.strip()))
    except UnicodeDecodeError as problem:
        hint = "Convert the file to UTF-8, for example with iconv"
        raise SourceError(f"not valid UTF-8 ({problem.reason})", str(path), hint=hint) from None


def _opened(known: Path, on_error: OnError) -> Source:
    try:
        source = open_source(known, on_error=on_error)
    except SourceError as problem:
        raise SourceError(problem.problem, problem.file, problem.position, _KINDS) from problem
    if source.wiki is not None:
        raise InputError(
            f"{known} is of a wiki, whose pages have titles and no ids of items. "
            "Build a knowledge base of it with --ids wikidata, and give that"
        )
    return source


def write_known_keys(part: Part, kb: Path, on_error: OnError, path: Path) -> None:
    """Write the keys of the entities of a knowledge base that a part has, too."""
    store, keys = Store(kb), array("q")
    try:
        for item in part.items(Ledger(on_error)):
            # Of Wikidata, an item that would not become an entity is known none the less.
            id = item.type if isinstance(item, TypeNode) else item.entity.id if isinstance(item, Page) else None
            key = None if id is None else _key(store, id)
            if key is not None:
                keys.append(key)
    finally:
        store.close()
    path.write_bytes(keys.tobytes())


def _key(store: Store, id: str) -> int | None:
    """The key behind an id, or behind one that was joined with another since."""
    key = store.key(id)
    if key is None and (row := store.connection.execute(_REDIRECT, (id,)).fetchone()) is not None:
        key = store.key(row[0])
    return key


_REDIRECT = "SELECT target FROM redirects WHERE source = ?"


def _set(flags: bytearray, keys: Iterator[int | None]) -> None:
    for key in keys:
        if key is not None:
            flags[key] = KNOWN


def hold_out(store: Store, flags: bytearray, count: int, seed: int) -> None:
    """Mark some known entities whose texts link known ones: those with the smallest hashes of seed and id."""
    chosen: list[tuple[int, int]] = []  # the hash negated, and the key: the largest hash is on top
    for key, _, version in store.entities():
        value = -hash_of(seed, "validation", version.entity.id)
        if flags[key] != KNOWN or (len(chosen) >= count and (not count or value <= chosen[0][0])):
            continue
        if any(flags[target] for _, _, target in hyperlinks_of(store, key, version.entity.description)):
            (heapq.heapreplace if len(chosen) >= count else heapq.heappush)(chosen, (value, key))
    for _, key in chosen:
        flags[key] = HELD_OUT


@lru_cache(maxsize=2)
def read_flags(path: Path) -> bytes:
    """The flags in a file; a process reads many parts of one knowledge base."""
    return path.read_bytes()
