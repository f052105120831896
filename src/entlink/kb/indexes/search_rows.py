"""The rows of a search index: versions of entities, each with the period in which it held.

An index over words or vectors numbers its rows; this table says which entity a row is of, and which rows may be
found now: those of the date, of the wanted types, and of entities that have not changed since the index was made.
Its files are mapped: memory does not grow with the knowledge base, but for a byte a row of each mask in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from entlink.errors import DamagedError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from entlink.documents import Entity
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.kb.store.store import Store, Version

    Mask = NDArray[numpy.bool_]

_ARRAYS = ("keys", "since", "until", "current")
_EVER = 2**62  # the instant before which whatever has no end ends, in seconds


class SearchRow(NamedTuple):
    """One version of an entity, on its way into an index."""

    key: int
    version: Version
    current: bool

    @property
    def entity(self) -> Entity:
        return self.version.entity


def rows_of(store: Store, first: int, last: int) -> Iterator[SearchRow]:
    """The versions of the entities with a key from `first` to `last`, by key, the current one of each first."""
    dated = {key for key, _ in store.past_versions(first, last)}
    for key, _, version in store.entities(first - 1, last):
        if key not in dated:
            yield SearchRow(key, version, True)
            continue
        for number, one in enumerate(store.versions(key)):
            yield SearchRow(key, one, number == 0)


def row_arrays(rows: Sequence[SearchRow]) -> dict[str, NDArray[Any]]:
    """What is kept of rows, an array a field."""
    import numpy

    return {
        "keys": numpy.array([row.key for row in rows], numpy.int64),
        "since": numpy.array([_seconds(row.version.valid_from, -_EVER) for row in rows], numpy.int64),
        "until": numpy.array([_seconds(row.version.valid_to, _EVER) for row in rows], numpy.int64),
        "current": numpy.array([row.current for row in rows], numpy.bool_),
    }


def write_rows(folder: Path, arrays: Sequence[dict[str, NDArray[Any]]]) -> None:
    """The arrays of several blocks of rows, one after another, as files of an index."""
    import numpy

    for name in _ARRAYS:
        blocks = [block[name] for block in arrays]
        empty = row_arrays(())[name]
        numpy.save(folder / f"{name}.npy", numpy.concatenate(blocks) if blocks else empty)


class SearchRows:
    """The rows of an index in a folder."""

    def __init__(self, folder: Path) -> None:
        self.keys, self._since, self._until, self._current = (mapped(folder / f"{name}.npy") for name in _ARRAYS)
        self._masks: dict[frozenset[str], Mask] = {}
        self._seen: tuple[int, str | None] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def findable(self, kb: KnowledgeBase, types: frozenset[str] = frozenset()) -> Mask:
        """Which rows may be found now, as of the date of the knowledge base; kept until it changes."""
        if self._seen != (kb.revision, kb.date):
            self._masks.clear()
            self._seen = (kb.revision, kb.date)
        if types not in self._masks:
            self._masks[types] = self._findable(kb, types)
        return self._masks[types]

    def rows_of(self, kb: KnowledgeBase, keys: Sequence[int]) -> NDArray[numpy.int64]:
        """The row of each entity that may be found now; -1 where there is none, or it has changed since."""
        import numpy

        wanted = numpy.asarray(keys, numpy.int64)
        found = numpy.full(len(wanted), -1, numpy.int64)
        mask = self.findable(kb)
        rows = self.keys.searchsorted(wanted)
        left = numpy.arange(len(wanted))
        while len(left):  # as often as an entity has versions, which are neighbours
            left = left[rows[left] < len(self)]
            left = left[self.keys[rows[left]] == wanted[left]]
            hits = mask[rows[left]]
            found[left[hits]] = rows[left[hits]]
            left = left[~hits]
            rows[left] += 1
        return found

    def _findable(self, kb: KnowledgeBase, types: frozenset[str]) -> Mask:
        import numpy

        mask: Mask
        if kb.date is None:
            mask = numpy.array(self._current)
        else:
            date = _seconds(kb.date, 0)
            mask = (self._since <= date) & (date < self._until)
        if kb.changed_keys:
            mask &= ~numpy.isin(self.keys, numpy.fromiter(kb.changed_keys, numpy.int64))
        if types:
            mask &= numpy.isin(self.keys, numpy.fromiter(kb.keys_of_types(types), numpy.int64))
        return mask


def mapped(path: Path) -> NDArray[Any]:
    """An array of an index, mapped; one that is missing or cut off is told."""
    from tokenize import TokenError

    import numpy

    try:
        return numpy.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except (OSError, ValueError, EOFError, SyntaxError, TokenError) as problem:  # the header is a Python literal
        raise DamagedError(
            f"{path}: missing or cut off ({problem}). Remove {path.parent} and run `entlink kb index` to make it anew"
        ) from problem


def _seconds(date: str | None, otherwise: int) -> int:
    from entlink.text.dates import moment

    return otherwise if date is None else int(moment(date).timestamp())
