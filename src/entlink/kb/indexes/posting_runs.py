"""Postings too many for memory: sorted runs on disk, and all runs merged into the files of one index.

A posting is a term (64 bits) and the row that holds it, perhaps with further columns such as a count. A run is
written whenever enough postings have come together. Runs are merged a range of terms at a time, so that memory grows
with neither. (A range holds the whole of a term, which for the most common word of all is a posting a row.)
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Column = NDArray[Any]

POSTINGS_A_RUN = 2_000_000
POSTINGS_A_SLICE = 4_000_000  # how many are merged at a time, about 40 bytes each
TERMS, STARTS, ROWS = "terms", "starts", "rows"
_RANGES = 4096  # of terms; a slice is some of them
_SHIFT = 52


class ByTerm(NamedTuple):
    """Postings of many terms: those of `terms[i]` are `[starts[i]:starts[i + 1]]` of each column."""

    terms: Column
    starts: Column
    columns: tuple[Column, ...]


def by_term(terms: Column, *columns: Column) -> ByTerm:
    """Postings that come in the order of their rows, put together by term."""
    import numpy

    order = numpy.argsort(terms, kind="stable")
    terms = terms[order]
    first = numpy.ones(len(terms), numpy.bool_)
    numpy.not_equal(terms[1:], terms[:-1], out=first[1:])
    starts = numpy.append(numpy.flatnonzero(first), len(terms)).astype(numpy.int64)
    return ByTerm(terms[first], starts, tuple(column[order] for column in columns))


def write_run(path: Path, terms: Column, columns: Mapping[str, Column]) -> None:
    """Write postings as the run of a path, to which the names of its columns are added; `rows` is one of them."""
    found = by_term(terms, *columns.values())
    for name, values in zip((TERMS, STARTS, *columns), (found.terms, found.starts, *found.columns), strict=True):
        values.tofile(path.with_suffix(f".{name}"))


class _Run(NamedTuple):
    """A run of a block whose first row has the number `base`.

    Of each range of terms: where its terms, and where its postings begin.
    """

    path: Path
    base: int
    terms: Sequence[int]
    postings: Sequence[int]

    def read(self, first: int, last: int, columns: Mapping[str, Any]) -> list[Column]:
        """The term and the columns of each posting in a span of ranges."""
        import numpy

        terms = self._part(TERMS, numpy.uint64, self.terms[first], self.terms[last])
        starts = self._part(STARTS, numpy.int64, self.terms[first], self.terms[last] + 1)
        read = [numpy.repeat(terms, numpy.diff(starts))]
        for name, type in columns.items():
            values = self._part(name, type, self.postings[first], self.postings[last])
            read.append(values + numpy.uint32(self.base) if name == ROWS else values)
        return read

    def _part(self, name: str, type: Any, first: int, last: int) -> Column:
        import numpy

        # Read and not mapped: pages that were mapped would all count as ours by the end.
        offset = first * numpy.dtype(type).itemsize
        return numpy.fromfile(self.path.with_suffix(f".{name}"), type, last - first, offset=offset)


def _runs(blocks: Sequence[tuple[Path, int]]) -> Iterator[_Run]:
    import numpy

    bounds = numpy.arange(_RANGES, dtype=numpy.uint64) << numpy.uint64(_SHIFT)
    base = 0
    for block, rows in blocks:
        for path in sorted(block.glob(f"*.{TERMS}")):
            terms = numpy.fromfile(path, numpy.uint64)
            starts = numpy.fromfile(path.with_suffix(f".{STARTS}"), numpy.int64)
            at = numpy.append(terms.searchsorted(bounds), len(terms))
            yield _Run(path, base, array("I", at.tolist()), array("I", starts[at].tolist()))
        base += rows


def merge_runs(
    blocks: Sequence[tuple[Path, int]],
    folder: Path,
    columns: Mapping[str, Any],
    progress: Callable[[float, float], None],
    *,
    at_once: int = POSTINGS_A_SLICE,
    keep: Callable[[Column, Column], Column] | None = None,
) -> None:
    """Merge the runs of blocks (a folder and how many rows it has) into `terms.npy`, `starts.npy` and the columns.

    `columns` gives the type of each. `keep(terms, counts)` tells which terms are kept, by how many postings each has.
    """
    import numpy

    runs = list(_runs(blocks))
    spans = list(_spans(runs, at_once))
    types = {TERMS: numpy.uint64, STARTS: numpy.int64, **columns}
    written = 0
    with ExitStack() as stack:
        files = {name: stack.enter_context(closing(ArrayFile(folder / f"{name}.npy", types[name]))) for name in types}
        for number, (first, last) in enumerate(spans):
            progress(number, len(spans))
            parts = [run.read(first, last, columns) for run in runs if run.postings[first] < run.postings[last]]
            merged = by_term(*map(numpy.concatenate, zip(*parts, strict=True)))
            if keep is not None:
                merged = _kept(merged, keep(merged.terms, numpy.diff(merged.starts)))
            files[TERMS].write(merged.terms)
            files[STARTS].write(merged.starts[:-1] + written)
            for name, values in zip(columns, merged.columns, strict=True):
                files[name].write(values)
            written += int(merged.starts[-1])
        files[STARTS].write(numpy.array([written], numpy.int64))
    progress(len(spans), len(spans))


def _kept(postings: ByTerm, mask: Column) -> ByTerm:
    import numpy

    counts = numpy.diff(postings.starts)
    each = numpy.repeat(mask, counts)
    starts = numpy.append(0, numpy.cumsum(counts[mask])).astype(numpy.int64)
    return ByTerm(postings.terms[mask], starts, tuple(column[each] for column in postings.columns))


def _spans(runs: Iterable[_Run], at_once: int) -> Iterator[tuple[int, int]]:
    """Ranges of terms put together until they have as many postings as are merged at a time."""
    import numpy

    ends = numpy.zeros(_RANGES + 1, numpy.int64)
    for run in runs:
        ends += numpy.array(run.postings, numpy.int64)
    sizes: list[int] = (ends[1:] - ends[:-1]).tolist()
    first, size = 0, 0
    for number, more in enumerate(sizes):
        if size and size + more > at_once:
            yield first, number
            first, size = number, 0
        size += more
    if size:
        yield first, _RANGES


class ArrayFile:
    """A `.npy` file of one dimension, written piece by piece."""

    def __init__(self, path: Path, type: Any) -> None:
        import numpy

        self._file, self._type, self._length = path.open("wb"), numpy.dtype(type), 0
        self._write_header()
        self._begin = self._file.tell()

    def write(self, values: Column) -> None:
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
