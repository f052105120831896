"""The naive baseline: the entity whose title is written most like the mention, found by trying them all."""

from __future__ import annotations

from collections.abc import Sequence

from entlink.documents import Candidate
from entlink.interfaces import Question
from entlink.kb.knowledge_base import KnowledgeBase

_CACHED_SURFACES = 20_000


class NearestTitle:
    """Every title of some types by its Levenshtein distance to the mention, both as written; ties by KB order."""

    def __init__(self, kb: KnowledgeBase, types: Sequence[str], *, limit: int = 64) -> None:
        self.limit = limit
        heads = [kb.head(key) for key in sorted(kb.keys_of_types(types))]
        self._ids, self._titles = [id for id, _ in heads], [title for _, title in heads]
        self._found: dict[str, list[Candidate]] = {}

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        return [[self.candidates(mention.text) for mention in question.mentions] for question in questions]

    def candidates(self, surface: str) -> list[Candidate]:
        """The nearest first; the score falls with the distance alone."""
        found = self._found.get(surface)
        if found is None:
            if len(self._found) >= _CACHED_SURFACES:
                self._found.clear()
            found = self._found[surface] = self._look_up(surface)
        return found

    def _look_up(self, surface: str) -> list[Candidate]:
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import extract

        nearest = extract(surface, self._titles, scorer=Levenshtein.distance, limit=self.limit)
        return [
            Candidate(self._ids[place], 1.0 / (1.0 + distance), {"distance": float(distance)}, title)
            for title, distance, place in sorted(nearest, key=lambda one: (one[1], one[2]))
        ]
