"""Files as byte streams: compression told by magic bytes, compressed bytes counted as they are read."""

from __future__ import annotations

import io
import re
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, cast

from entlink.errors import InputError, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import WriteableBuffer

BUFFER = 1 << 18
SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".7z": "7-Zip"}
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"7z\xbc\xaf\x27\x1c": "7-Zip"}
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:/")
_UNREADABLE_MAGIC = {
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard",
}


def check_is_path(path: str | Path) -> None:
    """An address, such as `s3://bucket/wiki.xml`, is no path: as one it would be a folder of this machine."""
    if _ADDRESS.match(str(path)) and not Path(path).exists():
        raise InputError(
            f"{path}: this is an address, and entlink reads and writes files. Mount that file system, or copy "
            "the file to a path"
        )


class Meter:
    """Counts the bytes read from disk, before they are unpacked."""

    def __init__(self) -> None:
        self.consumed = 0


class _CountedFile(io.FileIO):
    """A file on disk that tells a meter of each byte it gives."""

    def __init__(self, path: Path, meter: Meter) -> None:
        super().__init__(path)
        self._meter = meter

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        count = super().readinto(buffer) or 0
        self._meter.consumed += count
        return count


class _Unpacker(Protocol):
    """What the stdlib's compressed files have in common."""

    def read1(self, size: int = -1, /) -> bytes: ...
    def close(self) -> None: ...


class _UnpackedFile(io.RawIOBase):
    """Unpacked bytes one block at a time, so that all that precedes a broken block is still given."""

    def __init__(self, unpacker: _Unpacker, packed: IO[bytes]) -> None:
        self._unpacker, self._packed = unpacker, packed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        target = memoryview(buffer)
        data = self._unpacker.read1(len(target))
        target[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._unpacker.close()
            self._packed.close()
        super().close()


def _gzip(file: IO[bytes]) -> _Unpacker:
    import gzip

    return gzip.GzipFile(fileobj=file, mode="rb")


def _bzip2(file: IO[bytes]) -> _Unpacker:
    import bz2

    return bz2.BZ2File(file)


def _xz(file: IO[bytes]) -> _Unpacker:
    import lzma

    return lzma.LZMAFile(file)


def _seven_zip(file: IO[bytes]) -> _Unpacker:
    from entlink.io.sevenzip import SevenZipFile

    return SevenZipFile(file)


_UNPACKERS: dict[str, Callable[[IO[bytes]], _Unpacker]] = {
    "gzip": _gzip,
    "bzip2": _bzip2,
    "xz": _xz,
    "7-Zip": _seven_zip,
}


def broken_stream_errors() -> tuple[type[Exception], ...]:
    """What reading raises when the disk or the compressed data fails in the middle."""
    import lzma

    return (OSError, EOFError, zlib.error, lzma.LZMAError)


def plain_name(path: Path) -> str:
    """The file's name without the suffix of its compression: `a.csv.gz` is `a.csv`."""
    return path.stem if path.suffix.lower() in SUFFIXES else path.name


def compression_of(path: Path) -> str | None:
    """The compression the first bytes show, None for a plain file; an error when the name says another."""
    try:
        with path.open("rb") as file:
            start = file.read(6)
    except OSError as error:
        raise unreadable(path, error) from error
    for magic, what in _UNREADABLE_MAGIC.items():
        if start.startswith(magic):
            raise SourceError(f"the file is {what}", str(path), hint="Unpack it, or pack it with gzip")
    found = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    _check_name(path, found, is_empty=not start)
    return found


def _check_name(path: Path, found: str | None, is_empty: bool) -> None:
    claimed = SUFFIXES.get(path.suffix.lower())
    if claimed in (None, found):
        return
    content = "it is empty" if is_empty else f"its content is {found or 'not compressed'}"
    raise SourceError(
        f"the name says {claimed} but {content}",
        str(path),
        hint="Rename the file, or fetch it again if a download went wrong",
    )


def open_bytes(path: Path, meter: Meter) -> io.BufferedReader:
    """The unpacked bytes of a file, `meter` counting what was read from disk."""
    compression = compression_of(path)
    try:
        packed: io.BufferedReader = io.BufferedReader(_CountedFile(path, meter), BUFFER)
    except OSError as error:
        raise unreadable(path, error) from error
    if compression is None:
        return packed
    try:
        unpacker = _UNPACKERS[compression](cast("IO[bytes]", packed))
    except BaseException:
        packed.close()
        raise
    return io.BufferedReader(_UnpackedFile(unpacker, cast("IO[bytes]", packed)), BUFFER)


def unreadable(path: Path, error: OSError) -> SourceError:
    """The error for a file that the system does not let us read."""
    if isinstance(error, FileNotFoundError):
        return SourceError("there is no such file", str(path), hint="Check the path")
    return SourceError(f"cannot be read: {error.strerror or error}", str(path))
