"""Utterances by conversation and threads by number, on disk: memory holds one conversation at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from entlink.datasets.conversations.threads import is_exact
from entlink.datasets.selection import hash_of
from entlink.documents import Document
from entlink.formats.documents.lines import encode_document
from entlink.kb.store.writing import errors_told
from entlink.sources.convokit import Utterance

_DATABASE, _THREADS = "staging.sqlite", "threads.jsonl"
_HALF = 2**63  # SQLite's integers have a sign
_SCHEMA = (
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    """CREATE TABLE utterances (
        id TEXT NOT NULL UNIQUE, conversation TEXT NOT NULL, parent TEXT, speaker TEXT NOT NULL,
        time INTEGER NOT NULL, text TEXT NOT NULL, subreddit TEXT, number INTEGER NOT NULL,
        corpus INTEGER NOT NULL)""",
    "CREATE TABLE linked (conversation TEXT PRIMARY KEY) WITHOUT ROWID",
    """CREATE TABLE threads (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL, conversation TEXT NOT NULL, time INTEGER NOT NULL,
        utterances INTEGER NOT NULL, annotations INTEGER NOT NULL, exact INTEGER NOT NULL, hash INTEGER NOT NULL,
        start INTEGER NOT NULL, size INTEGER NOT NULL, place INTEGER NOT NULL)""",
    "BEGIN",  # nothing is read by anyone else, and nothing is kept of a build that was killed
)
DROPPED, TRAIN, CROSSING, TEST = range(4)  # where a thread goes; crossing: to training, but its conversation to test


class Staged(NamedTuple):
    """A conversation: its utterances, and for each the number of its corpus."""

    id: str
    utterances: list[Utterance]
    corpora: dict[str, int]


class Staging:
    """Made by `staging`. Utterances are added first, then conversations are read, then threads are added."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.connection, self._path = connection, folder / _THREADS
        self._number = 0

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

    def conversations(self) -> Iterator[Staged]:
        """Those with a link, the oldest first, whatever order the corpora have."""
        self.connection.execute("CREATE INDEX IF NOT EXISTS by_conversation ON utterances (conversation)")
        query = (
            "SELECT conversation, min(CASE WHEN parent IS NULL THEN time END) AS began"
            " FROM linked JOIN utterances USING (conversation) GROUP BY conversation ORDER BY began, conversation"
        )
        for conversation, _ in self.connection.execute(query):
            yield self._conversation(conversation)

    def _conversation(self, id: str) -> Staged:
        query = (
            "SELECT corpus, id, conversation, parent, speaker, time, text, subreddit, number"
            " FROM utterances WHERE conversation = ? ORDER BY time, id"
        )
        rows = self.connection.execute(query, (id,)).fetchall()
        return Staged(id, [Utterance(*row[1:]) for row in rows], {row[1]: row[0] for row in rows})

    # Threads

    def write_threads(self, threads: Iterator[tuple[Document, int]], seed: int) -> int:
        """Keep threads, each with the time of its conversation; returns how many there are."""
        with self._path.open("wb") as file:
            for document, time in threads:
                line = encode_document(document) + b"\n"
                self._note(document, time, hash_of(seed, "exact", document.id), file.tell(), len(line))
                file.write(line)
        return self._number

    def _note(self, document: Document, time: int, hash: int, start: int, size: int) -> None:
        self._number += 1
        facts = (time, len(document.turns), len(document.gold), is_exact(document), hash - _HALF, start, size)
        row = (self._number, document.id, document.meta["conversation"], *facts, DROPPED)
        self.connection.execute(f"INSERT INTO threads VALUES ({', '.join('?' * len(row))})", row)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Where each thread that stays goes, and its line, in order."""
        query = "SELECT place, start, size FROM threads WHERE place <> ? ORDER BY number"
        with self._path.open("rb") as file:
            for place, start, size in self.connection.execute(query, (DROPPED,)):
                file.seek(start)
                yield place, file.read(size)


@contextmanager
def staging(folder: Path) -> Iterator[Staging]:
    """A new store of utterances and threads in a folder of work; a full disk is told in words."""
    with errors_told(folder), closing(sqlite3.connect(folder / _DATABASE, isolation_level=None)) as connection:
        for statement in _SCHEMA:
            connection.execute(statement)
        yield Staging(folder, connection)
