"""Candidates whose name is written almost like the mention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from entlink.documents import Candidate
from entlink.interfaces import Question
from entlink.kb.folding import key_of
from entlink.kb.knowledge_base import KnowledgeBase

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 "
_CACHED_SURFACES = 20_000


class EditDistanceRetriever:
    """Other names at most `distance` edits away (and at least `similarity` alike), the closest first.

    Every name one edit away is found, whatever the size of the knowledge base; beyond that, the names that
    share the first third of the mention, up to `scanned` of them. Mentions shorter than four characters have
    too many neighbours to mean anything and get none.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        limit: int = 10,
        distance: int = 2,
        similarity: float = 0.75,
        scanned: int = 5_000,
    ) -> None:
        self.kb, self.limit, self.distance = kb, limit, distance
        self.similarity, self.scanned = similarity, scanned
        self._found: dict[str, tuple[Candidate, ...]] = {}

    def knowledge_base_changed(self) -> None:
        self._found.clear()

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        return [[self.candidates(mention.text) for mention in question.mentions] for question in questions]

    def candidates(self, surface: str) -> tuple[Candidate, ...]:
        """The candidates of a surface, cached."""
        found = self._found.get(surface)
        if found is None:
            if len(self._found) >= _CACHED_SURFACES:
                self._found.clear()
            blocked = self.kb.meaning(surface).blocked
            found = self._found[surface] = () if blocked else self._look_up(key_of(surface))
        return found

    def _look_up(self, key: str) -> tuple[Candidate, ...]:
        best: dict[str, Candidate] = {}
        for near, alike in self.near(key):
            meaning = self.kb.meaning_of_key(near)
            total = meaning.total
            for entry, id, title in self.kb.bearers(meaning, self.limit):
                prior = entry.support / total if total else 0.0
                candidate = Candidate(id, prior * alike, {"edit": alike, "prior": prior}, title)
                if id not in best or best[id].score < candidate.score:
                    best[id] = candidate
        ranked = sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.entity))
        return tuple(ranked[: self.limit])

    def near(self, key: str) -> list[tuple[str, float]]:
        """Keys near to one, with how alike they are, closest first."""
        from rapidfuzz.distance import DamerauLevenshtein

        if len(key) < 4:
            return []
        near = []
        for other in {*self._one_edit_away(key), *self._same_beginning(key)} - {key}:
            edits = DamerauLevenshtein.distance(key, other, score_cutoff=self.distance)
            alike = 1.0 - edits / max(len(key), len(other))
            if edits <= self.distance and alike >= self.similarity:
                near.append((other, alike))
        return sorted(near, key=lambda pair: (-pair[1], pair[0]))[: self.limit]

    def _one_edit_away(self, key: str) -> Iterator[str]:
        index, fresh = self.kb.index, set(self.kb.fresh_keys())
        return (other for other in edits(key) if other in fresh or other in index)

    def _same_beginning(self, key: str) -> Iterator[str]:
        beginning = key[: max(3, len(key) // 3)]
        yield from islice(self.kb.index.keys(beginning), self.scanned)
        yield from (other for other in self.kb.fresh_keys() if other.startswith(beginning))


def edits(key: str) -> set[str]:
    """Every string one deletion, swap, replacement or insertion away, with the letters of the key and ASCII."""
    letters = sorted(set(_LETTERS) | set(key))
    splits = [(key[:at], key[at:]) for at in range(len(key) + 1)]
    deleted = {left + right[1:] for left, right in splits if right}
    swapped = {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    replaced = {left + letter + right[1:] for left, right in splits if right for letter in letters}
    inserted = {left + letter + right for left, right in splits for letter in letters}
    return (deleted | swapped | replaced | inserted) - {key}
