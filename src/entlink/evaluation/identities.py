"""Entities under one name: gold and predictions may call one entity by an id, a title, a QID or an address."""

from __future__ import annotations

from typing import Protocol

import msgspec

from entlink.documents import Document, Entity, GoldLink, Link

_MOST_REMEMBERED = 1_000_000


class Resolver(Protocol):
    """What is asked of a knowledge base here."""

    def resolve(self, identifier: str) -> Entity | None: ...


class Identities:
    """Identifiers through a knowledge base; one it does not know stays as it is, and is told as unknown."""

    def __init__(self, kb: Resolver) -> None:
        self._kb = kb
        self._entities: dict[str, Entity | None] = {}

    def entity(self, identifier: str) -> Entity | None:
        """The entity behind an identifier; asked of the knowledge base once."""
        known = self._entities
        if identifier not in known:
            if len(known) >= _MOST_REMEMBERED:
                known.clear()
            known[identifier] = self._kb.resolve(identifier)
        return known[identifier]

    def id(self, identifier: str) -> str:
        entity = self.entity(identifier)
        return identifier if entity is None else entity.id

    def gold(self, document: Document) -> Document:
        """The document with its gold under the ids of the knowledge base."""
        return msgspec.structs.replace(document, gold=tuple(self._gold(link) for link in document.gold))

    def links(self, document: Document) -> Document:
        """The document with its links and their candidates under the ids of the knowledge base."""
        return msgspec.structs.replace(document, links=tuple(self._link(link) for link in document.links))

    def _gold(self, link: GoldLink) -> GoldLink:
        """Gold by a QID may have its title beside it, which a knowledge base without QIDs knows."""
        title = link.meta.get("title")
        ids = []
        for identifier in link.entities:
            entity = self.entity(identifier)
            if entity is None and isinstance(title, str) and len(link.entities) == 1:
                entity = self.entity(title)
            ids.append(identifier if entity is None else entity.id)
        entities = tuple(dict.fromkeys(ids))
        return link if entities == link.entities else msgspec.structs.replace(link, entities=entities)

    def _link(self, link: Link) -> Link:
        candidates = tuple(
            one if (id := self.id(one.entity)) == one.entity else msgspec.structs.replace(one, entity=id)
            for one in link.candidates
        )
        entity = None if link.entity is None else self.id(link.entity)
        return msgspec.structs.replace(link, entity=entity, candidates=candidates)
