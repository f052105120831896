"""What there is to say about a knowledge base as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

import msgspec

from entlink.kb.indexes.derived import derived_indexes
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.snapshots.folders import date_of, snapshot_folders
from entlink.kb.store.manifest import OpeningTotals, SourceCard, WikiTotals
from entlink.kb.store.store import Store

TYPES_SHOWN = 10


class KnowledgeBaseInfo(msgspec.Struct, frozen=True):
    """Counts of what is in it now, and what it was built from.

    `names` counts names up to case and punctuation; `pending_edits` are entities changed since the last index;
    `search_indexes` are those over words and vectors, each with its size in bytes; `snapshots` the dates of those.
    """

    folder: str
    store_version: int
    entities: int
    names: int
    links: int
    links_unresolved: int
    texts: int
    types: dict[str, int]
    type_count: int
    rules: int
    pending_edits: int
    index: str
    index_bytes: int
    search_indexes: dict[str, int]
    bytes: int
    built: str
    entlink: str
    command: str
    sources: list[SourceCard]
    problems: list[str]
    wiki: WikiTotals | None
    openings: OpeningTotals | None
    snapshots: list[str] = []


def info(folder: str | Path) -> KnowledgeBaseInfo:
    """Count and size up a knowledge base."""
    folder = Path(folder)
    store = Store(folder)
    try:
        version, index, rules = int(store.meta("store_version")), store.meta("index"), len(store.rules())
    finally:
        store.close()
    with KnowledgeBase.open(folder) as kb:
        manifest, types = kb.manifest(), kb.type_counts()
        return KnowledgeBaseInfo(
            folder=str(folder),
            store_version=version,
            entities=len(kb),
            names=len(kb.alias_index),
            links=manifest.links,
            links_unresolved=manifest.links_unresolved,
            texts=kb.texts,
            types=dict(types[:TYPES_SHOWN]),
            type_count=len(types),
            rules=rules,
            pending_edits=kb.pending_edits,
            index=index,
            index_bytes=_size(folder / index),
            search_indexes={one.name: one.bytes for one in derived_indexes(folder / index)},
            bytes=_size(folder),
            built=manifest.built,
            entlink=manifest.entlink,
            command=manifest.command,
            sources=manifest.sources,
            problems=manifest.problems,
            wiki=manifest.wiki,
            openings=manifest.openings,
            snapshots=[date_of(snapshot) for snapshot in snapshot_folders(folder)],
        )


def pending_edits(folder: str | Path) -> int:
    """How many entities changed since the last index, without opening the index."""
    with KnowledgeBase.open(folder, names=False) as kb:
        return kb.pending_edits


def unknown_types(folder: str | Path, types: Iterable[str]) -> dict[str, list[str]]:
    """Those of the types that no entity has, nor a kind of it, each with the types that are spelt like it."""
    with KnowledgeBase.open(folder, names=False) as kb:
        unknown = [name for name in types if not kb.types.kinds_in_use(name)]
        known = {name.casefold(): name for name, _ in kb.type_counts()} if unknown else {}
    return {name: [known[near] for near in get_close_matches(name.casefold(), known)] for name in unknown}


def _size(folder: Path) -> int:
    """Bytes on the disk: a snapshot may have files that the knowledge base itself has, too."""
    status = (path.stat() for path in folder.rglob("*") if path.is_file())
    return sum({one.st_ino: one.st_size for one in status}.values())
