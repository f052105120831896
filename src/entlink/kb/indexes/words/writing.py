"""Making a word index: blocks of entities side by side, each into sorted runs of postings, then all runs merged.

Memory grows neither with the knowledge base nor with the length of its texts: a run is written when it has
`POSTINGS_A_RUN` postings, and `entlink.kb.indexes.posting_runs` merges them.
"""

from __future__ import annotations

import shutil
from array import array
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entlink.engine.local import LocalEngine
from entlink.engine.protocol import Engine, Task
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.indexes.derived import WORDS, DerivedCard, begin, ensure_derived, finish
from entlink.kb.indexes.posting_runs import POSTINGS_A_RUN, POSTINGS_A_SLICE, ArrayFile, merge_runs, write_run
from entlink.kb.indexes.search_rows import SearchRow, mapped, row_arrays, rows_of, write_rows
from entlink.kb.indexes.words.postings import FORMAT, MOST_COUNTED, need_numpy
from entlink.kb.indexes.words.terms import entity_terms, hash_of
from entlink.kb.store.store import Store
from entlink.version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENTITIES_A_BLOCK = 20_000
_ROWS_AT_A_TIME = 500
_KNOWN_TERMS = 200_000
_WORTH_A_POOL = 2  # blocks: with so few, starting processes takes longer than the work


def ensure_words(folder: Path, *, processes: int | None = None, progress: Progress = ignore_progress) -> Path:
    """The folder of the word index of a knowledge base, made now if there is none."""
    need_numpy()

    def make(store: Store, target: Path) -> None:
        write_words(store, target, processes=processes, progress=progress)

    return ensure_derived(folder, WORDS, make)


def renew(
    store: Store, old: Path, new: Path, progress: Progress = ignore_progress, *, processes: int | None = None
) -> DerivedCard:
    """The word index of a new alias index; nothing of the old one is used."""
    return write_words(store, new, processes=processes, progress=progress)


def write_words(
    store: Store, folder: Path, *, processes: int | None = None, progress: Progress = ignore_progress
) -> DerivedCard:
    """Make the word index of a store in a folder, going on from the blocks that an interrupted run left there."""
    need_numpy()
    begin(folder)
    blocks = folder / f"blocks-{FORMAT}-{__version__}"
    for leftover in folder.iterdir():
        if leftover != blocks:
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    made = _write_blocks(LocalEngine(processes=processes, progress=progress), store, blocks)
    rows, length = _write_row_files(made, folder)
    _merge(made, folder, progress)
    shutil.rmtree(blocks)
    return finish(folder, "entlink.kb.indexes.words.writing", rows, {"format": FORMAT, "length": length})


# Blocks


def _write_blocks(engine: Engine, store: Store, folder: Path) -> list[Path]:
    firsts = range(1, store.last_key() + 1, ENTITIES_A_BLOCK)
    tasks = [Task(f"block-{first:012}", (store.folder, first, first + ENTITIES_A_BLOCK - 1)) for first in firsts]
    at_most = None if len(tasks) > _WORTH_A_POOL else 1
    return engine.map_to_files(write_block, tasks, folder, stage="indexing words", at_most=at_most)


def write_block(folder: Path, first: int, last: int, path: Path) -> None:
    """The rows of the entities with keys in `[first, last]`, as a folder of runs."""
    shutil.rmtree(path, ignore_errors=True)  # a killed run may have left half of it
    path.mkdir()
    block = _Block(path)
    with closing(Store(folder)) as store:
        for row in rows_of(store, first, last):
            block.add(row)
    block.close()


class _Block:
    """Gathers the postings of rows, and writes a run whenever there are many."""

    def __init__(self, path: Path) -> None:
        self._path, self._runs = path, 0
        self._terms, self._rows, self._counts = array("Q"), array("I"), array("H")
        self._lengths = array("I")
        self._waiting: list[SearchRow] = []
        self._row_arrays: list[dict[str, NDArray[Any]]] = []
        self._hashes: dict[str, int] = {}

    def add(self, row: SearchRow) -> None:
        counted = entity_terms(row.entity)
        self._rows.extend([len(self._lengths)] * len(counted))
        self._terms.extend(map(self._hash, counted))
        self._counts.extend(count if count < MOST_COUNTED else MOST_COUNTED for count in counted.values())
        self._lengths.append(counted.total())
        self._waiting.append(row)
        if len(self._waiting) >= _ROWS_AT_A_TIME:
            self._settle()
        if len(self._terms) >= POSTINGS_A_RUN:
            self._flush()

    def _hash(self, term: str) -> int:
        found = self._hashes.get(term)
        if found is None:
            if len(self._hashes) >= _KNOWN_TERMS:
                self._hashes.clear()
            found = self._hashes[term] = hash_of(term)
        return found

    def _settle(self) -> None:
        """Keep of the rows that wait their numbers alone: with their texts they would be many times as large."""
        self._row_arrays.append(row_arrays(self._waiting))
        self._waiting.clear()

    def _flush(self) -> None:
        import numpy

        terms = numpy.frombuffer(self._terms, numpy.uint64) if self._terms else numpy.empty(0, numpy.uint64)
        rows = numpy.frombuffer(self._rows, numpy.uint32) if self._rows else numpy.empty(0, numpy.uint32)
        counts = numpy.frombuffer(self._counts, numpy.uint16) if self._counts else numpy.empty(0, numpy.uint16)
        write_run(self._path / f"run-{self._runs:04}", terms, {"rows": rows, "counts": counts})
        self._runs += 1
        self._terms, self._rows, self._counts = array("Q"), array("I"), array("H")

    def close(self) -> None:
        import numpy

        if self._terms:
            self._flush()
        self._settle()
        write_rows(self._path, self._row_arrays)
        numpy.save(self._path / "lengths.npy", numpy.array(self._lengths, numpy.uint32))


def _write_row_files(blocks: Sequence[Path], folder: Path) -> tuple[int, int]:
    """The files that have a value a row; returns how many rows there are, and how many terms in all of them."""
    import numpy

    names = tuple(row_arrays(()))
    write_rows(folder, [{name: mapped(block / f"{name}.npy") for name in names} for block in blocks])
    rows, length = 0, 0
    with closing(ArrayFile(folder / "lengths.npy", numpy.uint32)) as file:
        for block in blocks:
            lengths = mapped(block / "lengths.npy")
            file.write(lengths)
            rows += len(lengths)
            length += int(lengths.sum(dtype=numpy.int64))
    return rows, length


def _merge(blocks: Sequence[Path], folder: Path, progress: Progress) -> None:
    import numpy

    merge_runs(
        [(block, len(mapped(block / "lengths.npy"))) for block in blocks],
        folder,
        {"rows": numpy.uint32, "counts": numpy.uint16},
        lambda done, total: progress("merging words", done, total),
        at_once=POSTINGS_A_SLICE,
    )
