"""Making the derived alias index of a store, and putting it in place of the old one.

An index is a folder `index-N/`; the store says which one is current, so that a new one comes into force,
and the edits it took in are forgotten, in a single transaction.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from entlink.engine.local import DEFAULT_MEMORY, Task, default_processes, map_to_files
from entlink.errors import DamagedError
from entlink.io.atomic import write_lock, write_whole
from entlink.io.checksums import checksums
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.indexes.derived import INDEX_LOCK, renew_all
from entlink.kb.names.alias_index import COMPLETE
from entlink.kb.names.alias_writer import partition, shards_for, write_groups, write_tries
from entlink.kb.names.counts import BASE, anchor_rows, occurrence_rows
from entlink.kb.names.index_rows import Row, stage_names, write_rows
from entlink.kb.store.store import Store
from entlink.kb.store.writing import set_meta, transaction
from entlink.version import __version__

ENTITIES_A_TASK = 100_000


class IndexCard(msgspec.Struct):
    """`index.json`: what an index was made from; its presence says the index is complete."""

    shards: int
    keys: int
    last_edit: int
    entlink: str
    files: dict[str, str]


def read_card(index: Path) -> IndexCard:
    return msgspec.json.decode((index / COMPLETE).read_bytes(), type=IndexCard)


def make_index(
    store: Store,
    index: Path,
    work: Path,
    *,
    memory: str = DEFAULT_MEMORY,
    processes: int = 1,
    progress: Progress = ignore_progress,
    count_texts: Callable[[int], list[Path]] | None = None,
) -> IndexCard:
    """Write a complete index folder. `count_texts(shards)` may scan texts once the tries are there."""
    counts = store.folder / "counts" / BASE
    if not (counts / "anchors.parquet").exists():
        raise DamagedError(
            f"{counts}: anchors.parquet is missing, and an index without it would forget all links. "
            "Restore it from a copy, or build the knowledge base again"
        )
    (index / COMPLETE).unlink(missing_ok=True)  # of a build that was killed as it ended: it is written last, and anew
    edits = store.edits()
    names = _stage(store, counts, work / "staged", processes, progress)
    partitions = work / "partitions"
    progress("sorting names", 0, 1)
    keys = partition(names, partitions / "names", memory=memory)
    shards = shards_for(keys)
    progress("writing tries", 0, 1)
    write_tries(partitions, index, shards, memory=memory, processes=processes)
    texts = count_texts(shards) if count_texts else [_staged(work / "texts.jsonl", lambda: occurrence_rows(counts))]
    partition(texts, partitions / "texts", memory=memory)
    progress("writing postings", 0, 1)
    write_groups(partitions, index, shards, memory=memory, processes=processes)
    progress("writing postings", 1, 1)
    card = IndexCard(shards, keys, edits[-1].seq if edits else 0, __version__, checksums(index))
    write_whole(index / COMPLETE, msgspec.json.format(msgspec.json.encode(card)))
    return card


def _stage(store: Store, counts: Path, staged: Path, processes: int, progress: Progress) -> list[Path]:
    last = store.last_key()
    firsts = range(1, last + 1, ENTITIES_A_TASK)
    tasks = [Task(f"names-{first:012}.jsonl", (store.folder, first, first + ENTITIES_A_TASK - 1)) for first in firsts]
    finished = [0]

    def done(output: Path) -> None:
        finished[0] += 1
        progress("folding names", finished[0], len(tasks))

    files = map_to_files(stage_names, tasks, staged, processes=min(processes, max(1, len(tasks))), done=done)
    return [*files, _staged(staged / "anchors.jsonl", lambda: _live_anchors(store, counts))]


def _live_anchors(store: Store, counts: Path) -> Iterator[Row]:
    """The links, less those to entities that were removed since they were counted."""
    removed = store.removed_keys()
    return (row for row in anchor_rows(counts) if row.e not in removed) if removed else anchor_rows(counts)


def _staged(path: Path, rows: Callable[[], object]) -> Path:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.partial")
        write_rows(rows(), partial)  # type: ignore[arg-type]
        partial.replace(path)
    return path


def reindex(
    folder: Path,
    *,
    memory: str = DEFAULT_MEMORY,
    processes: int | None = None,
    progress: Progress = ignore_progress,
) -> IndexCard:
    """Fold the edits since the last index into a new one; readers go over to it by themselves.

    Edits may go on meanwhile: those the index may have missed stay in the overlay.
    """
    store = Store(folder, writable=True)
    try:
        with write_lock(folder, INDEX_LOCK):
            return _reindex(store, memory, processes or default_processes(), progress)
    finally:
        store.close()


def _reindex(store: Store, memory: str, processes: int, progress: Progress) -> IndexCard:
    old = store.folder / store.meta("index")
    number = int(old.name.rpartition("-")[2]) + 1
    new, work = store.folder / f"index-{number}", store.folder / "indexing"
    for leftover in (new, work):
        shutil.rmtree(leftover, ignore_errors=True)
    new.mkdir()
    try:
        card = make_index(store, new, work, memory=memory, processes=processes, progress=progress)
        renew_all(store, old, new, progress, processes=processes)
        with transaction(store) as connection:
            set_meta(connection, "index", new.name)
            connection.execute("DELETE FROM edits WHERE seq <= ?", (card.last_edit,))
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
