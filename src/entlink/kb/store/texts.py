"""Descriptions cut into paragraphs that several stores share: `texts.sqlite`, in which each paragraph is once.

A store that shares its texts keeps, of a description, where its paragraphs stand: runs of numbers, as one flat list
of a first number and how many follow one another from there. The file only ever grows, so that whoever reads it is
never disturbed; a paragraph that nobody needs any more does no harm.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from entlink.errors import DamagedError
from entlink.io.atomic import write_whole
from entlink.io.checksums import checksum
from entlink.kb.store.hyperlinks import description_checksum
from entlink.kb.store.writing import errors_told

TEXTS = "texts.sqlite"
TEXTS_CHECKSUM = "texts.sqlite.sha256"
BETWEEN = "\n\n"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS paragraphs "
    "(number INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS paragraph_checksum ON paragraphs (checksum)",
)


class SharedTexts:
    """Reads descriptions out of a file of paragraphs, which is opened when the first is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def read(self, runs: Sequence[int]) -> str:
        """The description whose paragraphs stand there."""
        try:
            return BETWEEN.join(self._paragraphs(runs))
        except (sqlite3.DatabaseError, UnicodeError) as problem:
            raise DamagedError(f"{self.path}: cannot be read ({problem}). {_MEND}") from problem

    def _paragraphs(self, runs: Sequence[int]) -> Iterator[str]:
        connection = self._connection or self._open()
        for first, count in zip(runs[::2], runs[1::2], strict=True):
            rows = connection.execute(
                "SELECT text FROM paragraphs WHERE number BETWEEN ? AND ? ORDER BY number", (first, first + count - 1)
            ).fetchall()
            if len(rows) != count:
                raise DamagedError(f"{self.path}: paragraphs from number {first} on are missing. {_MEND}")
            yield from (text for (text,) in rows)

    def _open(self) -> sqlite3.Connection:
        if not self.path.is_file():
            raise DamagedError(
                f"{self.path}: the texts of this knowledge base are missing. A snapshot is read where it was made, "
                f"inside its knowledge base. {_MEND}"
            )
        from entlink.kb.store.store import connect

        self._connection = connect(self.path, writable=False)
        weakref.finalize(self, self._connection.close)
        return self._connection

    def forget(self) -> None:
        """Let go of the file; it is opened again when it is needed."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


_MEND = "Build the knowledge base again, or restore a copy"


class TextWriter:
    """Puts descriptions into a file of paragraphs; what was put is on the disk after `commit`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA busy_timeout = 5000")
        with errors_told(path.parent):
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            for statement in _SCHEMA:
                self._connection.execute(statement)

    def put(self, description: str) -> list[int]:
        """Where the paragraphs of a description stand; those that are not there yet are added."""
        if not description:
            return []
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
        return _runs(self._number(paragraph) for paragraph in description.split(BETWEEN))

    def _number(self, paragraph: str) -> int:
        told = description_checksum(paragraph)
        rows = self._connection.execute("SELECT number, text FROM paragraphs WHERE checksum = ?", (told,))
        there = next((number for number, text in rows if text == paragraph), None)
        if there is not None:
            return int(there)
        added = self._connection.execute("INSERT INTO paragraphs (checksum, text) VALUES (?, ?)", (told, paragraph))
        assert added.lastrowid is not None
        return added.lastrowid

    def commit(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def settle(self) -> bool:
        """Bring all that was put into the one file, and onto the disk; False where somebody is reading just now."""
        with errors_told(self.path.parent):
            self.commit()
            return not self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

    def close(self) -> None:
        self._connection.close()


@contextmanager
def writing_texts(path: Path) -> Iterator[TextWriter]:
    """A writer of paragraphs; in the end their checksum is noted, as `sha256sum --check` reads it."""
    path.with_name(TEXTS_CHECKSUM).unlink(missing_ok=True)
    with closing(TextWriter(path)) as writer:
        yield writer
        if writer.settle():
            write_whole(path.with_name(TEXTS_CHECKSUM), f"{checksum(path)}  {path.name}\n".encode())


def _runs(numbers: Iterator[int]) -> list[int]:
    """Numbers as runs of such as follow one another."""
    runs: list[int] = []
    for number in numbers:
        if runs and runs[-2] + runs[-1] == number:
            runs[-1] += 1
        else:
            runs += (number, 1)
    return runs
