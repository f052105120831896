"""What retrievers that look a surface up have in common: each surface is looked up once, for the wanted types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from entlink.documents import Candidate
from entlink.interfaces import Question, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase


class SurfaceLookup(ABC):
    """A retriever by the mention's surface alone; `_look_up` finds the candidates of one, best first."""

    _CACHED_SURFACES = 50_000

    def __init__(self, kb: KnowledgeBase, limit: int) -> None:
        self.kb, self.limit = kb, limit
        self._types: frozenset[str] = frozenset()
        self._found: dict[str, tuple[Candidate, ...]] = {}

    def keep_to_types(self, types: frozenset[str]) -> None:
        self._types = types
        self._found.clear()

    def knowledge_base_changed(self) -> None:
        self._found.clear()

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        found, look_up, limit = self._found, self.candidates, self.limit
        return [
            [(found.get(mention.text) or look_up(mention.text))[:limit] for mention in question.mentions]
            for question in questions
        ]

    def candidates(self, surface: str) -> tuple[Candidate, ...]:
        """All candidates of a surface; the same records every time, since they are frozen."""
        found = self._found.get(surface)
        if found is None:
            if len(self._found) >= self._CACHED_SURFACES:
                self._found.clear()
            found = self._found[surface] = self._look_up(surface)
        return found

    @abstractmethod
    def _look_up(self, surface: str) -> tuple[Candidate, ...]: ...


class ScoringLookup(SurfaceLookup):
    """One that is evidence for what others found, too: its own score, or 0 where it does not know the entity."""

    gives: tuple[str, ...]

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        score = self.gives[0]
        return [
            [{score: scores.get(one.entity, 0.0)} for one in shortlist.candidates]
            for shortlist in shortlists
            for scores in ({one.entity: one.score for one in self.candidates(shortlist.mention.text)},)
        ]
