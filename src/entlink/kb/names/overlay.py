"""Edits since the last index, laid over it: names of changed entities, removals, pins and blocks."""

from __future__ import annotations

from collections import defaultdict

from entlink.kb.names.alias_index import Form
from entlink.kb.names.own_names import NameSource, given_names
from entlink.kb.store.openings import opening_names
from entlink.kb.store.store import Store
from entlink.text.folding import first_token, key_of
from entlink.text.titles import tidy

OVERLAY_CAP = 50_000  # changed entities; past it linking slows and `entlink kb index` is due


class Overlay:
    """What changed in the store since the alias index was made, kept up by `refresh`."""

    def __init__(self) -> None:
        self.changed: set[int] = set()
        self.removed: set[int] = set()
        self.rules: dict[str, list[tuple[str | None, int | None]]] = {}
        self._forms: dict[str, dict[int, list[Form]]] = {}
        self._keys_of: dict[int, set[str]] = {}
        self._by_first: dict[str, set[str]] = defaultdict(set)
        self._seq = 0

    def refresh(self, store: Store) -> None:
        """Take in the edits and rules made since the last call."""
        edits = store.edits(after=self._seq)
        for entity in {edit.entity for edit in edits}:
            self._reload(store, entity)
        if edits:
            self._seq = edits[-1].seq
        self._load_rules(store)

    def __bool__(self) -> bool:
        """Whether it adds any name."""
        return bool(self._forms)

    def forms(self, key: str) -> list[Form]:
        """The forms changed entities give this key."""
        groups = self._forms.get(key)
        return [form for forms in groups.values() for form in forms] if groups else []

    def keys_from(self, first: str, rest: str) -> list[str]:
        """Fresh keys that begin with the token `first`, or of which it is the plural, and are prefixes of `rest`."""
        keys = self._by_first.get(first, ())
        found = [key for key in keys if rest.startswith(key)]
        if first.endswith("s"):
            found += [stem for stem in (first[:-1], first[:-2]) if stem in self._forms]
        return found

    def keys(self) -> list[str]:
        return list(self._forms)

    def _reload(self, store: Store, entity: int) -> None:
        for key in self._keys_of.pop(entity, ()):
            self._drop(key, entity)
        self.changed.add(entity)
        versions = store.versions(entity)
        if versions:
            self.removed.discard(entity)
        else:
            self.removed.add(entity)
        weight = store.weight(entity)
        forms: dict[str, NameSource] = {}
        for number, version in enumerate(versions):
            for surface, source in given_names(version.entity):
                if number == 0:
                    forms[surface] = forms.get(surface, NameSource(0)) | source
                else:
                    forms.setdefault(surface, source | NameSource.PAST)
        for surface in opening_names(store, entity, entity).get(entity, ()):
            forms[surface] = (forms.get(surface, NameSource(0)) & ~NameSource.PAST) | NameSource.OPENING
        for surface, sources in forms.items():
            count = 0 if sources & NameSource.PAST else weight
            self._insert(key_of(surface), entity, Form(surface, 0, (entity, count, int(sources))))

    def _insert(self, key: str, entity: int, form: Form) -> None:
        self._forms.setdefault(key, {}).setdefault(entity, []).append(form)
        self._keys_of.setdefault(entity, set()).add(key)
        self._by_first[first_token(key)].add(key)

    def _drop(self, key: str, entity: int) -> None:
        groups = self._forms[key]
        groups.pop(entity, None)
        if not groups and key not in self.rules:
            del self._forms[key]
            self._by_first[first_token(key)].discard(key)

    def _load_rules(self, store: Store) -> None:
        """Pins are names too: a pinned surface is found even where no entity gives it."""
        for key in self.rules:
            if not self._forms.get(key):
                self._forms.pop(key, None)
                self._by_first[first_token(key)].discard(key)
        self.rules = {}
        for rule in store.rules():
            key, surface = key_of(rule.surface), tidy(rule.surface)
            self.rules.setdefault(key, []).append((surface if rule.case_sensitive else None, rule.entity))
            if rule.entity is not None:
                self._forms.setdefault(key, {})
                self._by_first[first_token(key)].add(key)

    def rule_for(self, surface: str) -> tuple[bool, int | None]:
        """Whether a rule covers the surface, and the entity it pins (None is a block)."""
        return self.rule_for_key(key_of(surface), tidy(surface)) if self.rules else (False, None)

    def rule_for_key(self, key: str, form: str | None = None) -> tuple[bool, int | None]:
        """The same for a key; a case-sensitive rule covers only its own form, and then comes first."""
        for written, entity in sorted(self.rules.get(key, ()), key=lambda rule: rule[0] is None):
            if written is None or written == form:
                return True, entity
        return False, None
