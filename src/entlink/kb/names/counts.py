"""Counts as immutable Parquet files under `counts/<snapshot>/`: integers only, divided on reading.

- `anchors.parquet`: surface, entity, count: how often the surface links to the entity
- `graph.parquet`: origin, target, count: how often one entity's text links to another
- `occurrences.parquet`: surface, count: how often the surface stands in the texts unlinked
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from entlink.engine.local import fetched, parquet_rows, sql
from entlink.kb.names.index_rows import UNLINKED, Row, row
from entlink.kb.names.own_names import NameSource

BASE = "base"


def anchor_rows(folder: Path) -> Iterator[Row]:
    """The links as rows of the alias index."""
    for surface, entity, count in _read(folder / "anchors.parquet", "surface, entity, count"):
        yield row(surface, entity, count, int(NameSource.ANCHOR))


def occurrence_rows(folder: Path) -> Iterator[Row]:
    """The unlinked occurrences as rows of the alias index."""
    for surface, count in _read(folder / "occurrences.parquet", "surface, count"):
        yield row(surface, UNLINKED, count, 0)


def _read(path: Path, columns: str) -> Iterator[tuple[Any, ...]]:
    if not path.exists():
        return
    with sql() as connection:
        connection.execute(f"SELECT {columns} FROM {parquet_rows(path)}")
        yield from fetched(connection)
