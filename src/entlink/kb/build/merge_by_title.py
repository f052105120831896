"""Entities of several knowledge bases into one store, those that are one joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from entlink.documents import Entity
from entlink.io.progress import Progress
from entlink.kb.build.match_titles import TitleMatching, given_redirects
from entlink.kb.store.store import Store, Version
from entlink.kb.store.writing import insert_entity, insert_version, replace_current


class TitleMerge:
    """Takes entities one by one, in the order of their knowledge bases; `moved` tells where earlier ones went."""

    def __init__(
        self, merged: Store, stores: Sequence[Store], moved: Callable[[int, int], int | None], progress: Progress
    ) -> None:
        self._merged, self._stores, self._moved = merged, stores, moved
        self._matching = TitleMatching(merged, stores, progress)
        self.totals = self._matching.totals
        self._names = [_name_of(store.folder) for store in stores]
        merged.connection.execute("CREATE TEMP TABLE other_ids (source TEXT PRIMARY KEY, key INTEGER) WITHOUT ROWID")

    def take(self, number: int, old: int, weight: int) -> int:
        """Take an entity of the store with this number; returns its new key."""
        current, *others = self._stores[number].stated_versions(old)
        root = self._matching.root(number, old)
        if root != (number, old):
            key = self._moved(*root)
            assert key is not None
            self._join(key, current.entity)
            self._note_id(number, current.entity.id, key)
            return key
        return self._insert(number, current, others, weight)

    def _insert(self, number: int, current: Version, others: Sequence[Version], weight: int) -> int:
        connection, entity = self._merged.connection, current.entity
        id = entity.id
        if number and self._merged.key(id) is not None:
            id = self._free_id(number, id)
            self.totals.renamed += 1
        key = insert_entity(connection, _with_id(entity, id), current.valid_from, current.valid_to, weight)
        for version in others:
            insert_version(connection, key, _with_id(version.entity, id), version.valid_from, version.valid_to)
        return key

    def _free_id(self, number: int, id: str) -> str:
        """`NAME:id`, with a number after it if even that is some entity's."""
        wanted = told_apart = f"{self._names[number]}:{id}"
        attempt = 1
        while self._merged.key(told_apart) is not None:
            attempt += 1
            told_apart = f"{wanted}#{attempt}"
        return told_apart

    def _join(self, key: int, other: Entity) -> None:
        """Names, types, images and identifiers of the other are added; id, title, text and dates stay the first's."""
        current = self._merged.stated_versions(key)[0]
        entity = current.entity
        names = (name for name in (*entity.aliases, other.title, *other.aliases) if name != entity.title)
        joined = msgspec.structs.replace(
            entity,
            aliases=_distinct(names),
            types=_distinct((*entity.types, *other.types)),
            images=_distinct((*entity.images, *other.images)),
            external={**other.external, **entity.external},
            claims={**other.claims, **entity.claims},
        )
        if joined != entity:
            replace_current(self._merged.connection, key, joined, current.valid_from, current.valid_to)
        if other.title != entity.title:
            self._note_source(other.title, key)

    def _note_id(self, number: int, id: str, key: int) -> None:
        for source in (id, f"{self._names[number]}:{id}"):
            self._note_source(source, key)

    def _note_source(self, source: str, key: int) -> None:
        self._merged.connection.execute("INSERT OR IGNORE INTO temp.other_ids VALUES (?, ?)", (source, key))

    def finish(self) -> None:
        """Redirects, when all entities are in: those of each store, then ids and titles that were given up.

        What is an entity's own id or title stays with it.
        """
        for number, store in enumerate(self._stores):
            for source, old in given_redirects(store):
                key = self._moved(number, old)
                if key is not None:
                    self._redirect(source, key)
        for source, key in self._merged.connection.execute("SELECT source, key FROM temp.other_ids ORDER BY source"):
            self._redirect(source, key)

    def _redirect(self, source: str, key: int) -> None:
        head = self._merged.head(key)
        taken = self._merged.key(source) is not None or self._matching.is_title(source)
        if head is not None and not taken:
            self._merged.connection.execute("INSERT OR IGNORE INTO redirects VALUES (?, ?)", (source, head[0]))


def _name_of(folder: Path) -> str:
    return folder.resolve().name.removesuffix(".kb")


def _with_id(entity: Entity, id: str) -> Entity:
    return entity if entity.id == id else msgspec.structs.replace(entity, id=id)


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
