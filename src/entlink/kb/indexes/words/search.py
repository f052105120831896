"""Entities by the words of their names and descriptions, scored by BM25, edits included as soon as they are made.

Entities that changed since the word index was made are scored beside it with its numbers (how many rows, how many
of them hold a term, how long they are), and are merged in before anything is cut off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from entlink.errors import DamagedError
from entlink.kb.indexes.derived import WORDS, derived_folder, is_complete, read_complete
from entlink.kb.indexes.search_rows import SearchRows
from entlink.kb.indexes.words.bm25 import Scorer, Wanted
from entlink.kb.indexes.words.fresh import FreshWords
from entlink.kb.indexes.words.postings import FORMAT, WordIndex, need_numpy
from entlink.kb.indexes.words.terms import hash_of, terms_of

if TYPE_CHECKING:
    from entlink.kb.indexes.search_rows import Mask
    from entlink.kb.indexes.words.postings import Rows
    from entlink.kb.knowledge_base import KnowledgeBase

Query = str | Mapping[str, float]  # a text, or terms of `word_terms.terms_of` with their weights


class Weight(NamedTuple):
    """How well an entity fits a query, in [0, 1), and how often it holds all of it: the least count of any term."""

    score: float
    times: int


class Found(NamedTuple):
    """An entity that a search found, by its internal key."""

    key: int
    score: float
    times: int


class _Asked(NamedTuple):
    """A query ready to be scored: its terms' hashes, the most each can add, and the most a row can get."""

    hashes: list[int]
    mosts: list[float]
    whole: float


class WordSearch:
    """Searches the words of a knowledge base; its index is made at the first search if there is none.

    A score is BM25 (`k1`, `b`) divided by the most any row could get from the query.
    """

    def __init__(self, kb: KnowledgeBase, *, k1: float = 1.2, b: float = 0.75) -> None:
        need_numpy()
        self.kb, self.k1, self.b = kb, k1, b
        self._seen = -1  # the revision of the knowledge base that everything below is of
        self._index_folder: Path | None = None
        self._masks: dict[frozenset[str], Mask | None] = {}

    def ensure(self, progress: Callable[[str, float, float], None] = lambda stage, done, total: None) -> None:
        """Open the index, made first if there is none; take in what changed in the knowledge base since then."""
        if self._seen == self.kb.revision:
            return
        if self._index_folder != self.kb.index_folder:
            self._open(progress)
        self._fresh = FreshWords(self.kb, getattr(self, "_fresh", None))
        self._fresh_scorer = Scorer(self._fresh.index.lengths, self._mean, self.k1, self.b)
        self._masks.clear()
        self._seen = self.kb.revision

    def _open(self, progress: Callable[[str, float, float], None]) -> None:
        index_folder = self.kb.index_folder
        folder = derived_folder(self.kb, WORDS)
        if not is_complete(folder):
            from entlink.kb.indexes.words.writing import ensure_words

            folder = ensure_words(self.kb.folder, progress=progress)
        card = read_complete(folder)
        index, rows = WordIndex.open(folder), SearchRows(folder)
        if card.settings.get("format") != FORMAT or len(index) != len(rows):
            raise DamagedError(
                f"{folder}: made by another release, or its files do not fit each other. "
                "Remove the folder: it is made anew when it is needed"
            )
        self._index, self._rows, self._folder = index, rows, folder
        self._mean = int(card.settings["length"]) / len(rows) if len(rows) else 1.0
        self._scorer = Scorer(index.lengths, self._mean, self.k1, self.b)
        self._index_folder = index_folder

    def search(self, query: Query, limit: int = 30, types: frozenset[str] = frozenset()) -> list[Found]:
        """The entities that fit the query best, of these types (none means all), the lower key first in a tie."""
        self.ensure()
        with self._damage_told():
            return self._search(query, limit, types)

    def _search(self, query: Query, limit: int, types: frozenset[str]) -> list[Found]:
        asked, terms = self._asked(query)
        if not asked.hashes or limit < 1:
            return []
        rows, _ = self._scorer.best(terms, limit, self._findable(types))
        found = [*zip(self._rows.keys[rows].tolist(), self._weights(asked, terms, rows), strict=True)]
        if self._fresh:
            terms = self._fresh_terms(asked)
            rows, _ = self._fresh_scorer.best(terms, limit, self._fresh.findable(types))
            keys = [self._fresh.keys[row] for row in rows.tolist()]
            found += zip(keys, self._weights(asked, terms, rows, self._fresh_scorer), strict=True)
            found.sort(key=lambda one: (-one[1].score, one[0]))
        return [Found(key, weight.score, weight.times) for key, weight in found[:limit]]

    def weigh(self, query: Query, keys: Sequence[int]) -> list[Weight]:
        """How well each of some entities fits the query; one that is not there, or was not then, not at all."""
        self.ensure()
        with self._damage_told():
            return self._weigh(query, keys)

    @contextmanager
    def _damage_told(self) -> Iterator[None]:
        """Numbers that lead out of the index were altered."""
        try:
            yield
        except IndexError as problem:
            raise DamagedError(
                f"{self._folder}: it is damaged ({problem}). Remove the folder: it is made anew when it is needed"
            ) from problem

    def _weigh(self, query: Query, keys: Sequence[int]) -> list[Weight]:
        asked, terms = self._asked(query)
        weights = [Weight(0.0, 0)] * len(keys)
        if not asked.hashes or not keys:
            return weights
        import numpy

        rows = self._rows.rows_of(self.kb, keys)
        there = (rows >= 0).nonzero()[0]
        found = self._weights(asked, terms, rows[there].astype(numpy.uint32))
        for place, weight in zip(there.tolist(), found, strict=True):
            weights[place] = weight
        if self._fresh:
            places = [place for place, key in enumerate(keys) if key in self._fresh.rows]
            fresh = numpy.array([self._fresh.rows[keys[place]] for place in places], numpy.uint32)
            found = self._weights(asked, self._fresh_terms(asked), fresh, self._fresh_scorer)
            for place, weight in zip(places, found, strict=True):
                weights[place] = weight
        return weights

    def _asked(self, query: Query) -> tuple[_Asked, list[Wanted]]:
        """The terms of a query with their postings. A term that none has counts: nothing fits it."""
        weights = Counter(terms_of(query)) if isinstance(query, str) else query
        weights = {term: weight for term, weight in weights.items() if weight > 0}
        hashes = [hash_of(term) for term in weights]
        postings = self._index.find(hashes)
        rows = len(self._index)
        mosts = [
            weight * log(1 + (rows - len(one.rows) + 0.5) / (len(one.rows) + 0.5)) * (self.k1 + 1)
            for one, weight in zip(postings, weights.values(), strict=True)
        ]
        return _Asked(hashes, mosts, sum(mosts)), [*map(Wanted, postings, mosts)]

    def _fresh_terms(self, asked: _Asked) -> list[Wanted]:
        return [*map(Wanted, self._fresh.index.find(asked.hashes), asked.mosts)]

    def _weights(
        self, asked: _Asked, terms: Sequence[Wanted], rows: Rows, scorer: Scorer | None = None
    ) -> list[Weight]:
        scores, counts = (scorer or self._scorer).at(terms, rows)
        return [*map(Weight, (scores / asked.whole).tolist(), counts.tolist())]

    def _findable(self, types: frozenset[str]) -> Mask | None:
        """Which rows of the index may be found; None is all of them, which is quicker to heed."""
        if types not in self._masks:
            mask = self._rows.findable(self.kb, types)
            self._masks[types] = None if mask.all() else mask
        return self._masks[types]
