"""Making the derived alias index of a store, and putting it in place of the old one.

An index is a folder `index-N/`; the store says which one is current, so that a new one comes into force,
and the edits it took in are forgotten, in a single transaction.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from entlink.engine.local import LocalEngine
from entlink.engine.protocol import DEFAULT_MEMORY, Engine, Task
from entlink.errors import DamagedError, LockedError
from entlink.io.atomic import write_lock, write_whole
from entlink.io.checksums import checksums, sealed
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.indexes.derived import INDEX_LOCK, renew_all
from entlink.kb.names.alias_index import COMPLETE
from entlink.kb.names.alias_writer import partition, shards_for, write_groups, write_tries
from entlink.kb.names.counts import ANCHORS, BASE, anchor_rows, counts_folder, occurrence_rows
from entlink.kb.names.index_rows import Row, stage_names, write_rows
from entlink.kb.store.store import Store
from entlink.kb.store.writing import empty_log, set_meta, transaction
from entlink.text.scripts import can_simplify
from entlink.version import __version__

ENTITIES_A_TASK = 100_000


class IndexCard(msgspec.Struct):
    """`index.json`: what an index was made from; that it is there says the index is complete."""

    shards: int
    keys: int
    last_edit: int
    entlink: str
    files: dict[str, str]
    simplified: bool = False  # whether traditional Chinese characters were converted
    seal: str = ""


def read_card(index: Path) -> IndexCard:
    return msgspec.json.decode((index / COMPLETE).read_bytes(), type=IndexCard)


class IndexWriter:
    """Writes an index folder in two steps, between which its dictionary serves to count names in texts."""

    def __init__(self, engine: Engine, store: Store, index: Path, work: Path, *, snapshot: str = BASE) -> None:
        self._engine, self._store, self._index, self._work, self._snapshot = engine, store, index, work, snapshot
        self._partitions = work / "partitions"
        self._keys = self._shards = self._last_edit = 0

    def write_names(self) -> int:
        """The first step: all names of the store in tries; returns how many shards there are."""
        _check_anchors(counts_folder(self._store.folder, self._snapshot))
        (self._index / COMPLETE).unlink(missing_ok=True)  # of a build that was killed as it ended
        edits = self._store.edits()
        self._last_edit = edits[-1].seq if edits else 0
        names = self._stage()
        self._engine.progress("sorting names", 0, 1)
        self._keys = partition(self._engine, names, self._partitions / "names")
        self._shards = shards_for(self._keys)
        self._engine.progress("writing tries", 0, 1)
        write_tries(self._engine, self._partitions, self._index, self._shards)
        return self._shards

    def counted_texts(self) -> list[Path]:
        """Rows of what was counted in the texts before, for the second step."""
        rows = occurrence_rows(self._engine, self._store.folder, self._snapshot)
        return [_staged(self._work / "texts.jsonl", rows)]

    def finish(self, texts: Sequence[Path]) -> IndexCard:
        """The second step: what each name means, with its counts, the given ones in texts included; and the card."""
        partition(self._engine, texts, self._partitions / "texts")
        self._engine.progress("writing postings", 0, 1)
        write_groups(self._engine, self._partitions, self._index, self._shards)
        self._engine.progress("writing postings", 1, 1)
        card = IndexCard(
            self._shards, self._keys, self._last_edit, __version__, checksums(self._index), can_simplify()
        )
        write_whole(self._index / COMPLETE, sealed(msgspec.json.format(msgspec.json.encode(card))))
        return read_card(self._index)

    def _stage(self) -> list[Path]:
        folder, staged = self._store.folder, self._work / "staged"
        tasks = [
            Task(f"names-{first:012}.jsonl", (folder, first, first + ENTITIES_A_TASK - 1))
            for first in range(1, self._store.last_key() + 1, ENTITIES_A_TASK)
        ]
        files = self._engine.map_to_files(stage_names, tasks, staged, stage="folding names", here=True)
        return [*files, _staged(staged / "anchors.jsonl", self._live_anchors())]

    def _live_anchors(self) -> Iterator[Row]:
        """The links, less those to entities that were removed since they were counted."""
        removed = self._store.removed_keys()
        rows = anchor_rows(self._engine, self._store.folder, self._snapshot)
        return (row for row in rows if row.e not in removed) if removed else rows


def _check_anchors(counts: Path) -> None:
    if not (counts / ANCHORS).exists():
        raise DamagedError(
            f"{counts}: {ANCHORS} is missing, and an index without it would forget all links. "
            "Restore it from a copy, or build the knowledge base again"
        )


def _staged(path: Path, rows: Iterable[Row]) -> Path:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.partial")
        write_rows(rows, partial)
        partial.replace(path)
    return path


def reindex(
    folder: Path,
    *,
    memory: str = DEFAULT_MEMORY,
    processes: int | None = None,
    progress: Progress = ignore_progress,
    snapshot: str = BASE,
) -> IndexCard:
    """Fold the edits since the last index into a new one; readers go over to it by themselves.

    Edits may go on meanwhile: those the index may have missed stay in the overlay.
    """
    store = Store(folder, writable=True)
    try:
        with write_lock(folder, INDEX_LOCK):
            return _reindex(LocalEngine(processes=processes, memory=memory, progress=progress), store, snapshot)
    finally:
        store.close()


def _reindex(engine: Engine, store: Store, snapshot: str) -> IndexCard:
    old = store.folder / store.meta("index")
    number = int(old.name.rpartition("-")[2]) + 1
    new, work = store.folder / f"index-{number}", store.folder / "indexing"
    for leftover in (new, work):
        shutil.rmtree(leftover, ignore_errors=True)
    new.mkdir()
    try:
        writer = IndexWriter(engine, store, new, work, snapshot=snapshot)
        writer.write_names()
        card = writer.finish(writer.counted_texts())
        renew_all(store, old, new, engine.progress, processes=engine.processes)
        with transaction(store) as connection:
            set_meta(connection, "index", new.name)
            connection.execute("DELETE FROM edits WHERE seq <= ?", (card.last_edit,))
        with suppress(LockedError), write_lock(store.folder):  # whoever is editing would take the checksum away
            empty_log(store)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(store.folder / "staging", ignore_errors=True)  # of a build that was killed as it ended
    for outdated in store.folder.glob("index-*"):
        if outdated != new:
            shutil.rmtree(outdated, ignore_errors=True)
    return card
