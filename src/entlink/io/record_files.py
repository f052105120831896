"""Files of records in batches, each with its length before it, so that a file is read in pieces."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Generic, TypeVar

import msgspec

Row = TypeVar("Row")
_LENGTH = struct.Struct("<I")
_PACKED = b"\x78"  # how zlib begins, and no list of MessagePack does
_encoder = msgspec.msgpack.Encoder()


class RecordWriter(Generic[Row]):
    """Gathers records and writes them a batch at a time; a record may weigh more than one."""

    def __init__(self, path: Path, limit: int, *, pack: bool = False) -> None:
        self._file: IO[bytes] = path.open("wb")
        self._limit, self._pack = limit, pack
        self._rows: list[Row] = []
        self._weight = 0

    def add(self, row: Row, weight: int = 1) -> None:
        self._rows.append(row)
        self._weight += weight
        if self._weight >= self._limit:
            self._flush()

    def _flush(self) -> None:
        batch = _encoder.encode(self._rows)
        if self._pack:
            batch = zlib.compress(batch, 1)
        self._file.write(_LENGTH.pack(len(batch)) + batch)
        self._rows.clear()
        self._weight = 0

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._file.close()


def read_batches(path: Path, row: type[Row]) -> Iterator[list[Row]]:
    """The records of a file, a batch at a time."""
    decoder = msgspec.msgpack.Decoder(list[row])  # type: ignore[valid-type]
    with path.open("rb") as file:
        while length := file.read(_LENGTH.size):
            batch = file.read(_LENGTH.unpack(length)[0])
            yield decoder.decode(zlib.decompress(batch) if batch[:1] == _PACKED else batch)
