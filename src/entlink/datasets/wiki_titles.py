"""Titles of wikis' pages to entities of a knowledge base, by way of redirects, within a type where one is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from entlink.kb.store.store import Store

_CACHED = 200_000


class Entry(NamedTuple):
    """An entity: its id and its title."""

    id: str
    title: str


class WikiTitles:
    """Looks titles up, and remembers what it found. Only titles count, never ids: `1984` is no page's number."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[tuple[str, str | None], Entry | None] = {}

    def find(self, title: str, type: str | None = None) -> Entry | None:
        """The entity of that title, or of that redirect, which must be of the type if one is given."""
        asked = (title, type)
        if asked not in self._known:
            if len(self._known) >= _CACHED:
                self._known.clear()
            found = (self._titled(form, type) for form in _forms(title))
            self._known[asked] = next((entry for entry in found if entry is not None), None)
        return self._known[asked]

    def _titled(self, title: str, type: str | None) -> Entry | None:
        seen: set[str] = set()
        while title not in seen:
            seen.add(title)
            for key in self._store.keys_titled(title):
                head = self._store.head(key)
                if head is not None and (type is None or self._is_of(key, type)):
                    return Entry(*head)
            query = "SELECT target FROM redirects WHERE source = ?"
            row = self._store.connection.execute(query, (title,)).fetchone()
            title = row[0] if row is not None else title
        return None

    def _is_of(self, key: int, type: str) -> bool:
        query = "SELECT 1 FROM types WHERE type = ? AND entity = ?"
        return self._store.connection.execute(query, (type, key)).fetchone() is not None


def _forms(title: str) -> Iterator[str]:
    """A wiki does not tell a small first letter from a large one; a knowledge base may."""
    yield title
    if title[:1].islower() or title[:1].isupper():
        yield title[:1].swapcase() + title[1:]
