"""The entities nearest to vectors: those of an index, and those that changed since it was made, as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from entlink.errors import MissingExtraError
from entlink.kb.indexes.vectors.index import PROBED, cosines, missing_index, nearest
from entlink.kb.indexes.vectors.store import EntityVectors

try:
    import numpy
except ImportError as problem:
    raise MissingExtraError("retrieval by vectors", "retrieval") from problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.interfaces import DualEncoder, Vectors
    from entlink.kb.knowledge_base import KnowledgeBase

_SLACK = 64  # entities beyond those asked for, so that equal ones are cut by their keys
_TOGETHER = 64  # queries that are compared at once


class _Fresh(NamedTuple):
    """The entities that changed since the index was made, by key, with their vectors."""

    keys: NDArray[numpy.int64]
    vectors: Vectors


class VectorSearch:
    """Looks through all entities of a knowledge base, as of its date.

    Where there are lists around centres, `probed` of them are searched: more find more, and take longer.
    """

    def __init__(
        self, kb: KnowledgeBase, dual: DualEncoder, entities: EntityVectors | None = None, *, probed: int = PROBED
    ) -> None:
        self.kb, self.dual, self.probed = kb, dual, probed
        self.entities = EntityVectors(kb, dual) if entities is None else entities
        self._revision = kb.revision
        self._fresh: dict[frozenset[str], _Fresh] = {}

    @property
    def is_ready(self) -> bool:
        """Whether there is an index to look through."""
        return self.entities.index is not None

    def search(
        self, vectors: Vectors, limit: int, types: frozenset[str] = frozenset()
    ) -> list[list[tuple[int, float]]]:
        """For each vector the keys of the nearest entities and their cosines, best first; for zeros nothing."""
        self._keep_up()
        index = self.entities.index
        if index is None:
            raise missing_index(self.kb, self.dual)
        asked = numpy.flatnonzero(vectors.any(axis=1))
        queries = numpy.ascontiguousarray(vectors[asked], numpy.float32)
        fresh = self._fresh_ones(types)
        found: list[list[tuple[int, float]]] = [[] for _ in range(len(vectors))]
        lately = self._among(fresh, queries, limit)
        nearby = index.search(self.kb, queries, limit, types, probed=self.probed)
        for number, (rows, scores) in enumerate(nearby):
            keys = index.rows.keys[rows]
            if lately is not None:
                keys, scores = numpy.append(keys, lately[0][number]), numpy.append(scores, lately[1][number])
            best = numpy.lexsort((keys, -scores))[:limit]
            found[asked[number]] = list(zip(keys[best].tolist(), scores[best].tolist(), strict=True))
        return found

    def _keep_up(self) -> None:
        if self._revision != self.kb.revision:
            self._revision = self.kb.revision
            self._fresh.clear()
            self.entities.forget()

    def _fresh_ones(self, types: frozenset[str]) -> _Fresh:
        if types not in self._fresh:
            pairs = list(self.kb.fresh_entities()) if self.kb.changed_keys else []
            if types and pairs:
                wanted = self.kb.keys_of_types(types)  # as of today, as in the index
                pairs = [(key, entity) for key, entity in pairs if key in wanted]
            vectors = numpy.zeros((0, self.dual.dimension), numpy.float32)
            if pairs:
                vectors = self.entities.of_entities([entity for _, entity in pairs])
            self._fresh[types] = _Fresh(numpy.array([key for key, _ in pairs], numpy.int64), vectors)
        return self._fresh[types]

    def _among(
        self, fresh: _Fresh, queries: Vectors, limit: int
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32]] | None:
        """The nearest of the fresh ones for each query, and their cosines, counted as an index counts them."""
        if not len(fresh.keys) or not len(queries):
            return None
        most = min(limit + _SLACK, len(fresh.keys))
        keys, scores = [], []
        for start in range(0, len(queries), _TOGETHER):
            some = queries[start : start + _TOGETHER]
            rows = nearest(some, fresh.vectors, most)
            keys.append(fresh.keys[rows])
            scores.append(cosines(some, fresh.vectors[rows]))
        return numpy.concatenate(keys), numpy.concatenate(scores)
