"""Candidates whose name is longer than the mention: "Obama" for Barack Obama, "LA" for Los Angeles."""

from __future__ import annotations

from entlink.candidates._lookup import ScoringLookup
from entlink.documents import Candidate
from entlink.errors import DamagedError
from entlink.kb.indexes.short_names import ShortName, ShortNames
from entlink.kb.knowledge_base import KnowledgeBase

_UNSEEN = 0.5  # of a time: what is never spoken of in full may still be meant


class ShortenedRetriever(ScoringLookup):
    """The entities one of whose names begins or ends with the mention, or has it as its initials.

    A score is the share of an entity among all of them, by how often the knowledge base's texts speak of each in
    full. Its index is made at the first question if there is none, from the names of now: as of a date, those of them
    that held then are found. Entities that changed since are found as some that texts do not speak of yet.
    """

    needs = "an index of names cut short, made at the first use"
    gives = ("shortened",)

    def __init__(self, kb: KnowledgeBase, *, limit: int = 10) -> None:
        super().__init__(kb, limit)
        self._names = ShortNames(kb)

    def knowledge_base_changed(self) -> None:
        super().knowledge_base_changed()
        self._names.knowledge_base_changed()

    def _look_up(self, surface: str) -> tuple[Candidate, ...]:
        if self.kb.meaning(surface).blocked:
            return ()
        names = self._names.of(surface)
        live = [(*head, one.times + _UNSEEN) for one in names if (head := self._head(one)) is not None]
        total = sum(times for _, _, times in live)
        return tuple(
            Candidate(id, times / total, {}, title) for id, title, times in sorted(live, key=lambda one: -one[2])
        )

    def _head(self, name: ShortName) -> tuple[str, str] | None:
        """The id and title of an entity; None if it is gone, not there at that date, or of another type."""
        try:
            id, title = self.kb.head(name.entity)
        except DamagedError:
            return None
        if self._types and not self._types.intersection(self.kb.types(id)):
            return None
        return id, title
