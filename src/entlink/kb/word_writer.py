"""Making a word index: blocks of entities side by side, each into sorted runs of postings, then all runs merged.

Memory grows neither with the knowledge base nor with the length of its texts: a run is written when it has
`POSTINGS_A_RUN` postings, and runs are merged a range of hashes at a time. (A range holds the whole of a term, which
for the most common word of all is a posting a row.)
"""

from __future__ import annotations

import shutil
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from entlink.engine.local import Progress, Task, default_processes, ignore_progress, map_to_files
from entlink.kb.derived import WORDS, DerivedCard, begin, ensure_derived, finish
from entlink.kb.search_rows import SearchRow, mapped, row_arrays, rows_of, write_rows
from entlink.kb.store import Store
from entlink.kb.word_index import FORMAT, MOST_COUNTED, grouped, need_numpy
from entlink.kb.word_terms import entity_terms, hash_of
from entlink.version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENTITIES_A_BLOCK = 20_000
POSTINGS_A_RUN = 2_000_000
POSTINGS_A_SLICE = 4_000_000  # how many are merged at a time, about 40 bytes each
_ROWS_AT_A_TIME = 500
_RANGES = 4096  # of hashes; a slice is some of them
_SHIFT = 52
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
    made = _write_blocks(store, blocks, processes or default_processes(), progress)
    rows, length = _write_row_files(made, folder)
    _merge(made, folder, progress)
    shutil.rmtree(blocks)
    return finish(folder, "entlink.kb.word_writer", rows, {"format": FORMAT, "length": length})


# Blocks


def _write_blocks(store: Store, folder: Path, processes: int, progress: Progress) -> list[Path]:
    last = store.last_key()
    firsts = range(1, last + 1, ENTITIES_A_BLOCK)
    tasks = [Task(f"block-{first:012}", (store.folder, first, first + ENTITIES_A_BLOCK - 1)) for first in firsts]
    finished = [0]

    def done(output: Path) -> None:
        finished[0] += 1
        progress("indexing words", finished[0], len(tasks))

    processes = min(processes, len(tasks)) if len(tasks) > _WORTH_A_POOL else 1
    return map_to_files(write_block, tasks, folder, processes=processes, done=done)


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
        for name, values in grouped(terms, rows, counts)._asdict().items():
            values.tofile(self._path / f"run-{self._runs:04}.{name}")
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
    with closing(_ArrayFile(folder / "lengths.npy", numpy.uint32)) as file:
        for block in blocks:
            lengths = mapped(block / "lengths.npy")
            file.write(lengths)
            rows += len(lengths)
            length += int(lengths.sum(dtype=numpy.int64))
    return rows, length


# Runs to one index


class _Run(NamedTuple):
    """A run of a block whose first row has the number `base`.

    Of each range of hashes: where its terms, and where its postings begin.
    """

    path: Path
    base: int
    terms: Sequence[int]
    postings: Sequence[int]

    def read(self, first: int, last: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Term, row and count of each posting in a span of ranges."""
        import numpy

        terms = self._part("terms", numpy.uint64, self.terms[first], self.terms[last])
        starts = self._part("starts", numpy.int64, self.terms[first], self.terms[last] + 1)
        rows = self._part("rows", numpy.uint32, self.postings[first], self.postings[last])
        counts = self._part("counts", numpy.uint16, self.postings[first], self.postings[last])
        return numpy.repeat(terms, numpy.diff(starts)), rows + numpy.uint32(self.base), counts

    def _part(self, name: str, type: Any, first: int, last: int) -> NDArray[Any]:
        import numpy

        # Read and not mapped: pages that were mapped would all count as ours by the end.
        offset = first * numpy.dtype(type).itemsize
        return numpy.fromfile(self.path.with_suffix(f".{name}"), type, last - first, offset=offset)


def _runs(blocks: Sequence[Path]) -> Iterator[_Run]:
    import numpy

    bounds = numpy.arange(_RANGES, dtype=numpy.uint64) << numpy.uint64(_SHIFT)
    base = 0
    for block in blocks:
        for path in sorted(block.glob("run-*.terms")):
            terms = numpy.fromfile(path, numpy.uint64)
            starts = numpy.fromfile(path.with_suffix(".starts"), numpy.int64)
            at = numpy.append(terms.searchsorted(bounds), len(terms))
            yield _Run(path, base, array("I", at.tolist()), array("I", starts[at].tolist()))
        base += len(mapped(block / "lengths.npy"))


def _merge(blocks: Sequence[Path], folder: Path, progress: Progress) -> None:
    import numpy

    runs = list(_runs(blocks))
    spans = list(_spans(runs))
    types = {"terms": numpy.uint64, "starts": numpy.int64, "rows": numpy.uint32, "counts": numpy.uint16}
    written = 0
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(closing(_ArrayFile(folder / f"{name}.npy", types[name]))) for name in types
        }
        for number, (first, last) in enumerate(spans):
            progress("merging words", number, len(spans))
            parts = [run.read(first, last) for run in runs if run.postings[first] < run.postings[last]]
            merged = grouped(*map(numpy.concatenate, zip(*parts, strict=True)))
            files["terms"].write(merged.terms)
            files["starts"].write(merged.starts[:-1] + written)
            files["rows"].write(merged.rows)
            files["counts"].write(merged.counts)
            written += len(merged.rows)
        files["starts"].write(numpy.array([written], numpy.int64))
    progress("merging words", len(spans), len(spans))


def _spans(runs: Iterable[_Run]) -> Iterator[tuple[int, int]]:
    """Ranges of hashes put together until they have as many postings as are merged at a time."""
    import numpy

    ends = numpy.zeros(_RANGES + 1, numpy.int64)
    for run in runs:
        ends += numpy.array(run.postings, numpy.int64)
    sizes: list[int] = (ends[1:] - ends[:-1]).tolist()
    first, size = 0, 0
    for number, more in enumerate(sizes):
        if size and size + more > POSTINGS_A_SLICE:
            yield first, number
            first, size = number, 0
        size += more
    if size:
        yield first, _RANGES


class _ArrayFile:
    """A `.npy` file of one dimension, written piece by piece."""

    def __init__(self, path: Path, type: Any) -> None:
        import numpy

        self._file, self._type, self._length = path.open("wb"), numpy.dtype(type), 0
        self._write_header()
        self._begin = self._file.tell()

    def write(self, values: NDArray[Any]) -> None:
        self._file.write(values.astype(self._type, copy=False).tobytes())
        self._length += len(values)

    def close(self) -> None:
        self._file.seek(0)
        self._write_header()
        assert self._file.tell() == self._begin, "a header leaves room for the length to grow"
        self._file.close()

    def _write_header(self) -> None:
        from numpy.lib import format

        fields = {"descr": format.dtype_to_descr(self._type), "fortran_order": False, "shape": (self._length,)}
        format.write_array_header_1_0(self._file, fields)
