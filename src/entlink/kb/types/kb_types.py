"""The types of the entities of a knowledge base: their own, all above them, coarse ones and fine ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from entlink.kb.types.coarse import COARSE_AT, OTHER, TIMES_SET, CoarseType, default_coarse_types, first_named
from entlink.kb.types.hierarchy import Hierarchy

if TYPE_CHECKING:
    from entlink.documents import Entity
    from entlink.kb.store.store import Store
    from entlink.kb.types.top_snaks import TopSnaks

_CACHED = 100_000
_ITEM = re.compile(r"Q[1-9][0-9]*")
_NONE: tuple[str, ...] = ()


class Types:
    """`kb.types`: called with the id of an entity, it gives the types that the entity itself names.

    An entity that is not there, as of the date of the knowledge base, has no types.
    """

    def __init__(self, store: Store, get: Callable[[str], Entity | None]) -> None:
        self._store, self._get = store, get
        self.hierarchy = Hierarchy(store.connection)
        self._own: dict[str, tuple[str, ...]] = {}
        self._places: dict[str, int] = {}
        self._tops: dict[str, str] = {}

    def forget(self) -> None:
        """Drop what was read: the knowledge base has changed."""
        self.hierarchy.forget()
        self._own.clear()
        self._places.clear()
        self._tops.clear()
        for name in ("are_coarse", "are_there", "named", "_top_snaks"):
            self.__dict__.pop(name, None)

    def __call__(self, id: str) -> tuple[str, ...]:
        """The types that an entity names, cached: filters ask for them again and again."""
        types = self._own.get(id)
        if types is None:
            entity = self._get(id)
            if len(self._own) >= _CACHED:
                self._own.clear()
            types = self._own[id] = entity.types if entity else _NONE
        return types

    @property
    def times_set(self) -> int:
        """How often something was set: a change says that types mean something else now."""
        return int(self._store.meta(TIMES_SET, "0"))

    @cached_property
    def are_there(self) -> bool:
        """Whether any entity has a type."""
        return self._store.connection.execute("SELECT 1 FROM types LIMIT 1").fetchone() is not None

    def all_types(self, id: str) -> frozenset[str]:
        """The types of an entity and every type above them (Type of paper 5, §3.1), cycles survived."""
        return frozenset().union(*map(self.hierarchy.above, self(id)))

    def name(self, type: str) -> str:
        """What a type is called; the type itself where nothing says it."""
        return self.hierarchy.name(type)

    # Coarse types

    @cached_property
    def named(self) -> tuple[CoarseType, ...]:
        """The coarse types that are named: the user's, else the five of Wikidata where types are Wikidata's."""
        import msgspec

        own = self._store.meta(COARSE_AT)
        if own:
            return msgspec.json.decode(own, type=tuple[CoarseType, ...])
        default = default_coarse_types()
        return default if self.hierarchy.has_any(one.type for one in default) else ()

    @cached_property
    def are_coarse(self) -> bool:
        """Whether coarse types say more than the types themselves: they are named, or some types are below others."""
        return bool(self.named) or self.hierarchy.is_there

    def coarse(self, id: str) -> str | None:
        """The coarse type of an entity; None of an entity without types.

        Of several, the first in the order of the coarse types. Of Wikidata's own, types that are neither items nor in
        the hierarchy, such as categories of a wiki, have none. Where none are named, it is the topmost type above
        the first type of the entity: without a hierarchy that type itself.
        """
        return self.coarse_of(self(id))

    def coarse_of(self, types: Sequence[str]) -> str | None:
        """The coarse type of an entity that names these types."""
        if not types:
            return None
        if not self.named:
            return self._topmost(types[0])
        place = min(map(self._place, types))
        if place > len(self.named):
            return None
        return self.named[place].name if place < len(self.named) else OTHER

    def _place(self, type: str) -> int:
        place = self._places.get(type)
        if place is None:
            if len(self._places) >= _CACHED:
                self._places.clear()
            above = self.hierarchy.above(type)
            place = first_named(self.named, above)
            if self.named is default_coarse_types() and len(above) == 1 and not _ITEM.fullmatch(type):
                place = len(self.named) + 1  # a category of a page without an item: of that list it says nothing
            self._places[type] = place
        return place

    def _topmost(self, type: str) -> str:
        """The type above that has none above itself; in a circle, and of several, the first by name."""
        top = self._tops.get(type)
        if top is None:
            if len(self._tops) >= _CACHED:
                self._tops.clear()
            above = sorted(self.hierarchy.above(type))
            top = self._tops[type] = next((one for one in above if not self.hierarchy.has_parent(one)), above[0])
        return top

    def coarse_counts(self) -> Mapping[str, int]:
        """How many entities have each coarse type, the most frequent first; those without types are left out."""
        from entlink.kb.types.facts import all_facts

        counts = Counter(map(self.coarse_of, (facts.types for facts in all_facts(self._store))))
        told = [(name, count) for name, count in counts.items() if name is not None]
        return dict(sorted(told, key=lambda one: (-one[1], one[0])))

    # Fine types

    @cached_property
    def _top_snaks(self) -> TopSnaks:
        from entlink.kb.types.top_snaks import read_top_snaks

        return read_top_snaks(self._store.folder)

    def fine(self, id: str) -> Sequence[str]:
        """The fine types of an entity, such as `P31-Q5`, the most frequent in the knowledge base first."""
        entity = self._get(id)
        return self._top_snaks.of(entity) if entity else _NONE

    def is_covered(self, entity: Entity) -> bool:
        """Whether an entity, of this knowledge base or of another, has one of the fine types."""
        return self._top_snaks.covers(entity)

    def fine_counts(self) -> Mapping[str, int]:
        """All fine types (TopSnaks), the most frequent first, and how many entities had each at the last index."""
        return {one.name: one.entities for one in self._top_snaks.pairs}

    # Filters

    def kinds_of(self, wanted: Iterable[str]) -> frozenset[str]:
        """The types to keep to when these are asked for: types, names of types, or coarse types, and all below."""
        wanted = frozenset(wanted)
        return wanted.union(*map(self.kinds_in_use, wanted))

    def kinds_in_use(self, wanted: str) -> frozenset[str]:
        """The types that entities have, of those that are asked for by a type, its name or a coarse type."""
        asked = {wanted, *self.hierarchy.called(wanted), *(one.type for one in self.named if one.name == wanted)}
        found = frozenset().union(*map(self.hierarchy.below, asked))
        if wanted == OTHER and self.named:
            found |= {type for type, _ in self._store.type_counts() if self._place(type) == len(self.named)}
        return found
