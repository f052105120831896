"""What a conversation has linked lately, as evidence for what is linked next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from entlink.documents import Candidate, Link
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.folding import key_of
from entlink.text.short_forms import initials, short_forms

RECENT = "recent"  # the name of the evidence
_FAINTEST = 0.02  # below this nothing is remembered


class _Kept(NamedTuple):
    strength: float
    turn: int
    title: str | None
    names: frozenset[str]  # the keys of how it was written, and those of its names cut short


class RecentEntities:
    """The last `size` entities that were linked, each with a strength that fades by `decay` a turn.

    An entity is as strong as the link that named it was sure; of the turn before, it counts in full.
    """

    def __init__(self, size: int, decay: float) -> None:
        self._size, self._decay = size, decay
        self._kept: dict[str, _Kept] = {}  # those linked longest ago come first

    def __len__(self) -> int:
        return len(self._kept)

    def forget(self) -> None:
        self._kept.clear()

    def take_in(self, links: Sequence[Link], turn: int) -> None:
        """Remember what a turn was linked to; NIL is nothing to remember."""
        for link in links:
            if link.entity is not None and self._size:
                before = self._kept.pop(link.entity, None)
                self._kept[link.entity] = self._renewed(link, turn, before)
        while len(self._kept) > self._size:
            del self._kept[next(iter(self._kept))]

    def _renewed(self, link: Link, turn: int, before: _Kept | None) -> _Kept:
        strength = min(max(link.score, 0.0), 1.0)
        names = {key_of(link.mention.text), *_short(link.title), *_short(link.mention.text)}
        if before is not None:
            strength = max(strength, self._faded(before, turn))
        return _Kept(strength, turn, link.title, frozenset(names))

    def _faded(self, kept: _Kept, turn: int) -> float:
        age = turn - kept.turn - 1
        return kept.strength * float(self._decay**age) if age > 0 else kept.strength

    def strengths(self, turn: int) -> dict[str, float]:
        """Each remembered entity with what it counts in this turn."""
        told = {entity: self._faded(kept, turn) for entity, kept in self._kept.items()}
        return {entity: strength for entity, strength in told.items() if strength >= _FAINTEST}

    def told(
        self, kb: KnowledgeBase, surface: str, candidates: Sequence[Candidate], turn: int
    ) -> Sequence[Candidate]:
        """The candidates with the evidence `recent`, and those remembered that the surface may be short for.

        A rule on the name decides alone: what is pinned stays as it is, what is blocked gets nothing.
        """
        strengths = self.strengths(turn) if self._kept else {}
        if not strengths or (candidates and candidates[0].evidence.get("pinned")):
            return candidates
        added = self._short_for(kb, surface, strengths.keys() - {one.entity for one in candidates})
        if not added and strengths.keys().isdisjoint(one.entity for one in candidates):
            return candidates
        return [_with(one, strengths.get(one.entity)) for one in (*candidates, *added)]

    def _short_for(self, kb: KnowledgeBase, surface: str, entities: set[str]) -> list[Candidate]:
        forms = {form for form in (key_of(surface), initials(surface)) if form}
        named = [entity for entity in self._kept if entity in entities and forms & self._kept[entity].names]
        if not named:
            return []
        meaning = kb.meaning(surface)
        if meaning.blocked or meaning.pinned:
            return []
        return [
            Candidate(entity, 0.0, {}, self._kept[entity].title) for entity in named if kb.key(entity) is not None
        ]


def _with(candidate: Candidate, strength: float | None) -> Candidate:
    if strength is None:
        return candidate
    evidence = {**candidate.evidence, RECENT: strength}
    return Candidate(candidate.entity, candidate.score, evidence, candidate.title)


def _short(name: str | None) -> tuple[str, ...]:
    return short_forms(name) if name else ()
