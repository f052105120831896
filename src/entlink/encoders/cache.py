"""Vectors of texts, kept beside the knowledge base by what the text says: encoding goes on where it stopped."""

from __future__ import annotations

import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

import numpy

from entlink.io.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from entlink.interfaces import Encoder, Vectors

_log = logging.getLogger(__name__)
_BATCH = 1024  # texts that are encoded and committed at a time: some seconds of work
_ASKED = 500  # keys in one query
_told: set[Path] = set()  # that no cache can be kept there
_PATIENCE = 30.0  # seconds to wait for another process that writes
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID;
"""


class VectorCache:
    """An encoder that remembers, in a file under `folder` and in `memory_rows` rows of memory.

    Rows go through float16 whether they are new or not, so that both are the same. Where there is no folder, or
    nothing can be written, it remembers in memory only. Rows of length 1 are of that length when they come back;
    `scaled=False` is for an encoder whose rows are of any length.
    """

    def __init__(
        self, folder: Path | str | None, encoder: Encoder, *, memory_rows: int = 50_000, scaled: bool = True
    ) -> None:
        self.encoder = encoder
        self.name, self.identity, self.dimension = encoder.name, encoder.identity, encoder.dimension
        self._front: OrderedDict[bytes, bytes] = OrderedDict()
        self._most, self._scaled = memory_rows, scaled
        self._lock = RLock()
        self.path = None if folder is None else Path(folder) / f"vectors-{_file_name(encoder.identity)}.sqlite"
        self._connection = None if self.path is None else self._opened(self.path)

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; what is in memory stays."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def encode(self, texts: Sequence[str], progress: Progress = ignore_progress) -> Vectors:
        """A row a text, in the order of the texts; only those not seen before are encoded."""
        found = numpy.zeros((len(texts), self.dimension), numpy.float32)
        places: dict[bytes, list[int]] = {}
        wanted: dict[bytes, str] = {}
        for place, text in enumerate(texts):
            key = _key(text)
            places.setdefault(key, []).append(place)
            wanted[key] = text

        def take(key: bytes, row: bytes) -> None:
            found[places[key]] = self._read(row)

        with self._lock:
            missing = self._look_up(wanted, take)
            self._encode(missing, len(wanted), progress, take)
        return found

    def __len__(self) -> int:
        """How many texts are remembered."""
        with self._lock:
            if self._connection is None:
                return len(self._front)
            return int(self._connection.execute("SELECT count(*) FROM vectors").fetchone()[0])

    def _read(self, row: bytes) -> Vectors:
        vector = numpy.frombuffer(row, numpy.float16).astype(numpy.float32)
        length = float(numpy.linalg.norm(vector)) if self._scaled else 1.0
        return vector / length if length > 0 else vector

    def _look_up(self, wanted: dict[bytes, str], take: Callable[[bytes, bytes], None]) -> dict[bytes, str]:
        """Take what is known, and return the rest."""
        missing: dict[bytes, str] = {}
        for key, text in wanted.items():
            row = self._front.get(key)
            if row is None:
                missing[key] = text
            else:
                self._front.move_to_end(key)
                take(key, row)
        for key, row in self._stored(list(missing)):
            take(key, row)
            self._remember(key, row)
            del missing[key]
        return missing

    def _stored(self, keys: list[bytes]) -> Iterable[tuple[bytes, bytes]]:
        for start in range(0, len(keys), _ASKED):
            part = keys[start : start + _ASKED]
            if self._connection is None:
                return
            query = f"SELECT key, row FROM vectors WHERE key IN ({','.join('?' * len(part))})"
            try:
                rows = self._connection.execute(query, part).fetchall()
            except sqlite3.DatabaseError as problem:
                self._give_up(problem)
                return
            yield from ((key, row) for key, row in rows if len(row) == 2 * self.dimension)

    def _encode(
        self, missing: dict[bytes, str], total: int, progress: Progress, take: Callable[[bytes, bytes], None]
    ) -> None:
        """Encode what is missing, like lengths together, and commit as it comes."""
        keys = sorted(missing, key=lambda key: (len(missing[key]), key))
        done = total - len(keys)
        for start in range(0, len(keys), _BATCH):
            part = keys[start : start + _BATCH]
            vectors = self.encoder.encode([missing[key] for key in part]).astype(numpy.float16)
            rows = [(key, vector.tobytes()) for key, vector in zip(part, vectors, strict=True)]
            self._store(rows)
            for key, row in rows:
                self._remember(key, row)
                take(key, row)
            done += len(part)
            progress("encoding", done, total)

    def _store(self, rows: list[tuple[bytes, bytes]]) -> None:
        if self._connection is None:
            return
        try:
            with self._connection:
                self._connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
        except sqlite3.DatabaseError as problem:
            self._give_up(problem)

    def _remember(self, key: bytes, row: bytes) -> None:
        self._front[key] = row
        while len(self._front) > self._most:
            self._front.popitem(last=False)

    def _give_up(self, problem: Exception) -> None:
        """A cache that cannot be used must not stop the work."""
        _log.warning(
            "%s: the cache of vectors cannot be used on (%s); vectors are kept in memory", self.path, problem
        )
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _opened(self, path: Path) -> sqlite3.Connection | None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return self._connected(path)
        except sqlite3.OperationalError as problem:  # not writable, locked too long or no room
            _tell_once(path, problem)
        except sqlite3.DatabaseError as problem:
            return self._made_anew(path, str(problem))
        except OSError as problem:
            _tell_once(path, problem)
        return None

    def _made_anew(self, path: Path, problem: str) -> sqlite3.Connection | None:
        try:
            aside = _put_aside(path)
            _log.warning(
                "%s: this cache of vectors is damaged (%s); it was put aside as %s", path, problem, aside.name
            )
        except FileNotFoundError:
            pass  # another process was quicker
        try:
            return self._connected(path)
        except (sqlite3.DatabaseError, OSError) as second:
            _tell_once(path, second)
            return None

    def _connected(self, path: Path) -> sqlite3.Connection:
        """A connection to the file, which is of this identity and dimension, or an error."""
        connection = sqlite3.connect(path, timeout=_PATIENCE, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_SCHEMA)
            own = {"identity": self.identity, "dimension": str(self.dimension)}
            with connection:
                connection.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", own.items())
            said = dict(connection.execute("SELECT name, value FROM meta"))
            if said != own:
                raise sqlite3.DatabaseError(
                    f"it holds vectors of {said.get('identity')!r}, {said.get('dimension')} wide"
                )
        except BaseException:
            connection.close()
            raise
        return connection


def _tell_once(path: Path, problem: Exception) -> None:
    """Several stages of a linker use one file."""
    if path not in _told:
        _told.add(path)
        _log.warning("%s: no cache of vectors can be kept here (%s); they are kept in memory", path, problem)


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf8", "surrogatepass"), digest_size=16).digest()


def _file_name(identity: str) -> str:
    from entlink.encoders.identities import slug

    if slug(identity) == identity:
        return identity
    return f"{slug(identity)}-{blake2b(identity.encode(), digest_size=4).hexdigest()}"


def _put_aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(aside)
    for tail in ("-wal", "-shm"):
        path.with_name(path.name + tail).unlink(missing_ok=True)
    return aside
