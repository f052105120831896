"""The words of entities that changed since the word index was made, as a small index in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink.kb.indexes.words.postings import MOST_COUNTED, WordIndex
from entlink.kb.indexes.words.terms import entity_terms, hash_of

if TYPE_CHECKING:
    from entlink.documents import Entity
    from entlink.kb.indexes.search_rows import Mask
    from entlink.kb.indexes.words.postings import Counts, Hashes
    from entlink.kb.knowledge_base import KnowledgeBase

    Counted = tuple[int, Hashes, Counts, int]  # of what text, its terms, their counts, its length


class FreshWords:
    """Made anew whenever the knowledge base changes; entities that `before` held already are not read again."""

    def __init__(self, kb: KnowledgeBase, before: FreshWords | None = None) -> None:
        self._kb = kb
        known = before._counted if before else {}
        self._counted: dict[int, Counted] = {}
        for key, entity in kb.fresh_entities():
            text, there = hash((entity.title, entity.aliases, entity.description)), known.get(key)
            self._counted[key] = there if there and there[0] == text else _counted(entity, text)
        self.keys = list(self._counted)  # in ascending order, as the rows of an index are
        self.rows = {key: row for row, key in enumerate(self.keys)}
        counted = self._counted.values()
        self.index = WordIndex.of([(terms, counts) for _, terms, counts, _ in counted], [one[3] for one in counted])
        self._masks: dict[frozenset[str], Mask] = {}

    def __bool__(self) -> bool:
        return bool(self.keys)

    def findable(self, types: frozenset[str]) -> Mask | None:
        """Which rows are of the wanted types; None is all of them."""
        import numpy

        if not types:
            return None
        if types not in self._masks:
            wanted = self._kb.keys_of_types(types)
            self._masks[types] = numpy.array([key in wanted for key in self.keys], numpy.bool_)
        return self._masks[types]


def _counted(entity: Entity, text: int) -> Counted:
    import numpy

    counted = entity_terms(entity)
    terms = numpy.fromiter(map(hash_of, counted), numpy.uint64, len(counted))
    counts = numpy.fromiter((min(count, MOST_COUNTED) for count in counted.values()), numpy.uint16, len(counted))
    return text, terms, counts, counted.total()
