"""A knowledge base out to a file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec

from entlink.documents import Entity
from entlink.errors import InputError
from entlink.io.outputs import Output, Write, file_to_write, open_output
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.store.store import Store, Version
from entlink.sources import NameRule

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


def _exported_rules(store: Store) -> Iterator[ExportedRule]:
    for rule in store.rules():
        head = None if rule.entity is None else store.head(rule.entity)
        if rule.entity is None or head is not None:
            yield ExportedRule(NameRule(rule.surface, rule.case_sensitive, head[0] if head else None))


def _line(version: Version) -> ExportedEntity:
    fields = msgspec.structs.asdict(version.entity)
    return ExportedEntity(**fields, valid_from=version.valid_from, valid_to=version.valid_to)
