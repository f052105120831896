"""Statements about subjects in any order, staged on disk and given back subject by subject."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

_BATCH = 1000


class Statement(NamedTuple):
    """What is said of a subject: `value` under `name`, with a language tag if it has one."""

    name: str
    value: str
    language: str | None = None


class Staging:
    """A temporary table that sorts on disk, so that memory holds one subject at a time."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="entlink-")
        self._connection = sqlite3.connect(Path(self._folder.name) / "statements.sqlite")
        self._connection.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;"
            "PRAGMA cache_size = -32000;"
            "CREATE TABLE statement (subject TEXT, name TEXT, value TEXT, language TEXT);"
        )
        self._batch: list[tuple[str, str, str, str | None]] = []
        self.count = 0

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
        self._folder.cleanup()

    def add(self, subject: str, statement: Statement) -> None:
        self._batch.append((subject, *statement))
        self.count += 1
        if len(self._batch) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._connection.executemany("INSERT INTO statement VALUES (?, ?, ?, ?)", self._batch)
        self._batch.clear()

    def subjects(self) -> Iterator[tuple[str, list[Statement]]]:
        """Each subject with its statements, both sorted."""
        self._flush()
        rows = self._connection.execute("SELECT * FROM statement ORDER BY subject, name, language, value")
        for subject, group in groupby(rows, key=itemgetter(0)):
            yield subject, [Statement(*row[1:]) for row in group]
