"""Candidates whose name is written almost like the mention."""

from __future__ import annotations

from entlink.candidates._lookup import SurfaceLookup
from entlink.documents import Candidate
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.aliases import AliasEntry, prior
from entlink.kb.names.neighbours import near_keys
from entlink.text.folding import key_of


class EditDistanceRetriever(SurfaceLookup):
    """Other names at most `distance` edits away (and at least `similarity` alike), the closest first.

    `entlink.kb.names.neighbours.near_keys` says which neighbours are found; mentions shorter than four characters
    have none.
    """

    _CACHED_SURFACES = 20_000

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        limit: int = 10,
        distance: int = 2,
        similarity: float = 0.75,
        scanned: int = 5_000,
    ) -> None:
        super().__init__(kb, limit)
        self.distance, self.similarity, self.scanned = distance, similarity, scanned

    def _look_up(self, surface: str) -> tuple[Candidate, ...]:
        if self.kb.meaning(surface).blocked:
            return ()
        best: dict[str, Candidate] = {}
        for near, alike in self._near(key_of(surface)):
            named = self._entities_named(near)
            total = sum(entry.support for entry, _, _ in named)
            for entry, id, title in named[: self.limit]:
                share = prior(entry.support, total)
                candidate = Candidate(id, share * alike, {"edit": alike, "prior": share}, title)
                if id not in best or best[id].score < candidate.score:
                    best[id] = candidate
        ranked = sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.entity))
        return tuple(ranked[: self.limit])

    def _entities_named(self, key: str) -> list[tuple[AliasEntry, str, str]]:
        """The entities with a name, of the wanted types if any are."""
        named = self.kb.entities_named(self.kb.meaning_of_key(key))
        if not self._types:
            return list(named)
        return [entity for entity in named if self._types.intersection(self.kb.types(entity[1]))]

    def _near(self, key: str) -> list[tuple[str, float]]:
        found = near_keys(self.kb, key, distance=self.distance, similarity=self.similarity, scanned=self.scanned)
        return found if self._types else found[: self.limit]
