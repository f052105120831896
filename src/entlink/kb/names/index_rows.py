"""Rows on their way into the alias index: one JSON line each, sorted and grouped by SQL later."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import IO

import msgspec

from entlink.engine.protocol import Columns
from entlink.kb.names.own_names import NameSource, given_names
from entlink.kb.store.openings import opening_names
from entlink.kb.store.store import Store
from entlink.text.folding import first_token, key_of

BUCKETS = 64
COLUMNS: Columns = {"b": "SMALLINT", "k": "STRING", "f": "STRING", "e": "BIGINT", "n": "BIGINT", "s": "SMALLINT"}
UNLINKED = -1  # the "entity" of a row that says how often a surface stands in the texts unlinked
_BUFFER = 1 << 19
_encoder = msgspec.json.Encoder()


class Row(msgspec.Struct):
    """Bucket and key of a form, and one of its postings."""

    b: int
    k: str
    f: str
    e: int
    n: int
    s: int


def row(form: str, entity: int, count: int, sources: int) -> Row:
    key = key_of(form)
    return Row(zlib.crc32(first_token(key).encode()) % BUCKETS, key, form, entity, count, sources)


class JsonLines:
    """A file of JSON lines that is written a buffer at a time."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("wb")
        self._buffer, self._line = bytearray(), bytearray()

    def add(self, record: object) -> None:
        """Write one line."""
        _encoder.encode_into(record, self._line)
        self._buffer += self._line
        self._buffer += b"\n"
        if len(self._buffer) > _BUFFER:
            self._file.write(self._buffer)
            self._buffer.clear()

    def close(self) -> None:
        self._file.write(self._buffer)
        self._file.close()


def write_rows(rows: Iterable[object], path: Path) -> None:
    """Write records as JSON lines."""
    with closing(JsonLines(path)) as lines:
        for record in rows:
            lines.add(record)


def stage_names(folder: Path, first: int, last: int, path: Path) -> None:
    """Stage the given names of the entities with keys in `[first, last]`."""
    store = Store(folder)
    try:
        write_rows(_name_rows(store, first, last), path)
    finally:
        store.close()


def _name_rows(store: Store, first: int, last: int) -> Iterator[Row]:
    openings = opening_names(store, first, last)
    for key, weight, version in store.entities(first - 1, last):
        inferred = ((name, NameSource.OPENING) for name in openings.get(key, ()))
        for form, sources in _merged(chain(given_names(version.entity), inferred)).items():
            yield row(form, key, weight, int(sources))
    for key, version in store.past_versions(first, last):
        for form, sources in _merged(given_names(version.entity)).items():
            yield row(form, key, 0, int(sources | NameSource.PAST))


def _merged(names: Iterable[tuple[str, NameSource]]) -> dict[str, NameSource]:
    merged: dict[str, NameSource] = {}
    for form, source in names:
        merged[form] = merged.get(form, NameSource(0)) | source
    return merged
