"""The snapshots of a knowledge base, each with what is in it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import msgspec

from entlink.kb.snapshots.folders import date_of, home_of, snapshot_folders
from entlink.kb.store.manifest import manifest_of
from entlink.kb.store.store import Store


class SnapshotInfo(msgspec.Struct, frozen=True):
    """One snapshot: its date in full, how much is in it, and its folder.

    `redirects` are those that lead to an entity or to none; `bytes` are those of its own files, without the texts
    that all snapshots share.
    """

    date: str
    entities: int
    redirects: int
    links: int
    links_unresolved: int
    texts: int
    indexes: list[str]
    bytes: int
    folder: str


def list_snapshots(folder: str | Path) -> list[SnapshotInfo]:
    """The snapshots of a knowledge base, the earliest first; none of one that has none."""
    return [_info(snapshot) for snapshot in snapshot_folders(home_of(Path(folder)))]


def _info(snapshot: Path) -> SnapshotInfo:
    from entlink.kb.indexes.derived import derived_indexes

    with closing(Store(snapshot)) as store:
        manifest = manifest_of(store)
        return SnapshotInfo(
            date=date_of(snapshot),
            entities=store.count(),
            redirects=manifest.wiki.redirects if manifest.wiki else 0,
            links=manifest.links,
            links_unresolved=manifest.links_unresolved,
            texts=manifest.texts,
            indexes=[one.name for one in derived_indexes(snapshot / store.meta("index"))],
            bytes=sum(path.stat().st_size for path in snapshot.rglob("*") if path.is_file()),
            folder=str(snapshot),
        )
