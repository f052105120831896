"""Candidates from the alias table, scored by P(e|m)."""

from __future__ import annotations

from collections.abc import Iterable

from entlink.candidates._lookup import ScoringLookup
from entlink.documents import Candidate
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.aliases import AliasEntry, prior
from entlink.text.folding import key_of

Named = tuple[AliasEntry, str, str]  # with its id and title


class AliasRetriever(ScoringLookup):
    """The entities that have the mention's surface as a name, most likely first; P(e|m) is over the wanted types.

    With `wide` those that have it at any tier, where else the tightest tier that finds some decides.
    """

    gives = ("alias",)
    _CACHED_SURFACES = 100_000

    def __init__(self, kb: KnowledgeBase, *, limit: int = 30, wide: bool = False) -> None:
        super().__init__(kb, limit)
        self.wide = wide

    def _look_up(self, surface: str) -> tuple[Candidate, ...]:
        return self._wide(surface) if self.wide else self._tightest(surface)

    def _tightest(self, surface: str) -> tuple[Candidate, ...]:
        meaning = self.kb.meaning(surface)
        named = list(self.kb.entities_named(meaning, None if self._types else self.limit))
        total = meaning.total
        if self._types:
            named = self._of_types(named)
            if not named and meaning.entries and not meaning.pinned:
                # Written exactly so, it is a name of others only; written otherwise, it may be one of the wanted.
                meaning = self.kb.meaning_of_key(key_of(surface))
                named = self._of_types(self.kb.entities_named(meaning))
            total = sum(entry.support for entry, _, _ in named)
        candidates = []
        for entry, id, title in named[: self.limit]:
            share = prior(entry.support, total)
            evidence = {"prior": share, "support": float(entry.support), "tier": float(meaning.tier)}
            if meaning.pinned:
                evidence["pinned"] = 1.0
            candidates.append(Candidate(id, share, evidence, title))
        return tuple(candidates)

    def _wide(self, surface: str) -> tuple[Candidate, ...]:
        meaning = self.kb.meaning(surface)
        if meaning.pinned or meaning.blocked:
            return self._tightest(surface)
        heads = [(entry, *head) for entry in self.kb.wide(surface) if (head := self.kb.head_of(entry.entity))]
        if self._types:
            heads = [one for one in heads if self._types.intersection(self.kb.types(one[1]))]
        total = sum(entry.support for entry, _, _ in heads)
        return tuple(
            Candidate(id, share, {"prior": share, "support": entry.support, "tier": float(entry.tier)}, title)
            for entry, id, title in heads[: self.limit]
            for share in (prior(entry.support, total),)
        )

    def _of_types(self, named: Iterable[Named]) -> list[Named]:
        return [entity for entity in named if self._types.intersection(self.kb.types(entity[1]))]
