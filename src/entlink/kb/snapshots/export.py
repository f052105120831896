"""Entities as of a date out to a file: each with its page in the wiki, and what redirected to it then."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from entlink.documents import Entity
from entlink.io.outputs import Output, open_output
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.build.match_titles import given_redirects
from entlink.kb.store.store import Store

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase

_EVERY = 10_000


class EntityAsOf(Entity, frozen=True, omit_defaults=False):
    """One line of an export as of a date: an entity, its page in the wiki, and the titles that redirected to it."""

    revision: int | None = None
    page: int | None = None
    redirects: tuple[str, ...] = ()


def export_as_of(kb: KnowledgeBase, out: Output, *, progress: Progress = ignore_progress) -> int:
    """Write the entities of a knowledge base that was opened as of a date; returns how many lines there are.

    A redirect that leads to another counts for the entity that it leads to in the end. One whose title an entity has,
    or that leads to none, is not told; of entities with one title the first has the redirects to it.
    """
    with open_output(out) as write, closing(_RedirectsTo(kb.folder)) as redirects:
        encoder, count, total = msgspec.json.Encoder(), 0, kb.last_key
        for key in kb.all_keys():
            entity = kb.entity(key)
            if entity is None:
                continue
            fields = msgspec.structs.asdict(entity)
            numbers = {name: _number(entity.external.get(name)) for name in ("revision", "page")}
            line = EntityAsOf(**fields, **numbers, redirects=redirects.of(key))  # type: ignore[arg-type]
            write(encoder.encode(line) + b"\n")
            count += 1
            if count % _EVERY == 0:
                progress("exporting", count, max(total, count))
    progress("exporting", count, count)
    return count


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


class _RedirectsTo:
    """The titles that redirect to each entity, in a temporary table, so that memory does not grow with them."""

    def __init__(self, folder: Path) -> None:
        self._store = Store(folder)
        self._found = sqlite3.connect("", isolation_level=None)
        self._found.execute("CREATE TABLE found (entity INTEGER, title TEXT)")
        given = given_redirects(self._store)
        rows = ((key, title) for title, key in given if not self._store.keys_titled(title))
        self._found.executemany("INSERT INTO found VALUES (?, ?)", rows)
        self._found.execute("CREATE INDEX found_entity ON found (entity)")

    def of(self, key: int) -> tuple[str, ...]:
        """The titles, in order."""
        rows = self._found.execute("SELECT title FROM found WHERE entity = ? ORDER BY title", (key,))
        return tuple(title for (title,) in rows)

    def close(self) -> None:
        self._found.close()
        self._store.close()
