"""Candidates from the alias table, scored by P(e|m)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from entlink.documents import Candidate
from entlink.interfaces import Question, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.aliases import AliasEntry, prior
from entlink.text.folding import key_of

_CACHED_SURFACES = 100_000
Bearer = tuple[AliasEntry, str, str]  # with its id and title


class AliasRetriever:
    """The entities that bear the mention's surface as a name, most likely first; P(e|m) is over the wanted types.

    With `wide` those that bear it at any tier, where else the tightest tier that finds some decides.
    """

    gives = ("alias",)

    def __init__(self, kb: KnowledgeBase, *, limit: int = 30, wide: bool = False) -> None:
        self.kb, self.limit, self.wide = kb, limit, wide
        self._types: frozenset[str] = frozenset()
        self._found: dict[str, tuple[Candidate, ...]] = {}

    def keep_to_types(self, types: frozenset[str]) -> None:
        self._types = types
        self._found.clear()

    def knowledge_base_changed(self) -> None:
        self._found.clear()

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        found, look_up = self._found, self.candidates
        return [
            [found.get(mention.text) or look_up(mention.text) for mention in question.mentions]
            for question in questions
        ]

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        """P(e|m) of what others found: 0 for entities that do not bear the name."""
        return [
            [{"alias": priors.get(one.entity, 0.0)} for one in shortlist.candidates]
            for shortlist in shortlists
            for priors in ({one.entity: one.score for one in self.candidates(shortlist.mention.text)},)
        ]

    def candidates(self, surface: str) -> tuple[Candidate, ...]:
        """The candidates of a surface; the same records every time, since they are frozen."""
        found = self._found.get(surface)
        if found is None:
            if len(self._found) >= _CACHED_SURFACES:
                self._found.clear()
            found = self._found[surface] = self._look_up_wide(surface) if self.wide else self._look_up(surface)
        return found

    def _look_up(self, surface: str) -> tuple[Candidate, ...]:
        meaning = self.kb.meaning(surface)
        bearers = list(self.kb.bearers(meaning, None if self._types else self.limit))
        total = meaning.total
        if self._types:
            bearers = self._of_types(bearers)
            if not bearers and meaning.entries and not meaning.pinned:
                # Written exactly so, it is a name of others only; written otherwise, it may be one of the wanted.
                meaning = self.kb.meaning_of_key(key_of(surface))
                bearers = self._of_types(self.kb.bearers(meaning))
            total = sum(entry.support for entry, _, _ in bearers)
        candidates = []
        for entry, id, title in bearers[: self.limit]:
            share = prior(entry.support, total)
            evidence = {"prior": share, "support": float(entry.support), "tier": float(meaning.tier)}
            if meaning.pinned:
                evidence["pinned"] = 1.0
            candidates.append(Candidate(id, share, evidence, title))
        return tuple(candidates)

    def _look_up_wide(self, surface: str) -> tuple[Candidate, ...]:
        meaning = self.kb.meaning(surface)
        if meaning.pinned or meaning.blocked:
            return self._look_up(surface)
        heads = [(entry, *head) for entry in self.kb.wide(surface) if (head := self.kb.head_of(entry.entity))]
        if self._types:
            heads = [one for one in heads if self._types.intersection(self.kb.types(one[1]))]
        total = sum(entry.support for entry, _, _ in heads)
        return tuple(
            Candidate(id, share, {"prior": share, "support": entry.support, "tier": float(entry.tier)}, title)
            for entry, id, title in heads[: self.limit]
            for share in (prior(entry.support, total),)
        )

    def _of_types(self, bearers: Iterable[Bearer]) -> list[Bearer]:
        return [bearer for bearer in bearers if self._types.intersection(self.kb.types(bearer[1]))]
