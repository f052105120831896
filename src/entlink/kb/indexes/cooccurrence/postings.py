"""Which paragraphs hold a word or name an entity: the postings of an index of company, mapped from its files.

Files (made by `writing.py`): `terms.npy` the sorted terms, even ones hashes of words and odd ones
hashes of the keys of entities; `starts.npy` where the paragraphs of each begin in `rows.npy`, by their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from entlink.errors import DamagedError, MissingExtraError
from entlink.kb.indexes.derived import read_complete
from entlink.kb.indexes.posting_runs import ROWS, STARTS, TERMS
from entlink.kb.indexes.search_rows import mapped

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Paragraphs = NDArray[numpy.uint32]

FORMAT = 1  # of the files, and of what is a paragraph, a name and a word; an index of another format is not read
PARAGRAPHS = ROWS


class CompanyIndex:
    """Paragraphs by term."""

    def __init__(self, folder: Path) -> None:
        import numpy

        card = read_complete(folder)
        self._terms, self._starts, self._paragraphs = (
            numpy.asarray(mapped(folder / f"{name}.npy")) for name in (TERMS, STARTS, PARAGRAPHS)
        )
        fits = len(self._starts) == len(self._terms) + 1 and int(self._starts[-1]) == len(self._paragraphs)
        if card.settings.get("format") != FORMAT or not fits:
            raise DamagedError(
                f"{folder}: made by another release, or its files do not fit each other. "
                "Remove the folder and run `entlink kb index --company` to make it anew"
            )
        self._count = card.rows
        self._last: int | None = card.settings.get("last key")

    def __len__(self) -> int:
        """How many paragraphs there are."""
        return self._count

    def is_before(self, key: int) -> bool:
        """Whether it was made before the entity of this key was added; one of an older release cannot tell."""
        return self._last is not None and key > self._last

    def find(self, terms: Sequence[int]) -> list[Paragraphs]:
        """The paragraphs of each term, in ascending order; none where it is not known."""
        import numpy

        wanted = numpy.array(terms, numpy.uint64)
        places = self._terms.searchsorted(wanted)
        places[places == len(self._terms)] = 0
        known = (self._terms[places] == wanted) if len(self._terms) else numpy.zeros(len(wanted), numpy.bool_)
        firsts, lasts = self._starts[places], self._starts[places + 1] if len(self._terms) else places
        return [
            self._paragraphs[first:last] if is_known else self._paragraphs[:0]
            for first, last, is_known in zip(firsts.tolist(), lasts.tolist(), known.tolist(), strict=True)
        ]


def need_numpy() -> None:
    """Tell who makes an index of company without the library for it what to install."""
    try:
        import numpy  # noqa: F401
    except ImportError as problem:
        raise MissingExtraError("the index of company", "retrieval") from problem
