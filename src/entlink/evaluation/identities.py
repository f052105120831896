"""Entities under one name: gold and predictions may call one entity by an id, a QID, an address or a title."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from entlink.documents import Candidate, Document, Entity, GoldLink, Link
from entlink.evaluation.scoring.conventions import GoldMatch
from entlink.text.titles import looks_like_disambiguation, spaced

_MOST_REMEMBERED = 1_000_000
_OWN_NAMES = frozenset(("title", "stripped", "alias", "opening"))  # a link's text is no name that an entity has


class NameMeaning(Protocol):
    """An entity that a name may mean, and where the name comes from."""

    @property
    def entity(self) -> str: ...

    @property
    def sources(self) -> Sequence[str]: ...


class Resolver(Protocol):
    """What is asked of a knowledge base here."""

    def resolve(self, identifier: str, *, titles: bool = True) -> Entity | None: ...

    def aliases(self, surface: str) -> Sequence[NameMeaning]: ...


class _Found(NamedTuple):
    """What an identifier leads to; a disambiguation page is no entity."""

    entity: Entity | None
    is_disambiguation: bool = False


class Identities:
    """Identifiers through a knowledge base; one it does not know stays as it is, and is told as unknown.

    A title is an identifier only where `match_gold` says so: an entity of another knowledge base may have the same.
    """

    def __init__(self, kb: Resolver, match_gold: GoldMatch = GoldMatch.IDENTIFIER) -> None:
        self._kb, self.match_gold = kb, match_gold
        self._found: dict[tuple[str, bool], _Found] = {}
        self.title_of: dict[str, str] = {}  # of each entity that gold was matched with by title, that title

    @property
    def _by_title(self) -> bool:
        return self.match_gold is GoldMatch.TITLE

    def entity(self, identifier: str) -> Entity | None:
        """The entity behind an identifier, by the convention; asked of the knowledge base once."""
        return self._ask(identifier, titles=self._by_title).entity

    def titled(self, link: GoldLink) -> bool:
        """Whether an entity has the title of gold, its identifier being a title or having one beside it."""
        return any(self._ask(name, titles=True).entity is not None for name in _names(link))

    def is_disambiguation(self, link: GoldLink) -> bool:
        """Whether gold leads to a page that only lists what a name may mean."""
        names = _names(link) if self._by_title else link.entities
        return any(self._ask(name, titles=self._by_title).is_disambiguation for name in names)

    def is_ambiguous(self, title: str) -> bool:
        """Whether several entities have the name: by title, without its parenthesis, or as an alias."""
        named = {one.entity for one in self._meanings(title) if not _OWN_NAMES.isdisjoint(one.sources)}
        return sum(self._ask(id, titles=False).entity is not None for id in named) > 1

    def gold(self, document: Document) -> Document:
        """The document with its gold under the ids of the knowledge base."""
        return msgspec.structs.replace(document, gold=tuple(self._gold(link) for link in document.gold))

    def links(self, document: Document) -> Document:
        """The document with its links and their candidates under the ids of the knowledge base."""
        return msgspec.structs.replace(document, links=tuple(self._link(link) for link in document.links))

    def _ask(self, identifier: str, *, titles: bool) -> _Found:
        known, asked = self._found, (identifier, titles)
        if asked not in known:
            if len(known) >= _MOST_REMEMBERED:
                known.clear()
            entity = self._kb.resolve(identifier, titles=titles)
            if entity is not None and not titles and self._is_only_a_name(identifier, entity):
                entity = None
            is_page = entity is not None and looks_like_disambiguation(entity.title, entity.description)
            known[asked] = _Found(None, True) if is_page else _Found(entity)
        return known[asked]

    def _is_only_a_name(self, identifier: str, entity: Entity) -> bool:
        """Whether a redirect that is a name led to the entity; where titles are ids, it is as good as an id."""
        if entity.id in (identifier, entity.title) or identifier in entity.external.values():
            return False
        return any(one.entity == entity.id for one in self._meanings(identifier))

    def _meanings(self, name: str) -> Sequence[NameMeaning]:
        return self._kb.aliases(spaced(name.rpartition("/wiki/")[2]))

    def _gold(self, link: GoldLink) -> GoldLink:
        """Gold by a QID may have its title beside it, which a knowledge base without QIDs knows.

        Found so, its own identifier is right, too: predictions may have nothing else.
        """
        title = _title_beside(link) if self._by_title else None
        ids = []
        for identifier in link.entities:
            ids.append(self._known(identifier, title))
            if self._by_title and self._ask(identifier, titles=False).entity is None:
                self.title_of[ids[-1]] = identifier if title is None or self.entity(identifier) else title
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

    def _known(self, identifier: str, title: str | None) -> str:
        """The id behind an identifier, else, by title, behind the title beside it; else the identifier."""
        entity = self.entity(identifier)
        if entity is None and title is not None and self._by_title:
            entity = self.entity(title)
        return identifier if entity is None else entity.id


class IdentifierWatch:
    """Watches whether gold and predictions have an identifier in common; it forgets all once they have one."""

    def __init__(self) -> None:
        self._gold: set[str] = set()
        self._predicted: set[str] = set()
        self.is_looking = True

    def see(self, gold: Document, predicted: Document) -> None:
        """Take a look at a document and its predictions."""
        ours = {entity for link in gold.gold for entity in link.entities}
        theirs = {link.entity for link in predicted.links if link.entity is not None}
        self._gold |= ours
        self._predicted |= theirs
        if not (ours.isdisjoint(self._predicted) and theirs.isdisjoint(self._gold)):
            self.is_looking = False
            self._gold, self._predicted = set(), set()

    def apart(self) -> tuple[str, str] | None:
        """An identifier of each side, if they have none in common."""
        return (min(self._gold), min(self._predicted)) if self._gold and self._predicted else None


def _title_beside(link: GoldLink) -> str | None:
    """The title that a dataset has beside the identifier; of several identifiers it is not known whose it is."""
    title = link.meta.get("title") if len(link.entities) == 1 else None
    return title if isinstance(title, str) else None


def _names(link: GoldLink) -> tuple[str, ...]:
    """What may be a title of the gold entity."""
    title = _title_beside(link)
    return link.entities if title is None else (*link.entities, title)
