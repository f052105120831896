"""What a surface may mean: the alias index and the overlay as one table of names.

P(e|m) = count(m, e) / Σ count(m, ·), where a count is the links with that surface plus a small weight for
a name the entity gives itself; P(link|m) = links / (links + unlinked occurrences). Both are divided here,
on reading, from integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, NamedTuple

import msgspec

from entlink.kb.names.alias_index import AliasIndex, Form
from entlink.kb.names.overlay import Overlay
from entlink.kb.names.own_names import NameSource, given_names
from entlink.kb.names.tiers import FACTORS, Normalisation, Tier, inflected, tier_between
from entlink.kb.store.store import Store
from entlink.text.folding import key_of
from entlink.text.plurals import irregular
from entlink.text.scripts import simplified

# Plain integers: operators of enum flags are ten times slower, and these run for every posting.
_ANCHOR, _PAST = int(NameSource.ANCHOR), int(NameSource.PAST)
_TITLE, _ALIAS, _STRIPPED = int(NameSource.TITLE), int(NameSource.ALIAS), int(NameSource.STRIPPED)
_OPENING = int(NameSource.OPENING)
_CACHED_MEANINGS = 100_000


Weight = Annotated[int, msgspec.Meta(ge=0)]


class PriorWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a name given by the entity itself counts for, beside a link counting 1."""

    title: Weight = 3
    alias: Weight = 2
    stripped: Weight = 1
    opening: Weight = 1


class AliasEntry(NamedTuple):
    """One entity a surface may mean; `support` is its links with that surface plus its own naming's weight."""

    entity: int
    support: int
    sources: int


class WideEntry(NamedTuple):
    """One entity that a surface may mean at any tier; `tier` is the tightest at which it has the name."""

    entity: int
    support: float
    tier: Tier


class Meaning(NamedTuple):
    """All a surface may mean, best first. `pinned`: a rule decided, not the counts."""

    tier: Tier
    entries: tuple[AliasEntry, ...]
    linked: int
    unlinked: int
    forms: tuple[str, ...]
    pinned: bool = False
    blocked: bool = False

    @property
    def total(self) -> int:
        return sum(entry.support for entry in self.entries)

    def link_probability(self) -> float | None:
        """P(link|m); None where the surface was never counted."""
        seen = self.linked + self.unlinked
        return self.linked / seen if seen else None


NOTHING = Meaning(Tier.EXACT, (), 0, 0, ())
BLOCKED = NOTHING._replace(blocked=True)


class AliasTable:
    """Names to meanings, as of a date or now."""

    def __init__(
        self,
        store: Store,
        index: AliasIndex,
        overlay: Overlay,
        *,
        date: str | None = None,
        weights: PriorWeights = PriorWeights(),
        normalisation: Normalisation = Normalisation(),
    ) -> None:
        self._store, self._index, self._overlay = store, index, overlay
        self._date, self._weights, self._normalisation = date, weights, normalisation
        self._cache: dict[str, Meaning] = {}

    def forget(self) -> None:
        """Drop cached meanings: the store has changed."""
        self._cache.clear()

    def meaning(self, surface: str) -> Meaning:
        """What the surface may mean, cached; no entries when it is unknown."""
        found = self._cache.get(surface)
        if found is None:
            if len(self._cache) >= _CACHED_MEANINGS:
                self._cache.clear()
            found = self._cache[surface] = self._find(surface)
        return found

    def forms(self, surface: str) -> list[str]:
        """Every way in which the surface's key is written, by names and by rules."""
        key = key_of(surface)
        ruled = [form for form, _ in self._overlay.rules.get(key, ()) if form is not None]
        return [*(form[0] for form in self.group(key)), *ruled]

    def meaning_of_key(self, key: str) -> Meaning:
        """What any form with this key may mean; rules do not apply."""
        return self._summed(self.group(key), Tier.PUNCTUATION)

    def _find(self, surface: str) -> Meaning:
        ruled, pinned = self._overlay.rule_for(surface)
        if ruled:
            return self._by_rule(surface, pinned)
        key = key_of(surface)
        meaning = self._in_group(surface, self.group(key))
        if meaning.entries or not self._normalisation.inflection:
            return meaning
        for variant in inflected(key):
            ruled, pinned = self._overlay.rule_for_key(variant)
            if ruled:
                return self._by_rule(surface, pinned)
            loosest = self._summed(self.group(variant), Tier.INFLECTION)
            if loosest.entries:
                return loosest
        return meaning

    def wide(self, surface: str) -> tuple[WideEntry, ...]:
        """All that a surface may mean at any tier, best first; rules decide as in `meaning`.

        Links count whatever the form; an entity's weight counts once, and so does its own naming: what the best
        source counts for, times the factor of its tier.
        """
        meaning = self.meaning(surface)
        if meaning.pinned or meaning.blocked:
            return tuple(WideEntry(entry.entity, entry.support, meaning.tier) for entry in meaning.entries)
        links: dict[int, int] = {}
        weights: dict[int, int] = {}
        naming: dict[int, float] = {}
        tiers: dict[int, Tier] = {}
        for tier, forms in self._by_tier(surface):
            for entity, count, sources in self._bearing(forms):
                tiers.setdefault(entity, tier)
                if sources & _ANCHOR:
                    links[entity] = links.get(entity, 0) + count
                else:
                    own = given_weight(self._weights, sources) * FACTORS[tier]
                    weights[entity] = max(weights.get(entity, 0), count)
                    naming[entity] = max(naming.get(entity, 0.0), own)
        entries = [
            WideEntry(entity, links.get(entity, 0) + weights.get(entity, 0) + naming.get(entity, 0.0), tier)
            for entity, tier in tiers.items()
        ]
        return tuple(sorted(entries, key=lambda entry: (-entry.support, entry.tier, entry.entity)))

    def _bearing(self, forms: Iterable[Form]) -> Iterator[tuple[int, int, int]]:
        """The postings that hold at the table's date: entity, count and the sources that held."""
        now = self._date is None
        for form in forms:
            for entity, count, stored in form.triples():
                live = (0 if stored & _PAST else stored) if now else self._sources_then(form.text, entity, stored)
                if live:
                    yield entity, count, live

    def _by_tier(self, surface: str) -> Iterator[tuple[Tier, list[Form]]]:
        """The forms that a surface meets at each tier and at no tighter one, the tightest tier first."""
        key = key_of(surface)
        ranked = [(tier_between(surface, form.text), form) for form in self.group(key)]
        for tier in (Tier.EXACT, Tier.UNICODE, Tier.CASE, Tier.PUNCTUATION):
            if self._normalisation.allows(tier):
                yield tier, [form for own, form in ranked if own is tier]
        if self._normalisation.inflection:
            variants = dict.fromkeys((*inflected(key), *irregular(key)))
            free = (variant for variant in variants if not self._overlay.rule_for_key(variant)[0])
            yield Tier.INFLECTION, [form for variant in free for form in self.group(variant)]

    def _by_rule(self, surface: str, pinned: int | None) -> Meaning:
        if pinned is None:
            return BLOCKED
        if self._date is not None and self._store.version_at(pinned, self._date) is None:
            return NOTHING
        if self._store.head(pinned) is None:
            return NOTHING
        entry = AliasEntry(pinned, 1, _ALIAS)
        return Meaning(Tier.EXACT, (entry,), 1, 0, (surface,), pinned=True)

    def group(self, key: str) -> list[Form]:
        """Every known form with this key, those of changed entities as they are now."""
        changed = self._overlay.changed
        if not changed:
            return self._index.group(key)
        removed = self._overlay.removed
        base = [_without(form, changed, removed) for form in self._index.group(key)]
        return [*base, *self._overlay.forms(key)]

    def _in_group(self, surface: str, forms: list[Form]) -> Meaning:
        if not forms:
            return NOTHING
        as_written = self._as_written(surface, forms)  # most often the answer, and quickly told
        if as_written:
            meaning = self._summed(as_written, Tier.EXACT)
            if meaning.entries:
                return meaning
        ranked = [(tier_between(surface, form.text), form) for form in forms]
        for tier in (Tier.EXACT, Tier.UNICODE, Tier.CASE, Tier.PUNCTUATION):
            if not self._normalisation.allows(tier) or not any(own == tier for own, _ in ranked):
                continue
            meaning = self._summed((form for own, form in ranked if own <= tier), tier)
            if meaning.entries:
                return meaning
        return NOTHING

    def _as_written(self, surface: str, forms: list[Form]) -> list[Form]:
        """The forms written as the surface is; in Chinese, those in the other script have a say beside them."""
        found = [form for form in forms if form[0] == surface]
        if not found or surface.isascii() or not self._normalisation.unicode:
            return found
        written = simplified(surface)
        return [form for form in forms if simplified(form[0]) == written]

    def _summed(self, forms: Iterable[Form], tier: Tier) -> Meaning:
        """Add up forms; an entity's own name counts once however many forms it has."""
        counts: dict[int, int] = {}
        sources: dict[int, int] = {}
        linked = unlinked = 0
        texts = []
        now = self._date is None
        for form in forms:
            text, seen, postings = form
            unlinked += seen
            named = False
            for entity, count, stored in form.triples() if postings else ():
                if stored & _ANCHOR:
                    linked += count
                live = (0 if stored & _PAST else stored) if now else self._sources_then(text, entity, stored)
                if live:
                    named = True
                    counts[entity] = counts.get(entity, 0) + count
                    sources[entity] = sources.get(entity, 0) | live
            if named:  # a form that only stands in the texts is nobody's name
                texts.append(text)
        entries = [
            AliasEntry(entity, count + given_weight(self._weights, sources[entity]), sources[entity])
            for entity, count in counts.items()
        ]
        if len(entries) > 1:
            entries.sort(key=lambda entry: (-entry.support, entry.entity))
        return Meaning(tier, tuple(entries), linked, unlinked, tuple(texts))

    def _sources_then(self, surface: str, entity: int, stored: int) -> int:
        """The sources that held at the table's date; none when the entity did not have the name then."""
        assert self._date is not None
        version = self._store.version_at(entity, self._date)
        if version is None:
            return 0
        given = sum({source for name, source in given_names(version.entity) if name == surface})
        if not stored & (_ANCHOR | _OPENING):
            return given
        if not given and self._is_name_to_come(surface, entity, self._date):
            return 0
        return stored if stored & _ANCHOR else given | _OPENING  # what the entity gives is no part of its links

    def _is_name_to_come(self, surface: str, entity: int, date: str) -> bool:
        """Whether the entity is called so only by versions that begin after the date."""
        begins = [
            version.begins
            for version in self._store.versions(entity)
            if any(name == surface for name, _ in given_names(version.entity))
        ]
        return bool(begins) and min(begins) > date


def prior(support: float, total: float) -> float:
    """P(e|m): the share of what speaks for one entity in all that speaks for any; 0 where nothing does."""
    return support / total if total else 0.0


def given_weight(weights: PriorWeights, sources: int) -> int:
    """What the names that an entity gives itself count for, by where they come from."""
    if sources & _TITLE:
        return weights.title
    if sources & _ALIAS:
        return weights.alias
    return max(weights.stripped if sources & _STRIPPED else 0, weights.opening if sources & _OPENING else 0)


def _without(form: Form, changed: set[int], removed: set[int]) -> Form:
    """The form less the names that changed entities used to give; links to those still there count on."""
    if changed.isdisjoint(form.postings[::3]):
        return form
    kept = [
        number
        for entity, count, sources in form.triples()
        if entity not in changed or (sources & _ANCHOR and entity not in removed)
        for number in (entity, count, sources)
    ]
    return form._replace(postings=tuple(kept))
