"""Entities under one name: gold and predictions may call one entity by an id, a title, a QID or an address."""

from __future__ import annotations

from typing import Protocol

import msgspec

from entlink.documents import Candidate, Document, Entity, GoldLink, Link

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

    def gold(self, document: Document) -> Document:
        """The document with its gold under the ids of the knowledge base."""
        return msgspec.structs.replace(document, gold=tuple(self._gold(link) for link in document.gold))

    def links(self, document: Document) -> Document:
        """The document with its links and their candidates under the ids of the knowledge base."""
        return msgspec.structs.replace(document, links=tuple(self._link(link) for link in document.links))

    def _gold(self, link: GoldLink) -> GoldLink:
        """Gold by a QID may have its title beside it, which a knowledge base without QIDs knows.

        Found so, its own identifier is right, too: predictions may have nothing else.
        """
        title = link.meta.get("title") if len(link.entities) == 1 else None
        ids = [self._known(identifier, title) for identifier in link.entities]
        if title is not None and self.entity(link.entities[0]) is None:
            ids.append(link.entities[0])
        entities = tuple(dict.fromkeys(ids))
        return link if entities == link.entities else msgspec.structs.replace(link, entities=entities)

    def _link(self, link: Link) -> Link:
        entity = None if link.entity is None else self._known(link.entity, link.title)
        return msgspec.structs.replace(link, entity=entity, candidates=tuple(map(self._candidate, link.candidates)))

    def _candidate(self, candidate: Candidate) -> Candidate:
        id = self._known(candidate.entity, candidate.title)
        return candidate if id == candidate.entity else msgspec.structs.replace(candidate, entity=id)

    def _known(self, identifier: str, title: object) -> str:
        """The id behind an identifier, else behind the title beside it; else the identifier."""
        entity = self.entity(identifier)
        if entity is None and isinstance(title, str):
            entity = self.entity(title)
        return identifier if entity is None else entity.id
