"""A knowledge base out to a file, and several into one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from entlink.documents import Entity
from entlink.engine.local import Progress, ignore_progress
from entlink.kb.store import Store, Version

_EVERY = 10_000


class ExportedEntity(msgspec.Struct, omit_defaults=True):
    """One line of an export: an entity, or a dated version of one. `entlink kb build` reads it back."""

    id: str
    title: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    language: str | None = None
    created: str | None = None
    external: dict[str, str] = {}
    valid_from: str | None = None
    valid_to: str | None = None


def export(folder: str | Path, out: str | Path, *, progress: Progress = ignore_progress) -> int:
    """Write every entity and version as JSON lines; the file appears when it is complete."""
    target = Path(out)
    partial = target.with_name(f"{target.name}.partial")
    store = Store(Path(folder))
    encoder = msgspec.json.Encoder()
    count = 0
    try:
        total = store.count()
        with partial.open("wb") as file:
            for record in exported(store):
                file.write(encoder.encode(record) + b"\n")
                count += 1
                if count % _EVERY == 0:
                    progress("exporting", count, max(total, count))
    finally:
        store.close()
    partial.replace(target)
    progress("exporting", count, count)
    return count


def exported(store: Store) -> Iterator[ExportedEntity]:
    """Every version of every entity, oldest version first."""
    for key, _, current in store.entities():
        versions = [current] if current.valid_from is None else store.versions(key)
        for version in sorted(versions, key=lambda version: version.valid_from or ""):
            yield _line(version)


def _line(version: Version) -> ExportedEntity:
    entity: Entity = version.entity
    return ExportedEntity(
        entity.id,
        entity.title,
        entity.description,
        entity.aliases,
        entity.types,
        entity.images,
        entity.language,
        entity.created,
        dict(entity.external),
        version.valid_from or None,
        version.valid_to,
    )
