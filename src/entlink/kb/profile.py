"""All that a knowledge base says of one entity: its fields, its dated versions and its names with counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from entlink.documents import Entity
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.own_names import given_names
from entlink.kb.store.store import Store, Version

_MOST_NAMES = 1_000


class NameCount(NamedTuple):
    """A name of the entity: the count behind it, P(e|m) and where the name comes from."""

    name: str
    support: int
    probability: float
    sources: list[str]


class Profile(NamedTuple):
    """An entity as of the knowledge base's date, every version of it, and its names, most counted first.

    `coarse` is its coarse type, `type_names` what each of its types is called.
    """

    entity: Entity
    versions: list[Version]
    names: list[NameCount]
    coarse: str | None
    type_names: dict[str, str]


def profile(kb: KnowledgeBase, identifier: str) -> Profile:
    """The profile of the entity with this id, title or other identifier; NotFoundError when there is none."""
    entity = kb.require(identifier)
    surfaces = dict.fromkeys(name for name, _ in given_names(entity))
    surfaces |= dict.fromkeys(_linked_by(kb, entity.id))
    names = [found for surface in surfaces if (found := _counted(kb, surface, entity.id)) is not None]
    names.sort(key=lambda name: (-name.support, name.name))
    type_names = {type: kb.types.name(type) for type in entity.types}
    return Profile(entity, kb.versions(entity.id), names, kb.types.coarse_of(entity.types), type_names)


def _counted(kb: KnowledgeBase, surface: str, id: str) -> NameCount | None:
    """None where the surface does not mean the entity, as when a rule blocks it."""
    for name in kb.aliases(surface):
        if name.entity == id:
            return NameCount(surface, name.support, name.probability, name.sources)
    return None


def _linked_by(kb: KnowledgeBase, id: str) -> Iterator[str]:
    """The surfaces that the texts link to the entity with, most frequent first."""
    from entlink.engine.local import LocalEngine
    from entlink.kb.names.counts import linked_surfaces

    if not kb.has_links:
        return
    store = Store(kb.folder)
    try:
        key = store.key(id)
    finally:
        store.close()
    if key is not None:
        yield from linked_surfaces(LocalEngine(), kb.folder, key, _MOST_NAMES)
