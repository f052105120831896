"""Vectors of entities by key, each encoded once: taken from an index, a cache on disk, or made when asked for."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from entlink.encoders.dual import as_compared, checked_vectors
from entlink.errors import MissingExtraError
from entlink.kb.indexes.vectors.index import VectorIndex, open_vectors

try:
    import numpy
except ImportError as problem:
    raise MissingExtraError("retrieval by vectors", "retrieval") from problem

if TYPE_CHECKING:
    from entlink.documents import Entity
    from entlink.encoders.cache import VectorCache
    from entlink.interfaces import DualEncoder, Vectors
    from entlink.kb.knowledge_base import KnowledgeBase

_KEPT = 32_768  # vectors in memory: 50 MB of 384 numbers each
_AT_ONCE = 8_192  # entities that are read and encoded at once
_KEPT_BY_CONTENT = 4_096  # vectors in memory before the cache on disk, which has no key for them
_FOLDER = "vectors"  # of the knowledge base, in which the cache is


class EntityVectors:
    """The vectors of a knowledge base's entities, as of its date."""

    def __init__(self, kb: KnowledgeBase, dual: DualEncoder) -> None:
        self.kb, self.dual = kb, dual
        self._revision = kb.revision
        self._memory = _Memory(dual.dimension, _KEPT)
        self._index: VectorIndex | None = None
        self._by_content = ContentVectors(kb.folder, dual)

    def forget(self) -> None:
        """Drop what is kept in memory: the knowledge base has changed."""
        self._revision = self.kb.revision
        self._memory.clear()
        if self._index and self._index.folder.parent != self.kb.index_folder:
            self._index = None

    @property
    def index(self) -> VectorIndex | None:
        """The index over all vectors, if there is one; it may come while this object is in use."""
        if self._index is None:
            self._index = open_vectors(self.kb, self.dual)
        return self._index

    def of(self, keys: Sequence[int]) -> Vectors:
        """A row a key; zeros for an entity that is not there, or was not on the date."""
        if self.kb.revision != self._revision:
            self.forget()
        vectors, missing = self._memory.get(keys)
        if missing:
            wanted = list(missing)
            found = numpy.concatenate(
                [self._found(wanted[start : start + _AT_ONCE]) for start in range(0, len(wanted), _AT_ONCE)]
            )
            for row, key in zip(found, wanted, strict=True):
                vectors[missing[key]] = row
            self._memory.put(wanted, found)
        return vectors

    def of_entities(self, entities: Sequence[Entity]) -> Vectors:
        """A row an entity, whatever key it has: from the cache, or encoded now; as it would come from an index."""
        return rounded(self._by_content.of(entities), self.dual)

    def _found(self, keys: Sequence[int]) -> Vectors:
        vectors = numpy.zeros((len(keys), self.dual.dimension), numpy.float32)
        rest: Sequence[int] = range(len(keys))
        if self.index is not None:
            rows = self.index.rows.rows_of(self.kb, keys)
            vectors[rows >= 0] = self.index.vectors(rows[rows >= 0])
            rest = numpy.flatnonzero(rows < 0).tolist()
        entities = {row: entity for row in rest if (entity := self.kb.entity(keys[row])) is not None}
        if entities:
            vectors[list(entities)] = self.of_entities(list(entities.values()))
        return vectors


class ContentVectors:
    """Vectors by what is read of an entity, kept on disk beside a knowledge base, if that can be written."""

    def __init__(self, folder: Path, dual: DualEncoder) -> None:
        self.dual, self._folder = dual, folder / _FOLDER
        self._reader = _Reader(dual)
        self._cache: VectorCache | None = None

    def of(self, entities: Sequence[Entity]) -> Vectors:
        """A row an entity: one that was read before, or encoded now."""
        contents = [self.dual.entity_content(entity) for entity in entities]
        with self._reader.of(dict(zip(contents, entities, strict=True))):
            return self._opened().encode(contents)

    def _opened(self) -> VectorCache:
        """Opened when there is something to look for: with a whole index there may never be."""
        if self._cache is None:
            from entlink.encoders.cache import VectorCache

            scaled = self.dual.similarity == "cosine"
            self._cache = VectorCache(self._folder, self._reader, memory_rows=_KEPT_BY_CONTENT, scaled=scaled)
            weakref.finalize(self, self._cache.close)
        return self._cache


def rounded(vectors: Vectors, dual: DualEncoder) -> Vectors:
    """Vectors that went through half precision, as those do that come from a cache or an index."""
    return as_compared(vectors.astype(numpy.float16).astype(numpy.float32), dual)


def encoded(dual: DualEncoder, entities: Sequence[Entity]) -> Vectors:
    """The vectors of entities, as many and as long as they should be."""
    vectors = dual.encode_entities(entities)
    return checked_vectors(dual, vectors, [entity.title for entity in entities])


class _Reader:
    """An encoder of the contents of entities, for a cache that knows of texts only."""

    def __init__(self, dual: DualEncoder) -> None:
        self.name, self.identity, self.dimension = dual.name, dual.entity_identity, dual.dimension
        self._dual = dual
        self._entities: dict[str, Entity] = {}

    @contextmanager
    def of(self, entities: dict[str, Entity]) -> Iterator[None]:
        """Inside, the contents of these entities can be encoded."""
        self._entities = entities
        try:
            yield
        finally:
            self._entities = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        return encoded(self._dual, [self._entities[text] for text in texts])


class _Memory:
    """Some rows by key; when they get too many, all are dropped and the last ones kept."""

    def __init__(self, dimension: int, most: int) -> None:
        self._most = most
        self._places: dict[int, int] = {}
        self._rows = numpy.zeros((0, dimension), numpy.float32)

    def clear(self) -> None:
        self._places.clear()

    def get(self, keys: Sequence[int]) -> tuple[Vectors, dict[int, list[int]]]:
        """A row a key, of zeros where it is not kept; and those keys, each with the rows it has."""
        vectors = numpy.zeros((len(keys), self._rows.shape[1]), numpy.float32)
        places = numpy.array([self._places.get(key, -1) for key in keys], numpy.int64)
        here = places >= 0
        vectors[here] = self._rows[places[here]]
        missing: dict[int, list[int]] = {}
        for row in numpy.flatnonzero(~here).tolist():
            missing.setdefault(keys[row], []).append(row)
        return vectors, missing

    def put(self, keys: Sequence[int], rows: Vectors) -> None:
        keys, rows = keys[-self._most :], rows[-self._most :]
        if len(self._places) + len(keys) > self._most:
            self.clear()
        first = len(self._places)
        last = first + len(keys)
        if last > len(self._rows):
            grown = numpy.zeros((min(self._most, max(2 * len(self._rows), last)), self._rows.shape[1]), numpy.float32)
            grown[:first] = self._rows[:first]
            self._rows = grown
        self._rows[first:last] = rows
        self._places.update(zip(keys, range(first, last), strict=True))
