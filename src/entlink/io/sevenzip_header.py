"""The table of contents of a 7-Zip archive: which packed stream holds which file."""

from __future__ import annotations

from itertools import accumulate

import msgspec

_END, _HEADER, _MAIN_STREAMS, _FILES = 0x00, 0x01, 0x04, 0x05
_PACK_INFO, _UNPACK_INFO, _SUBSTREAMS = 0x06, 0x07, 0x08
_SIZE, _CRC, _FOLDER, _UNPACK_SIZES, _STREAM_COUNTS = 0x09, 0x0A, 0x0B, 0x0C, 0x0D
_EMPTY, _NAMES = 0x0E, 0x11
_IS_COMPLEX, _HAS_PROPERTIES, _ID_SIZE = 0x10, 0x20, 0x0F


class BadHeaderError(Exception):
    """The table cannot be read."""


class Coder(msgspec.Struct, frozen=True):
    """A method of packing, by its number, and its settings."""

    method: bytes
    properties: bytes = b""


class Stream(msgspec.Struct, frozen=True):
    """The bytes of one file among those that a folder unpacks to."""

    start: int
    size: int
    crc: int | None = None


class Folder(msgspec.Struct):
    """What is packed together: where it stands in the archive, how it is packed, and what it unpacks to."""

    coders: list[Coder]
    sizes: list[int]
    packed_streams: int
    packed_start: int = 0
    packed_size: int = 0
    crc: int | None = None
    streams: list[Stream] = []

    @property
    def size(self) -> int:
        return self.sizes[-1] if self.sizes else 0


class Member(msgspec.Struct, frozen=True):
    """One file of the archive."""

    name: str
    folder: Folder
    stream: Stream


class HeaderBytes:
    """The bytes of a table, read one value after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._data):
            raise BadHeaderError
        self._at += count
        return self._data[self._at - count : self._at]

    def rest(self) -> bytes:
        return self.take(len(self._data) - self._at)

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        """The leading ones of the first byte count the bytes that follow; its other bits are the highest ones."""
        first = self.byte()
        extra = next((count for count in range(8) if not first & (0x80 >> count)), 8)
        high = first & (0x7F >> extra)
        return int.from_bytes(self.take(extra), "little") | high << (8 * extra)

    def count(self) -> int:
        """A number of things, each of which takes up a byte of the table or more."""
        if (count := self.number()) > len(self._data):
            raise BadHeaderError
        return count

    def expect(self, kind: int) -> None:
        if self.byte() != kind:
            raise BadHeaderError

    def flags(self, count: int) -> list[bool]:
        data = self.take((count + 7) // 8)
        return [bool(data[index // 8] & (0x80 >> index % 8)) for index in range(count)]

    def checksums(self, count: int) -> list[int | None]:
        known = [True] * count if self.byte() else self.flags(count)
        return [int.from_bytes(self.take(4), "little") if is_known else None for is_known in known]


def read_members(data: bytes) -> list[Member]:
    """The files that a table lists, those without content left out."""
    table = HeaderBytes(data)
    table.expect(_HEADER)
    folders: list[Folder] = []
    names: list[str] = []
    while (kind := table.byte()) != _END:
        if kind == _MAIN_STREAMS:
            folders = read_folders(table)
        elif kind == _FILES:
            names = _names(table)
        else:
            raise BadHeaderError
    streams = [(folder, stream) for folder in folders for stream in folder.streams]
    # An archive made of a pipe may name no file.
    names += [""] * (len(streams) - len(names))
    return [Member(name, folder, stream) for name, (folder, stream) in zip(names, streams, strict=False)]


def read_folders(table: HeaderBytes) -> list[Folder]:
    """The packed streams and what is in them."""
    starts_and_sizes: list[tuple[int, int]] = []
    folders: list[Folder] = []
    while (kind := table.byte()) != _END:
        if kind == _PACK_INFO:
            starts_and_sizes = _packed_streams(table)
        elif kind == _UNPACK_INFO:
            folders = _folders(table)
        elif kind == _SUBSTREAMS:
            _read_streams(table, folders)
        else:
            raise BadHeaderError
    for folder in folders:
        if len(starts_and_sizes) < folder.packed_streams:
            raise BadHeaderError
        folder.packed_start, folder.packed_size = starts_and_sizes[0]
        del starts_and_sizes[: folder.packed_streams]
        folder.streams = folder.streams or [Stream(0, folder.size, folder.crc)]
    return folders


def _packed_streams(table: HeaderBytes) -> list[tuple[int, int]]:
    start, count = table.number(), table.count()
    sizes: list[int] = []
    while (kind := table.byte()) != _END:
        if kind == _SIZE:
            sizes = [table.number() for _ in range(count)]
        elif kind == _CRC:
            table.checksums(count)
        else:
            raise BadHeaderError
    return list(zip(accumulate(sizes, initial=start), sizes, strict=False))


def _folders(table: HeaderBytes) -> list[Folder]:
    table.expect(_FOLDER)
    count = table.count()
    table.expect(0)  # the folders stand here, not in a stream of their own
    folders = [_folder(table) for _ in range(count)]
    table.expect(_UNPACK_SIZES)
    for folder in folders:
        folder.sizes = [table.number() for _ in folder.sizes]
    while (kind := table.byte()) != _END:
        if kind != _CRC:
            raise BadHeaderError
        for folder, crc in zip(folders, table.checksums(count), strict=True):
            folder.crc = crc
    return folders


def _folder(table: HeaderBytes) -> Folder:
    coders, inputs, outputs = [], 0, 0
    for _ in range(table.count()):
        flags = table.byte()
        method = table.take(flags & _ID_SIZE)
        ins, outs = (table.count(), table.count()) if flags & _IS_COMPLEX else (1, 1)
        properties = table.take(table.count()) if flags & _HAS_PROPERTIES else b""
        coders.append(Coder(method, properties))
        inputs, outputs = inputs + ins, outputs + outs
    bound = max(outputs - 1, 0)
    for _ in range(2 * bound):
        table.number()
    packed = inputs - bound
    for _ in range(packed if packed > 1 else 0):
        table.number()
    return Folder(coders, [0] * outputs, max(packed, 1))


def _read_streams(table: HeaderBytes, folders: list[Folder]) -> None:
    counts = [1] * len(folders)
    sizes = [[folder.size] for folder in folders]
    checksums: list[int | None] = []
    unknown = _without_checksum(folders, counts)
    while (kind := table.byte()) != _END:
        if kind == _STREAM_COUNTS:
            counts = [table.count() for _ in folders]
            unknown = _without_checksum(folders, counts)
        elif kind == _SIZE:
            sizes = [_sizes(table, folder, count) for folder, count in zip(folders, counts, strict=True)]
        elif kind == _CRC:
            checksums = table.checksums(unknown)
        else:
            raise BadHeaderError
    _set_streams(folders, counts, sizes, checksums)


def _without_checksum(folders: list[Folder], counts: list[int]) -> int:
    """How many streams need a checksum of their own: the only one of a folder has the folder's."""
    pairs = zip(folders, counts, strict=True)
    return sum(count for folder, count in pairs if count != 1 or folder.crc is None)


def _sizes(table: HeaderBytes, folder: Folder, count: int) -> list[int]:
    """The size of each stream of a folder; the last one is what is left."""
    sizes = [table.number() for _ in range(count - 1)]
    return [*sizes, max(folder.size - sum(sizes), 0)][:count]


def _set_streams(
    folders: list[Folder], counts: list[int], sizes: list[list[int]], checksums: list[int | None]
) -> None:
    left = iter(checksums)
    for folder, count, of_folder in zip(folders, counts, sizes, strict=True):
        starts = accumulate(of_folder, initial=0)
        known = [folder.crc] if count == 1 and folder.crc is not None else [next(left, None) for _ in range(count)]
        triples = zip(starts, of_folder, known, strict=False)
        folder.streams = [Stream(start, size, crc) for start, size, crc in triples]


def _names(table: HeaderBytes) -> list[str]:
    """The names of the files that have content."""
    count = table.count()
    names, is_empty = [""] * count, [False] * count
    while (kind := table.number()) != _END:
        content = HeaderBytes(table.take(table.number()))
        if kind == _EMPTY:
            is_empty = content.flags(count)
        elif kind == _NAMES:
            names = _decoded_names(content, count)
    return [name for name, empty in zip(names, is_empty, strict=True) if not empty]


def _decoded_names(content: HeaderBytes, count: int) -> list[str]:
    content.expect(0)
    text = content.rest().decode("utf-16-le", "replace").split("\0")
    return (text + [""] * count)[:count]
