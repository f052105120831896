"""What the links of a source lead to: entities of a knowledge base, or whatever the author wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from entlink.kb.store.store import Store

Resolve = Callable[[str], str | None]
_CACHED = 200_000


@contextmanager
def resolver(kb: Path | None, *, of_titles: bool) -> Iterator[Resolve]:
    """A function from a link's target to an entity's id, None where there is no such entity.

    Without a knowledge base the target stays as written. `of_titles` says that targets are a wiki's titles.
    """
    if kb is None:
        yield lambda target: target
        return
    store = Store(kb)
    try:
        yield _Targets(store, titled_key(store) if of_titles else store.resolve)
    finally:
        store.close()


def titled_key(store: Store) -> Callable[[str], int | None]:
    """A function from a title, by way of redirects, to an entity's key.

    Only titles count: an article on a year must not be taken for the page with that number.
    """

    def key(title: str) -> int | None:
        seen: set[str] = set()
        while title not in seen:
            seen.add(title)
            if keys := store.keys_titled(title):
                return keys[0]
            row = store.connection.execute("SELECT target FROM redirects WHERE source = ?", (title,)).fetchone()
            if row is not None:
                title = row[0]
        return None

    return key


class _Targets:
    """Remembers what it found: most links lead to few entities."""

    def __init__(self, store: Store, key: Callable[[str], int | None]) -> None:
        self._store, self._key = store, key
        self._known: dict[str, str | None] = {}

    def __call__(self, target: str) -> str | None:
        if target not in self._known:
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[target] = self._found(target)
        return self._known[target]

    def _found(self, target: str) -> str | None:
        key = self._key(target)
        head = None if key is None else self._store.head(key)
        return None if head is None else head[0]
