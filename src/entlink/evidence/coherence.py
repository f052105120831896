"""How well a candidate goes with what the document's other mentions most likely mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from entlink.documents import Candidate, Document
from entlink.interfaces import DualEncoder, Encoder, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from entlink.interfaces import Vectors

_NEAREST = 8  # other mentions that are looked at
_LEADING = 5  # candidates of a mention that are: each may have to be encoded


class CoherenceEvidence:
    """The mean cosine between a candidate and the leaders of the mentions around its own; of the first five only.

    `encoder` is the name or folder of one, or an object. In a conversation, what earlier turns were linked to counts
    among the mentions around.
    """

    needs = "the extra retrieval and an encoder"
    gives = ("coherence",)
    when = "ranked"

    def __init__(self, kb: KnowledgeBase, *, encoder: str | Encoder | DualEncoder = "auto") -> None:
        from entlink.kb.indexes.vectors.choice import dual_for
        from entlink.kb.indexes.vectors.store import EntityVectors

        self.kb, self._vectors = kb, EntityVectors(kb, dual_for(kb, encoder))

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        """The mentions of a document come one after the other, their candidates best first."""
        told: list[Sequence[Mapping[str, float]]] = []
        for _, group in groupby(shortlists, key=lambda one: id(one.document)):
            own = list(group)
            for values in self.of([one.candidates for one in own], _earlier(own[0].document)):
                told.append([{"coherence": value} for value in values])
        return told

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
        keys = {id: key for id in ids if (key := self.kb.key(id)) is not None}
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


def _earlier(document: Document) -> list[str]:
    """What the turns before the last were linked to, where a conversation says so."""
    if not document.turns or not document.links:
        return []
    end = document.turn_spans[-1].start
    return [link.entity for link in document.links if link.entity is not None and link.mention.span.end <= end]
