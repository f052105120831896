"""Utterances by conversation and threads by number, on disk: memory holds one conversation at a time.

What was done is kept with what it had counted, so that a build that was killed goes on from there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from entlink.datasets.conversations.threads import is_exact
from entlink.datasets.selection import hash_of
from entlink.documents import Document
from entlink.formats.documents.lines import encode_document
from entlink.kb.store.writing import errors_told
from entlink.sources.convokit import Utterance

_DATABASE, _THREADS = "staging.sqlite", "threads.jsonl"
_HALF = 2**63  # SQLite's integers have a sign
_SCHEMA = (
    """CREATE TABLE utterances (
        id TEXT NOT NULL UNIQUE, conversation TEXT NOT NULL, parent TEXT, speaker TEXT NOT NULL,
        time INTEGER NOT NULL, text TEXT NOT NULL, subreddit TEXT, number INTEGER NOT NULL,
        corpus INTEGER NOT NULL)""",
    "CREATE TABLE linked (conversation TEXT PRIMARY KEY) WITHOUT ROWID",
    """CREATE TABLE threads (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL, conversation TEXT NOT NULL, time INTEGER NOT NULL,
        utterances INTEGER NOT NULL, annotations INTEGER NOT NULL, exact INTEGER NOT NULL, hash INTEGER NOT NULL,
        start INTEGER NOT NULL, size INTEGER NOT NULL, place INTEGER NOT NULL)""",
    "CREATE TABLE titles (conversation TEXT PRIMARY KEY, title TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE steps (step TEXT PRIMARY KEY, done INTEGER NOT NULL, told BLOB NOT NULL) WITHOUT ROWID",
)
DROPPED, TRAIN, CROSSING, TEST = range(4)  # where a thread goes; crossing: to training, but its conversation to test


class Staged(NamedTuple):
    """A conversation: its utterances, for each the number of its corpus, and its title where that is kept."""

    id: str
    utterances: list[Utterance]
    corpora: dict[str, int]
    title: str | None = None


class Staging:
    """Made by `staging`. Utterances are added first, then conversations are read, then threads are added."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.connection, self._path = connection, folder / _THREADS

    def done(self, step: str) -> tuple[int, bytes]:
        """How far a step was when it was kept last, and what was told of it then."""
        row = self.connection.execute("SELECT done, told FROM steps WHERE step = ?", (step,)).fetchone()
        return (0, b"") if row is None else (int(row[0]), bytes(row[1]))

    def keep(self, step: str, done: int, told: bytes) -> None:
        """Keep all that was added since the last time."""
        self.connection.execute("INSERT OR REPLACE INTO steps VALUES (?, ?, ?)", (step, done, told))
        self.connection.commit()
        self.connection.execute("BEGIN")

    def add_titles(self, titles: Iterator[tuple[str, str]]) -> None:
        self.connection.executemany("INSERT OR IGNORE INTO titles VALUES (?, ?)", titles)

    def add(self, utterance: Utterance, corpus: int, *, is_linked: bool) -> bool:
        """Keep an utterance; False if there is one with its id. Conversations without links are never read again."""
        row = (utterance.id, utterance.conversation, utterance.parent, utterance.speaker, utterance.time)
        rest = (utterance.text, utterance.subreddit, utterance.number, corpus)
        values = ", ".join("?" * len((*row, *rest)))
        added = self.connection.execute(f"INSERT OR IGNORE INTO utterances VALUES ({values})", (*row, *rest))
        if is_linked:
            self.connection.execute("INSERT OR IGNORE INTO linked VALUES (?)", (utterance.conversation,))
        return added.rowcount == 1

    def count(self) -> tuple[int, int]:
        """How many conversations there are, and how many of them have a link."""
        all_of_them = self.connection.execute("SELECT count(DISTINCT conversation) FROM utterances").fetchone()
        linked = self.connection.execute("SELECT count(*) FROM linked").fetchone()
        return int(all_of_them[0]), int(linked[0])

    def conversations(self, done: int = 0) -> Iterator[Staged]:
        """Those with a link, the oldest first, whatever order the corpora have; `done` of them are passed over."""
        self.connection.execute("CREATE INDEX IF NOT EXISTS by_conversation ON utterances (conversation)")
        query = (
            "SELECT conversation, min(CASE WHEN parent IS NULL THEN time END) AS began"
            " FROM linked JOIN utterances USING (conversation) GROUP BY conversation ORDER BY began, conversation"
            " LIMIT -1 OFFSET ?"
        )
        for conversation, _ in self.connection.execute(query, (done,)):
            yield self._conversation(conversation)

    def _conversation(self, id: str) -> Staged:
        query = (
            "SELECT corpus, id, conversation, parent, speaker, time, text, subreddit, number"
            " FROM utterances WHERE conversation = ? ORDER BY time, id"
        )
        rows = self.connection.execute(query, (id,)).fetchall()
        titled = self.connection.execute("SELECT title FROM titles WHERE conversation = ?", (id,)).fetchone()
        title = None if titled is None else titled[0]
        return Staged(id, [Utterance(*row[1:]) for row in rows], {row[1]: row[0] for row in rows}, title)

    # Threads

    @contextmanager
    def writing_threads(self, seed: int) -> Iterator[ThreadWriter]:
        """Threads are added to those that were kept."""
        row = self.connection.execute("SELECT max(number), max(start + size) FROM threads").fetchone()
        number, end = row[0] or 0, row[1] or 0
        with self._path.open("r+b" if self._path.exists() else "w+b") as file:
            file.truncate(end)  # what a killed build wrote after that is not known
            file.seek(end)
            yield ThreadWriter(self.connection, file, number, seed)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Where each thread that stays goes, and its line, in order."""
        query = "SELECT place, start, size FROM threads WHERE place <> ? ORDER BY number"
        with self._path.open("rb") as file:
            for place, start, size in self.connection.execute(query, (DROPPED,)):
                file.seek(start)
                yield place, file.read(size)


class ThreadWriter:
    """Writes threads to a file, and what is known of each to the store."""

    def __init__(self, connection: sqlite3.Connection, file: BinaryIO, number: int, seed: int) -> None:
        self.number = number  # of the last thread
        self._connection, self._file, self._seed = connection, file, seed

    def add(self, document: Document, time: int) -> None:
        """Keep a thread with the time of its conversation."""
        line = encode_document(document) + b"\n"
        self.number += 1
        chance = hash_of(self._seed, "exact", document.id) - _HALF
        facts = (
            time,
            len(document.turns),
            len(document.gold),
            is_exact(document),
            chance,
            self._file.tell(),
            len(line),
        )
        row = (self.number, document.id, document.meta["conversation"], *facts, DROPPED)
        self._connection.execute(f"INSERT INTO threads VALUES ({', '.join('?' * len(row))})", row)
        self._file.write(line)

    def flush(self) -> None:
        """What is kept in the store must be in the file first."""
        self._file.flush()


@contextmanager
def staging(folder: Path) -> Iterator[Staging]:
    """The store of utterances and threads in a folder of work; a full disk is told in words."""
    with errors_told(folder), closing(sqlite3.connect(folder / _DATABASE, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # of a machine that fails nothing need be kept
        connection.execute("BEGIN")
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in _SCHEMA:
                connection.execute(statement)
        yield Staging(folder, connection)
