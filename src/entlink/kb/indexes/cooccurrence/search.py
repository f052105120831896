"""A name is known by the company it keeps: how many paragraphs hold both a surface and the name of an entity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from entlink.errors import DamagedError
from entlink.kb.indexes.cooccurrence.paragraphs import entity_term, word_term, words_of
from entlink.kb.indexes.cooccurrence.postings import CompanyIndex
from entlink.kb.indexes.derived import COMPANY, derived_folder, is_complete
from entlink.text.titles import without_parenthesis

if TYPE_CHECKING:
    from entlink.kb.indexes.cooccurrence.postings import Paragraphs
    from entlink.kb.indexes.search_rows import Mask
    from entlink.kb.knowledge_base import KnowledgeBase

# A word in more paragraphs than both is left out of a surface, unless the surface has no other.
_COMMON_SHARE, _COMMON = 0.2, 10_000
_CACHED = 200_000  # counts


class Company:
    """Counts the paragraphs of a knowledge base's descriptions that hold a surface and the name of an entity.

    The surface stands outside of all names, its words in any order. What an entity's own description says does not
    count for it. The index is that of `entlink kb index --company`. The titles of entities that were added since are
    looked for as surfaces are.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._index: CompanyIndex | None = None
        self._index_folder: Path | None = None
        self._known: dict[str, dict[int, int]] = {}
        self._size = 0

    def is_there(self) -> bool:
        """Whether the knowledge base has the index; one that was made meanwhile is opened."""
        if self._index is not None and self._index_folder == self.kb.index_folder:
            return True
        self._index, self._index_folder = None, self.kb.index_folder
        self._forget()
        folder = derived_folder(self.kb, COMPANY)
        if is_complete(folder):
            self._index = CompanyIndex(folder)
        return self._index is not None

    def of(self, surface: str, keys: Sequence[int]) -> list[int]:
        """For each entity, by its key, the number of paragraphs; 0 for all where there is no index."""
        if not self.is_there():
            return [0] * len(keys)
        known = self._known.get(surface)
        if known is None:
            if self._size >= _CACHED:
                self._forget()
            known = self._known[surface] = {}
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        if missing:
            known.update(zip(missing, self._count(surface, missing), strict=True))
            self._size += len(missing)
        return [known[key] for key in keys]

    def _forget(self) -> None:
        self._known, self._size = {}, 0

    def _count(self, surface: str, keys: Sequence[int]) -> list[int]:
        assert self._index is not None
        words = words_of(surface)
        terms = [*map(word_term, words), *map(entity_term, keys)]
        found = self._index.find(terms)
        paragraphs, named = self._holding(found[: len(words)]), found[len(words) :]
        for place, key in enumerate(keys):
            if self._index.is_before(key):
                named[place] = self._with_title_of(key, named[place][:0], set(words))
        return _common_counts(paragraphs, named)

    def _with_title_of(self, key: int, none: Paragraphs, surface: set[str]) -> Paragraphs:
        """The paragraphs that hold the words of an entity's title, which the index does not know for a name yet."""
        assert self._index is not None
        try:
            _, title = self.kb.head(key)
        except DamagedError:
            return none  # another process removed it just now
        words = words_of(without_parenthesis(title) or title)
        if surface.issuperset(words):
            return none  # it is the surface itself that stands there
        held = self._holding(self._index.find([*map(word_term, words)]))
        return none if held is None else held

    def _holding(self, postings: list[Paragraphs]) -> Paragraphs | None:
        """The paragraphs that hold all words, common ones left aside; None where there are no words."""
        assert self._index is not None
        rarest_first = sorted(postings, key=len)
        most = max(_COMMON - 1, _COMMON_SHARE * len(self._index))
        found = None
        for one in rarest_first:
            if found is None:
                found = one
            elif not len(found) or len(one) > most:
                break
            else:
                found = found[_are_in(found, one)]
        return found


def _common_counts(paragraphs: Paragraphs | None, others: Sequence[Paragraphs]) -> list[int]:
    """How many of the paragraphs each of the others has."""
    import numpy

    counts = [0] * len(others)
    if paragraphs is None or not len(paragraphs):
        return counts
    shorter = []  # those that are looked up all at once
    for place, other in enumerate(others):
        if len(other) > len(paragraphs):
            counts[place] = int(numpy.count_nonzero(_are_in(paragraphs, other)))
        elif len(other):
            shorter.append(place)
    if shorter:
        lengths = [len(others[place]) for place in shorter]
        hits = _are_in(numpy.concatenate([others[place] for place in shorter]), paragraphs)
        starts = numpy.cumsum([0, *lengths[:-1]])
        sums = numpy.add.reduceat(hits, starts, dtype=numpy.int64).tolist()
        for place, count in zip(shorter, sums, strict=True):
            counts[place] = count
    return counts


def _are_in(some: Paragraphs, others: Paragraphs) -> Mask:
    """Which of some paragraphs are among the others, which are sorted and not none."""
    places = others.searchsorted(some)
    found: Mask = others.take(places, mode="clip") == some
    return found
