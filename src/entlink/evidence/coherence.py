"""How well a candidate goes with what the document's other mentions most likely mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from entlink.documents import Candidate
from entlink.kb.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from entlink.interfaces import Vectors
    from entlink.kb.indexes.vectors.store import EntityVectors

_NEAREST = 8  # other mentions that are looked at
_LEADING = 5  # candidates of a mention that are: each may have to be encoded


class Coherence:
    """The mean cosine between a candidate and the leaders of the mentions around its own; of the first five only."""

    def __init__(self, kb: KnowledgeBase, vectors: EntityVectors) -> None:
        self._kb, self._vectors = kb, vectors

    def of(self, lists: Sequence[Sequence[Candidate]], before: Sequence[str] = ()) -> list[list[float]]:
        """For the candidates of each mention of one document, in the order of the text, leaders first.

        `before` are the entities that mentions before these were linked to, in that order.
        """
        import numpy

        before = before[-_NEAREST:]
        if len(lists) + len(before) < 2:
            return [[0.0] * len(candidates) for candidates in lists]
        found = self._found(lists, before)
        leaders = [*before, *(candidates[0].entity if candidates else None for candidates in lists)]
        told = []
        for number, candidates in enumerate(lists, len(before)):
            others = [found[one] for one in _around(leaders, number) if one in found]
            if not others or not candidates:
                told.append([0.0] * len(candidates))
                continue
            centre = numpy.mean(others, axis=0)
            told.append([float(found[one.entity] @ centre) if one.entity in found else 0.0 for one in candidates])
        return told

    def _found(self, lists: Sequence[Sequence[Candidate]], before: Sequence[str]) -> dict[str, Vectors]:
        leading = (one.entity for candidates in lists for one in candidates[:_LEADING])
        ids = list(dict.fromkeys((*leading, *before)))
        keys = {id: key for id in ids if (key := self._kb.key(id)) is not None}
        vectors = self._vectors.of(list(keys.values()))
        if self._vectors.dual.similarity != "cosine":
            from entlink.encoders.dual import unit

            vectors = unit(vectors)
        return dict(zip(keys, vectors, strict=True))


def _around(leaders: Sequence[str | None], number: int) -> list[str]:
    """The leaders of the nearest other mentions, each entity once."""
    order = sorted(range(len(leaders)), key=lambda other: abs(other - number))
    around = dict.fromkeys(one for other in order[1 : _NEAREST + 1] if (one := leaders[other]) is not None)
    return list(around)
