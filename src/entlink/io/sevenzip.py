"""Unpacks the dump in a 7-Zip archive as a stream, with the standard library's own decompressors."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable
from typing import IO, Protocol

from entlink.errors import SourceError
from entlink.io.sevenzip_header import (
    BadHeaderError,
    Coder,
    Folder,
    HeaderBytes,
    read_folders,
    read_members,
)

_BUFFER = 1 << 18
_STEP = 1 << 15  # a step that fails takes along what it had unpacked before
_SIGNATURE_SIZE = 32
_MAX_HEADER = 64 << 20
_SMALLEST_DICTIONARY = 1 << 12
# Only used where the header is lost that says how large it was: enough for all settings but the most lavish.
_LARGEST_DICTIONARY = 256 << 20
_HEADER, _ENCODED_HEADER = 0x01, 0x17
_COPY, _LZMA, _LZMA2, _DEFLATE, _BZIP2 = b"\0", b"\3\1\1", b"\x21", b"\4\1\x08", b"\4\2\2"
_UNREADABLE = {
    b"\3\4\1": "PPMd",
    b"\6\xf1\7\1": "encryption",
    b"\4\1\x09": "Deflate64",
    b"\3\3\1\3": "the x86 filter",
    b"\4\xf7\x11\1": "Zstandard",
}
_REPACK = "Unpack it with 7-Zip and give the XML file, or pack that with bzip2"


class Decoder(Protocol):
    """What the decompressors of the standard library have in common."""

    @property
    def needs_input(self) -> bool: ...
    @property
    def eof(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Copy:
    """The decoder of what is not packed at all."""

    eof = False

    def __init__(self) -> None:
        self._held = b""

    @property
    def needs_input(self) -> bool:
        return not self._held

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        data = self._held + data
        self._held = data[max_length:] if max_length >= 0 else b""
        return data[: len(data) - len(self._held)]


class _Deflate:
    """zlib's decoder with the words of the others."""

    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(-zlib.MAX_WBITS)

    @property
    def needs_input(self) -> bool:
        return not self._decoder.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._decoder.decompress(self._decoder.unconsumed_tail + data, max(max_length, 0))


_SIMPLE: dict[bytes, Callable[[], Decoder]] = {_COPY: _Copy, _DEFLATE: _Deflate, _BZIP2: bz2.BZ2Decompressor}


class SevenZipFile:
    """The unpacked bytes of the dump in an archive: of its first XML file, or of its first file.

    The table of contents of an archive stands at its end. Of one that is cut off what can be unpacked without it is
    given, and then an EOFError raised.
    """

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed, self._name = packed, str(packed.name)
        self._decoder: Decoder = _Copy()
        self._crc: int | None = None
        self._found_crc = 0
        self._skipped = 0
        self._size: int | None = None
        try:
            self._open_member()
        except (BadHeaderError, lzma.LZMAError, zlib.error, EOFError, OSError):
            self._open_without_table()

    def read1(self, size: int = -1) -> bytes:
        """Some bytes, at most `size` of them; none at the end."""
        wanted = size if size >= 0 else _STEP
        while self._skipped:
            self._skipped -= len(self._more(min(_STEP, self._skipped)))
        if self._size is None:
            return self._more_or_cut_off(wanted)
        if not self._size:
            self._check()
            return b""
        data = self._more(min(wanted, self._size))
        self._size -= len(data)
        self._found_crc = zlib.crc32(data, self._found_crc)
        return data

    def close(self) -> None:
        self._packed.close()

    def _open_member(self) -> None:
        members = read_members(_table(self._packed, self._name))
        if not members:
            raise SourceError("the 7-Zip archive holds no file", self._name, hint="Fetch the file again")
        member = next((member for member in members if member.name.lower().endswith(".xml")), members[0])
        self._decoder = _decoder(member.folder, self._name)
        self._skipped, self._size, self._crc = member.stream.start, member.stream.size, member.stream.crc
        self._packed.seek(_SIGNATURE_SIZE + member.folder.packed_start)
        self._left = member.folder.packed_size

    def _open_without_table(self) -> None:
        """Try the first packed stream by the looks of its first byte, which differs for each method."""
        self._packed.seek(0)
        offset = int.from_bytes(self._packed.read(_SIGNATURE_SIZE)[12:20], "little")
        self._left = offset or max(self._packed.seek(0, io.SEEK_END) - _SIGNATURE_SIZE, 0)
        self._packed.seek(_SIGNATURE_SIZE)
        first = self._packed.read(1)
        self._packed.seek(_SIGNATURE_SIZE)
        if first == b"<":
            self._decoder = _Copy()
        elif first == b"B":
            self._decoder = bz2.BZ2Decompressor()
        else:
            self._decoder = _raw(_lzma1(_LARGEST_DICTIONARY) if first == b"\0" else _lzma2(_LARGEST_DICTIONARY))

    def _more(self, limit: int) -> bytes:
        """The next bytes that the folder unpacks to; an EOFError when it ends too soon."""
        while not self._decoder.eof:
            packed = b""
            if self._decoder.needs_input:
                packed = self._packed.read(min(_BUFFER, self._left))
                self._left -= len(packed)
                if not packed:
                    break
            if data := self._decoder.decompress(packed, min(limit, _STEP)):
                return data
        raise EOFError("the archive ends too soon")

    def _more_or_cut_off(self, limit: int) -> bytes:
        try:
            return self._more(limit)
        except (lzma.LZMAError, OSError) as error:
            raise EOFError("the archive has lost its end") from error

    def _check(self) -> None:
        if self._crc is not None and self._crc != self._found_crc:
            raise OSError("the checksum of the unpacked file is wrong")


def _table(packed: IO[bytes], name: str) -> bytes:
    """The table of contents, which may itself be packed."""
    packed.seek(0)
    start = packed.read(_SIGNATURE_SIZE)
    if len(start) < _SIGNATURE_SIZE or not _is_intact(start[12:], start[8:12]):
        raise BadHeaderError
    offset, size = (int.from_bytes(start[at : at + 8], "little") for at in (12, 20))
    data = _read(packed, offset, size)
    if not _is_intact(data, start[28:32]):
        raise BadHeaderError
    while data[:1] != bytes([_HEADER]):
        data = _unpacked_table(packed, data, name)
    return data


def _unpacked_table(packed: IO[bytes], data: bytes, name: str) -> bytes:
    table = HeaderBytes(data)
    table.expect(_ENCODED_HEADER)
    folders = read_folders(table)
    if len(folders) != 1 or folders[0].size > _MAX_HEADER:
        raise BadHeaderError
    folder = folders[0]
    unpacked = _decoder(folder, name).decompress(_read(packed, folder.packed_start, folder.packed_size), folder.size)
    if len(unpacked) != folder.size or (folder.crc is not None and zlib.crc32(unpacked) != folder.crc):
        raise BadHeaderError
    return unpacked


def _read(packed: IO[bytes], offset: int, size: int) -> bytes:
    end = packed.seek(0, io.SEEK_END) - _SIGNATURE_SIZE
    if not 0 < size <= min(_MAX_HEADER, end - offset):
        raise BadHeaderError
    packed.seek(_SIGNATURE_SIZE + offset)
    return packed.read(size)


def _is_intact(data: bytes, checksum: bytes) -> bool:
    return zlib.crc32(data) == int.from_bytes(checksum, "little")


def _decoder(folder: Folder, name: str) -> Decoder:
    if len(folder.coders) != 1:
        raise _unreadable(folder.coders, name)
    coder = folder.coders[0]
    if coder.method == _LZMA and len(coder.properties) == 5:
        return _raw(_lzma1(_dictionary(int.from_bytes(coder.properties[1:], "little"), folder), coder.properties[0]))
    if coder.method == _LZMA2 and len(coder.properties) == 1:
        bits = coder.properties[0]
        return _raw(_lzma2(_dictionary((2 | bits & 1) << (bits // 2 + 11), folder)))
    if make := _SIMPLE.get(coder.method):
        return make()
    raise _unreadable(folder.coders, name)


_LARGEST_DICTIONARY = 0xFFFFFFFF  # what the format can say and the library takes


def _dictionary(size: int, folder: Folder) -> int:
    """No more than the content can need, whatever the header says."""
    return min(max(min(size, folder.size), _SMALLEST_DICTIONARY), _LARGEST_DICTIONARY)


_Filter = dict[str, int]


def _raw(settings: _Filter) -> Decoder:
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[settings])


def _lzma1(dictionary: int, settings: int = 0x5D) -> _Filter:
    rest, literal_context = divmod(settings, 9)
    position, literal_position = divmod(rest, 5)
    return {
        "id": lzma.FILTER_LZMA1,
        "dict_size": dictionary,
        "lc": literal_context,
        "lp": literal_position,
        "pb": position,
    }


def _lzma2(dictionary: int) -> _Filter:
    return {"id": lzma.FILTER_LZMA2, "dict_size": dictionary}


def _unreadable(coders: list[Coder], name: str) -> SourceError:
    readable = {_LZMA, _LZMA2, *_SIMPLE}
    used = [
        _UNREADABLE.get(coder.method, f"method {coder.method.hex()}")
        for coder in coders
        if coder.method not in readable
    ]
    how = " and ".join(used) or "a chain of methods"
    return SourceError(f"the 7-Zip archive is packed with {how}, which cannot be read here", name, hint=_REPACK)
