"""A knowledge base out to a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from entlink.documents import Entity
from entlink.errors import InputError
from entlink.io.outputs import Output, Write, file_to_write, open_output
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.build.match_titles import given_redirects
from entlink.kb.store.store import Store, Version
from entlink.sources import NameRule

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase

_EVERY = 10_000


class ExportedEntity(Entity, frozen=True):
    """One line of an export: an entity, or a dated version of one. `entlink kb build` reads it back."""

    valid_from: str | None = None
    valid_to: str | None = None


class ExportedRule(msgspec.Struct, frozen=True):
    """One line of an export: a pin or a block."""

    rule: NameRule


def export(folder: str | Path, out: Output, *, progress: Progress = ignore_progress) -> int:
    """Write every entity and version, then pins and blocks, as JSON lines; returns how many lines there are.

    A file appears when it is complete.
    """
    if isinstance(out, str | Path) and (target := file_to_write(out)).exists() and not target.is_file():
        raise InputError(f"{out}: not a file that can be replaced. Name another")
    with open_output(out) as write:
        return export_to(write, folder, progress=progress)


def export_to(write: Write, folder: str | Path, *, progress: Progress = ignore_progress) -> int:
    """Give what is exported to `write`, a JSON line at a time; returns how many there were."""
    store = Store(Path(folder))
    encoder = msgspec.json.Encoder()
    count = 0
    try:
        total = store.count()
        for record in chain(exported(store), _exported_rules(store)):
            write(encoder.encode(record) + b"\n")
            count += 1
            if count % _EVERY == 0:
                progress("exporting", count, max(total, count))
    finally:
        store.close()
    progress("exporting", count, count)
    return count


def exported(store: Store) -> Iterator[ExportedEntity]:
    """Every version of every entity with the period that was given for it, oldest version first."""
    for key, _, current in store.entities():
        for version in (*store.other_versions(key, current.entity.id), current):
            yield _line(version)


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


def _exported_rules(store: Store) -> Iterator[ExportedRule]:
    for rule in store.rules():
        head = None if rule.entity is None else store.head(rule.entity)
        if rule.entity is None or head is not None:
            yield ExportedRule(NameRule(rule.surface, rule.case_sensitive, head[0] if head else None))


def _line(version: Version) -> ExportedEntity:
    fields = msgspec.structs.asdict(version.entity)
    return ExportedEntity(**fields, valid_from=version.valid_from, valid_to=version.valid_to)
