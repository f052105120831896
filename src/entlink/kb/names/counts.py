"""Counts as immutable Parquet files under `counts/<snapshot>/`: integers only, divided on reading.

- `anchors.parquet`: surface, entity, count: how often the surface links to the entity
- `graph.parquet`: origin, target, count: how often one entity's text links to another
- `occurrences.parquet`: surface, count: how often the surface stands in the texts unlinked
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from entlink.engine.protocol import Engine, ParquetFiles
from entlink.kb.names.index_rows import UNLINKED, Row, row
from entlink.kb.names.own_names import NameSource

BASE = "base"  # the snapshot that a build makes
ANCHORS, GRAPH, OCCURRENCES = "anchors.parquet", "graph.parquet", "occurrences.parquet"


def counts_folder(kb: Path, snapshot: str = BASE) -> Path:
    """Where the counts of a snapshot of a knowledge base are."""
    return kb / "counts" / snapshot


def anchor_rows(engine: Engine, kb: Path, snapshot: str = BASE) -> Iterator[Row]:
    """The links as rows of the alias index."""
    path = counts_folder(kb, snapshot) / ANCHORS
    for surface, entity, count in _read(engine, path, "SELECT surface, entity, count FROM counted"):
        yield row(surface, entity, count, int(NameSource.ANCHOR))


def occurrence_rows(engine: Engine, kb: Path, snapshot: str = BASE) -> Iterator[Row]:
    """The unlinked occurrences as rows of the alias index."""
    path = counts_folder(kb, snapshot) / OCCURRENCES
    for surface, count in _read(engine, path, "SELECT surface, count FROM counted"):
        yield row(surface, UNLINKED, count, 0)


def linked_surfaces(engine: Engine, kb: Path, key: int, most: int, snapshot: str = BASE) -> Iterator[str]:
    """The surfaces that link to the entity with this key, most frequent first."""
    query = f"SELECT surface, count FROM counted WHERE entity = {key} ORDER BY count DESC, surface LIMIT {most}"
    for surface, _ in _read(engine, counts_folder(kb, snapshot) / ANCHORS, query):
        yield surface


def _read(engine: Engine, path: Path, query: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a query over the file, as `counted`; none where there is no file."""
    if path.exists():
        with engine.sql() as session:
            session.view("counted", ParquetFiles([path]))
            yield from session.rows(query)
