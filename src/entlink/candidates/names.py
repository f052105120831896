"""Candidates by all that a mention may be a name of: names in any spelling, and names cut short."""

from __future__ import annotations

from itertools import islice
from math import log1p

from entlink.candidates._lookup import SurfaceLookup
from entlink.documents import Candidate
from entlink.kb.indexes.short_names import ShortNames
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.aliases import prior
from entlink.kb.names.neighbours import near_keys
from entlink.kb.names.tiers import Tier
from entlink.text.folding import key_of
from entlink.text.scripts import simplified
from entlink.text.titles import looks_like_disambiguation, without_parenthesis

_SHARE_OF_TITLE = 0.5


class NamesRetriever(SurfaceLookup):
    """The entities that have the surface as a name at any tier, or as a short form: "Mozart", "MIT", "the Bulls".

    Evidence: `prior` P(e|m) and `tier` of a name, `inflected` if the surface is its plural, `shortened` the share
    of a short form by how often texts speak of each entity in full, `times` the logarithm of that number,
    `is_title` if the name is the title as it is written, `is_bare_title` if it is the title less its parenthesis,
    and another entity has it as its title.
    A surface that is no name at all is compared with names that are written almost so, and `edit` says how alike the
    two are. Disambiguation pages are no candidates.
    """

    needs = "an index of names cut short, made at the first use"

    def __init__(self, kb: KnowledgeBase, *, limit: int = 6) -> None:
        super().__init__(kb, limit)
        self._short = ShortNames(kb)

    def knowledge_base_changed(self) -> None:
        super().knowledge_base_changed()
        self._short.knowledge_base_changed()

    def _look_up(self, surface: str) -> tuple[Candidate, ...]:
        meaning = self.kb.meaning(surface)
        if meaning.blocked:
            return ()
        found: dict[int, dict[str, float]] = {}
        entries = self.kb.wide(surface)
        total = sum(entry.support for entry in entries)
        for entry in entries:
            share = prior(entry.support, total)
            found[entry.entity] = {"prior": share, "support": entry.support, "tier": float(entry.tier)}
            if entry.tier is Tier.INFLECTION:
                found[entry.entity]["inflected"] = 1.0
        if meaning.pinned:
            for one in found.values():
                one["pinned"] = 1.0
        else:
            short = self._short.of(surface)
            spoken = sum(one.times for one in short) + 1.0
            for name in short:
                own = found.setdefault(name.entity, {})
                own["shortened"] = name.times / spoken
                own["times"] = log1p(name.times)
        if not found and not entries:
            found = self._near(surface)
        ranked = sorted(found.items(), key=lambda one: -_rough(one[1]))
        candidates = (self._candidate(surface, key, evidence) for key, evidence in ranked)
        best = tuple(islice((one for one in candidates if one is not None), self.limit))
        if not any("is_title" in evidence for _, evidence in ranked):
            for _, evidence in ranked:  # nobody else is called so without anything after it
                evidence.pop("is_bare_title", None)
        return best

    def _near(self, surface: str) -> dict[int, dict[str, float]]:
        """Entities with a name that is written almost like the surface, the most alike first."""
        found: dict[int, dict[str, float]] = {}
        for key, alike in near_keys(self.kb, key_of(surface)):
            meaning = self.kb.meaning_of_key(key)
            for entry in meaning.entries:
                share = prior(entry.support, meaning.total) * alike
                found.setdefault(entry.entity, {"prior": share, "edit": alike})
        return found

    def _candidate(self, surface: str, key: int, evidence: dict[str, float]) -> Candidate | None:
        entity = self.kb.recent.of_key(key)
        if entity is None or (self._types and not self._types.intersection(entity.types)):
            return None
        if "pinned" not in evidence and looks_like_disambiguation(entity.title, entity.description):
            return None
        written, title = simplified(surface), simplified(entity.title)
        if written == title:
            evidence["is_title"] = 1.0
        elif written == without_parenthesis(title):
            evidence["is_bare_title"] = 1.0
        return Candidate(entity.id, _rough(evidence), evidence, entity.title)


def _rough(evidence: dict[str, float]) -> float:
    """An order before anything is known of the text."""
    return evidence.get("pinned", 0.0) + evidence.get("prior", 0.0) + _SHARE_OF_TITLE * evidence.get("shortened", 0.0)
