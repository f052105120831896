"""Candidates whose name is longer than the mention: "Obama" for Barack Obama, "LA" for Los Angeles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from entlink.candidates._lookup import ScoringLookup
from entlink.documents import Candidate
from entlink.errors import DamagedError
from entlink.kb.indexes.short_names import ShortIndex, ShortName, ensure_short, forms_of
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.folding import key_of
from entlink.text.short_forms import initials

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
        self._index: ShortIndex | None = None
        self._index_folder: Path | None = None
        self._fresh: dict[str, list[ShortName]] | None = None

    def knowledge_base_changed(self) -> None:
        super().knowledge_base_changed()
        self._fresh = None

    def _look_up(self, surface: str) -> tuple[Candidate, ...]:
        if self.kb.meaning(surface).blocked:
            return ()
        forms = [form for form in (key_of(surface), initials(surface)) if form]
        live = [(*head, one.times + _UNSEEN) for one in self._names(forms) if (head := self._head(one)) is not None]
        total = sum(times for _, _, times in live)
        return tuple(
            Candidate(id, times / total, {}, title) for id, title, times in sorted(live, key=lambda one: -one[2])
        )

    def _names(self, forms: Sequence[str]) -> list[ShortName]:
        """Each entity that has one of the forms, once; those that changed as they are now."""
        index, fresh = self._opened(), self._fresh_names()
        found = [one for form in forms for one in index.of(form) if self._has(one.entity, form)]
        found += [one for form in forms for one in fresh.get(form, ())]
        return list({one.entity: one for one in found}.values())

    def _has(self, key: int, form: str) -> bool:
        """Whether what the index says of an entity holds: not if it changed, nor if it was called otherwise then."""
        if key in self.kb.changed_keys:
            return False
        if self.kb.date is None:
            return True
        entity = self.kb.entity(key)
        return entity is not None and form in forms_of(entity)

    def _fresh_names(self) -> dict[str, list[ShortName]]:
        if self._fresh is None:
            self._fresh = {}
            for key, entity in self.kb.fresh_entities():
                for form in forms_of(entity):
                    self._fresh.setdefault(form, []).append(ShortName(key, 0))
        return self._fresh

    def _head(self, name: ShortName) -> tuple[str, str] | None:
        """The id and title of an entity; None if it is gone, not there at that date, or of another type."""
        try:
            id, title = self.kb.head(name.entity)
        except DamagedError:
            return None
        if self._types and not self._types.intersection(self.kb.types(id)):
            return None
        return id, title

    def _opened(self) -> ShortIndex:
        if self._index is None or self._index_folder != self.kb.index_folder:
            folder = ensure_short(self.kb.folder)
            if self._index is not None:
                self._index.close()
            self._index, self._index_folder = ShortIndex(folder), self.kb.index_folder
        return self._index
