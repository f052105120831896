"""What spans whose vectors are known may mean: entities with their name, and the nearest of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy

from entlink.errors import ConfigError
from entlink.kb.indexes.vectors.index import missing_index
from entlink.kb.indexes.vectors.search import VectorSearch
from entlink.kb.indexes.vectors.store import EntityVectors

if TYPE_CHECKING:
    from entlink.interfaces import DualEncoder, Vectors
    from entlink.kb.knowledge_base import KnowledgeBase

Search = Literal["auto", "index", "never"]
Meant = list[tuple[int, float]]  # entities by key, with their similarity, most similar first


class SpanEntities:
    """Entities for spans: at most `limit` that have the name, and as many whose vectors are nearest.

    The nearest are looked for where there is an index over the vectors ("auto"), always, so that a missing index is
    an error ("index"), or not at all ("never"). A blocked name means nothing, a pinned one what the rule says.
    """

    def __init__(self, kb: KnowledgeBase, dual: DualEncoder, *, limit: int = 10, search: Search = "auto") -> None:
        if limit < 1:
            raise ConfigError(f"limit = {limit} does not fit: it is 1 or more")
        self.kb, self.dual, self.limit, self.search = kb, dual, limit, search
        self._vectors = EntityVectors(kb, dual)
        self._nearest = VectorSearch(kb, dual, self._vectors)
        if search == "index" and not self._nearest.is_ready:
            raise missing_index(kb, dual)

    def forget(self) -> None:
        """Drop what is kept: the knowledge base has changed."""
        self._vectors.forget()

    def of(self, surfaces: Sequence[str], vectors: Vectors, types: frozenset[str] = frozenset()) -> list[Meant]:
        """What each span may mean, by its surface and its vector (a row of `vectors`)."""
        meanings = [self.kb.meaning(surface) for surface in surfaces]
        named = [[entry.entity for entry, _, _ in self.kb.entities_named(one, self.limit)] for one in meanings]
        if self.search != "never" and self._nearest.is_ready:
            open_ = [at for at, one in enumerate(meanings) if not one.blocked and not one.pinned]
            for at, found in zip(
                open_, self._nearest.search(vectors[open_], self.limit, types) if open_ else (), strict=True
            ):
                named[at] = list(dict.fromkeys([*named[at], *(key for key, _ in found)]))
        return [
            sorted(zip(keys, own, strict=True), key=lambda one: (-one[1], one[0]))
            for keys, own in zip(named, self.similarities(named, vectors), strict=True)
        ]

    def similarities(self, keys: Sequence[Sequence[int]], vectors: Vectors) -> list[list[float]]:
        """For each row of `vectors`, how like it the entities of its keys are; 0 for one that is gone."""
        wanted = list(dict.fromkeys(key for own in keys for key in own))
        if not wanted:
            return [[] for _ in keys]
        rows = {key: row for row, key in enumerate(wanted)}
        entities = self._vectors.of(wanted)
        return [
            numpy.einsum("ed,d->e", entities[[rows[key] for key in own]], vector).tolist() if own else []
            for own, vector in zip(keys, vectors, strict=True)
        ]
