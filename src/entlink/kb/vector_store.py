"""Vectors of entities by key, each encoded once: taken from an index, a cache on disk, or made when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from entlink.encoders.dual import checked_vectors
from entlink.errors import MissingExtraError

try:
    import numpy
except ImportError as problem:
    raise MissingExtraError("retrieval by vectors", "retrieval") from problem

if TYPE_CHECKING:
    from entlink.documents import Entity
    from entlink.interfaces import DualEncoder, Vectors
    from entlink.kb.knowledge_base import KnowledgeBase

_KEPT = 32_768  # vectors in memory: 50 MB of 384 numbers each
_AT_ONCE = 8_192  # entities that are read and encoded at once


class EntityVectors:
    """The vectors of a knowledge base's entities, as of its date."""

    def __init__(self, kb: KnowledgeBase, dual: DualEncoder) -> None:
        self.kb, self.dual = kb, dual
        self._revision = kb.revision
        self._memory = _Memory(dual.dimension, _KEPT)

    def forget(self) -> None:
        """Drop what is kept in memory: the knowledge base has changed."""
        self._revision = self.kb.revision
        self._memory.clear()

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

    def _found(self, keys: Sequence[int]) -> Vectors:
        vectors = numpy.zeros((len(keys), self.dual.dimension), numpy.float32)
        entities = {row: entity for row, key in enumerate(keys) if (entity := self.kb.entity(key)) is not None}
        if entities:
            vectors[list(entities)] = encoded(self.dual, list(entities.values()))
        return vectors


def encoded(dual: DualEncoder, entities: Sequence[Entity]) -> Vectors:
    """The vectors of entities, rounded as an index keeps them: they are the same, whether there is one or not."""
    vectors = dual.encode_entities(entities)
    checked_vectors(dual, vectors, [entity.title for entity in entities])
    return rounded(vectors)


def rounded(vectors: Vectors) -> Vectors:
    """Vectors in single precision with the values they have in half precision."""
    return vectors.astype(numpy.float16).astype(numpy.float32)


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
