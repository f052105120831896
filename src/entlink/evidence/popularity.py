"""How often an entity is spoken of in the texts of its knowledge base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log1p

from entlink.evidence.spelling import bare_key
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

_CACHED = 100_000


class PopularityEvidence:
    """The logarithm of how often an entity's title is in the texts, linked or not; namesakes share by P(e|m)."""

    gives = ("popularity",)

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._known: dict[str, float] = {}

    def knowledge_base_changed(self) -> None:
        self._known.clear()

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        return [
            [{"popularity": self.of(one.entity, one.title)} for one in shortlist.candidates]
            for shortlist in shortlists
        ]

    def of(self, id: str, title: str | None) -> float:
        """The popularity of an entity; 0 where its texts were not counted."""
        found = self._known.get(id)
        if found is None:
            if len(self._known) >= _CACHED:
                self._known.clear()
            found = self._known[id] = log1p(self._occurrences(id, title))
        return found

    def _occurrences(self, id: str, title: str | None) -> float:
        key = self.kb.key(id)
        if key is None or not title:
            return 0.0
        meaning = self.kb.meaning_of_key(bare_key(title))
        own = sum(entry.support for entry in meaning.entries if entry.entity == key)
        return (meaning.linked + meaning.unlinked) * own / meaning.total if own else 0.0
