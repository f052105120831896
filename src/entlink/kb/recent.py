"""Entities that were read lately: what one stage of a linker has read, the next need not read again."""

from __future__ import annotations

from collections.abc import Callable

from entlink.documents import Entity

_KEPT = 1_024  # entities, with their whole descriptions


class RecentEntities:
    """Entities by key and by id, as they were when they were read; `forget` when the knowledge base has changed."""

    def __init__(self, read: Callable[[int], Entity | None], key_of: Callable[[str], int | None]) -> None:
        self._read, self._key_of = read, key_of
        self._by_key: dict[int, Entity | None] = {}
        self._by_id: dict[str, Entity | None] = {}

    def forget(self) -> None:
        self._by_key.clear()
        self._by_id.clear()

    def of_key(self, key: int) -> Entity | None:
        if key not in self._by_key:
            if len(self._by_key) >= _KEPT:
                self.forget()
            entity = self._by_key[key] = self._read(key)
            if entity is not None:
                self._by_id[entity.id] = entity
        return self._by_key[key]

    def of_id(self, id: str) -> Entity | None:
        if id in self._by_id:
            return self._by_id[id]
        key = self._key_of(id)
        return None if key is None else self.of_key(key)
