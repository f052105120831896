"""Which rows hold a term and how often: the postings of a word index, mapped from files or held in memory.

Files (made by `writing.py`): `terms.npy` the sorted hashes of all terms; `starts.npy` where the postings
of each begin in `rows.npy` and `counts.npy`; `lengths.npy` how many terms each row has. Rows are those of
`entlink.kb.indexes.search_rows`, whose files lie beside them. Terms are known by 64 bits alone: of a hundred million,
two share theirs with a chance of one in four thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from entlink.errors import DamagedError, MissingExtraError
from entlink.kb.indexes.posting_runs import by_term
from entlink.kb.indexes.search_rows import mapped

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Hashes = NDArray[numpy.uint64]
    Starts = NDArray[numpy.int64]
    Rows = NDArray[numpy.uint32]
    Counts = NDArray[numpy.uint16]
    Lengths = NDArray[numpy.uint32]

FORMAT = 1  # of the files, and of what is a term; an index of another format is made anew
MOST_COUNTED = (1 << 16) - 1  # of one term in one row
_ARRAYS = ("terms", "starts", "rows", "counts", "lengths")


class Postings(NamedTuple):
    """The rows that hold a term, in ascending order, and how often each holds it."""

    rows: Rows
    counts: Counts


class Grouped(NamedTuple):
    """Postings of many terms: those of `terms[i]` are `rows[starts[i]:starts[i + 1]]`."""

    terms: Hashes
    starts: Starts
    rows: Rows
    counts: Counts


def grouped(terms: Hashes, rows: Rows, counts: Counts) -> Grouped:
    """Postings that come in the order of their rows, put together by term."""
    found = by_term(terms, rows, counts)
    return Grouped(found.terms, found.starts, *found.columns)


class WordIndex:
    """Postings by term, and the length of each row."""

    def __init__(self, postings: Grouped, lengths: Lengths) -> None:
        self._terms, self._starts, self._rows, self._counts = postings
        self.lengths = lengths

    @classmethod
    def open(cls, folder: Path) -> WordIndex:
        """Map the files of a finished index; files that do not fit each other are told."""
        import numpy

        terms, starts, rows, counts, lengths = (numpy.asarray(mapped(folder / f"{name}.npy")) for name in _ARRAYS)
        fits = len(starts) == len(terms) + 1 and len(rows) == len(counts) == (int(starts[-1]) if len(starts) else -1)
        if not fits:
            raise DamagedError(
                f"{folder}: its files do not fit each other. Remove the folder: it is made anew when it is needed"
            )
        return cls(Grouped(terms, starts, rows, counts), lengths)

    @classmethod
    def of(cls, rows: Sequence[tuple[Hashes, Counts]], lengths: Sequence[int]) -> WordIndex:
        """An index in memory: of each row its terms and their counts."""
        import numpy

        numbers = numpy.repeat(numpy.arange(len(rows), dtype=numpy.uint32), [len(terms) for terms, _ in rows])
        terms = numpy.concatenate([terms for terms, _ in rows] or [numpy.empty(0, numpy.uint64)])
        counts = numpy.concatenate([counts for _, counts in rows] or [numpy.empty(0, numpy.uint16)])
        return cls(grouped(terms, numbers, counts), numpy.array(lengths, numpy.uint32))

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.lengths)

    def find(self, hashes: Sequence[int]) -> list[Postings]:
        """The postings of each term, empty ones where no row holds it."""
        import numpy

        wanted = numpy.array(hashes, numpy.uint64)
        places = self._terms.searchsorted(wanted).tolist()
        last = len(self._terms)
        return [
            self._postings(place if place < last and self._terms[place] == one else last)
            for place, one in zip(places, hashes, strict=True)
        ]

    def _postings(self, place: int) -> Postings:
        if place == len(self._terms):
            return Postings(self._rows[:0], self._counts[:0])
        start, end = int(self._starts[place]), int(self._starts[place + 1])
        return Postings(self._rows[start:end], self._counts[start:end])


def need_numpy() -> None:
    """Tell who searches by words without the library for it what to install."""
    try:
        import numpy  # noqa: F401
    except ImportError as problem:
        raise MissingExtraError("searching by words", "retrieval") from problem
