"""The blocks of a bzip2 file, found at any bit, so that parts of one file can be unpacked independently."""

from __future__ import annotations

import bz2
from collections import deque
from collections.abc import Iterator
from typing import IO

from entlink.errors import SourceError
from entlink.sources.mediawiki.dumps.slices import FETCH_AGAIN

_MAGIC_BITS, _CRC_BITS = 48, 32
_BLOCK, _END_OF_STREAM = 0x314159265359, 0x177245385090
_HEADER = b"BZh9"
_SCANNED = 1 << 20
_OVERLAP = 8
# A block unpacks to 900 kB before its runs are undone, and packs to hardly more.
_LARGEST_BLOCK = 2 << 20
# The magic can appear in the middle of a block by chance; that it does so twice need not be thought of.
_MOST_JOINED = 2


class _Magic:
    """A number of 48 bits as it looks in bytes when it begins at each of the eight bits of a byte."""

    def __init__(self, value: int) -> None:
        shifted = [(value << (8 - shift)).to_bytes(7, "big") for shift in range(8)]
        self._forms = [(shift, form[0], form[1:6], form[6]) for shift, form in enumerate(shifted)]

    def find(self, data: bytes) -> list[int]:
        """The bits at which it begins, in order. The five bytes in its middle are whole at any shift."""
        found = []
        for shift, first, middle, last in self._forms:
            at = data.find(middle, 1)
            while at >= 0:
                end = data[at + 5] if at + 5 < len(data) else 0
                if data[at - 1] & (0xFF >> shift) == first and end & (0xFF00 >> shift & 0xFF) == last:
                    found.append((at - 1) * 8 + shift)
                at = data.find(middle, at + 1)
        return sorted(found)


_BLOCK_MAGIC, _END_MAGIC = _Magic(_BLOCK), _Magic(_END_OF_STREAM)


class Blocks:
    """The unpacked blocks that begin in the bytes `[start, stop)` of a file, then those of the rest of it."""

    def __init__(self, file: IO[bytes], start: int, stop: int) -> None:
        self._file, self._name = file, str(file.name)
        self._stop = stop * 8
        self._size = file.seek(0, 2)
        self._starts: deque[int] = deque()
        self._scan = self._magics(start)
        self._is_first = True

    def own(self) -> Iterator[bytes | SourceError]:
        """What the blocks hold, an error in place of each that cannot be unpacked."""
        while self._knows(1) and self._starts[0] < self._stop:
            yield from self._next()

    def rest(self) -> Iterator[bytes | SourceError]:
        while self._knows(1):
            yield from self._next()

    def _magics(self, start: int) -> Iterator[list[int]]:
        """The bits of the file at which blocks begin, from the byte `start` on, some at a time."""
        for offset in range(start, self._size, _SCANNED):
            data = self._read(offset, offset + _SCANNED + _OVERLAP)
            yield [offset * 8 + bit for bit in _BLOCK_MAGIC.find(data) if bit < _SCANNED * 8]

    def _read(self, start: int, end: int) -> bytes:
        self._file.seek(start)
        return self._file.read(end - start)

    def _knows(self, count: int) -> bool:
        """Whether so many more blocks begin; their beginnings are searched as far as need be."""
        while len(self._starts) < count and (found := next(self._scan, None)) is not None:
            self._starts.extend(found)
        return len(self._starts) >= count

    def _next(self) -> Iterator[bytes | SourceError]:
        start = self._starts.popleft()
        is_first, self._is_first = self._is_first, False
        for joined in range(_MOST_JOINED + 1):
            end = self._starts[joined] if self._knows(joined + 1) else None
            if (data := self._unpacked(start, end)) is not None:
                for _ in range(joined):
                    self._starts.popleft()
                yield data
                return
            if end is None:
                break
        if not (is_first and self._continues_block(start)):
            yield from self._broken(start)

    def _unpacked(self, start: int, end: int | None) -> bytes | None:
        """The block between two bits, `end` None for the end of the file; None if there is no whole block."""
        end = self._end_of_block(start, end)
        if end is None or end - start < _MAGIC_BITS + _CRC_BITS:
            return None
        bits = self._bits(start, end)
        length = end - start
        checksum = bits >> (length - _MAGIC_BITS - _CRC_BITS) & ((1 << _CRC_BITS) - 1)
        stream = (bits << _MAGIC_BITS | _END_OF_STREAM) << _CRC_BITS | checksum
        decompressor = bz2.BZ2Decompressor()
        try:
            data = decompressor.decompress(_HEADER + _in_bytes(stream, length + _MAGIC_BITS + _CRC_BITS))
        except OSError:
            return None
        return data if decompressor.eof else None

    def _end_of_block(self, start: int, end: int | None) -> int | None:
        """Where the next block begins, or the end of the stream if it lies before; None if the block has no end."""
        last = min(end if end is not None else self._size * 8, start + _LARGEST_BLOCK * 8)
        if end == last and not self._begins_stream(end):
            return end
        data = self._read(start // 8, (last + 7) // 8)
        return next((start // 8 * 8 + bit for bit in _END_MAGIC.find(data)), None)

    def _begins_stream(self, bit: int) -> bool:
        return bit % 8 == 0 and self._read(bit // 8 - 4, bit // 8).startswith(_HEADER[:3])

    def _bits(self, start: int, end: int) -> int:
        last = (end + 7) // 8
        bits = int.from_bytes(self._read(start // 8, last), "big") >> (last * 8 - end)
        return bits & ((1 << (end - start)) - 1)

    def _continues_block(self, start: int) -> bool:
        """Whether the magic at `start` is no beginning: the block of the part before holds it by chance."""
        offset = max(0, start // 8 - _LARGEST_BLOCK)
        before = [bit + offset * 8 for bit in _BLOCK_MAGIC.find(self._read(offset, start // 8 + _OVERLAP))]
        earlier = [bit for bit in before if bit < start]
        end = self._starts[0] if self._knows(1) else None
        if not earlier or (self._end_of_block(earlier[-1], end) or 0) <= start:
            return False
        return self._unpacked(earlier[-1], end) is not None

    def _broken(self, start: int) -> Iterator[bytes | SourceError]:
        length = self._size - start // 8
        if self._knows(1) or length > _LARGEST_BLOCK or self._end_of_block(start, None) is not None:
            problem = "the bzip2 block that begins here is damaged"
            yield SourceError(problem, self._name, f"byte {start // 8}", FETCH_AGAIN)
            return
        whole_bytes = (self._size * 8 - start) // 8  # a bit too many would be taken for a broken next block
        bits = self._bits(start, start + whole_bytes * 8)
        if data := _salvaged(_HEADER + bits.to_bytes(whole_bytes, "big")):
            yield data
        yield SourceError("the compressed data is cut off", self._name, f"byte {self._size}", FETCH_AGAIN)


def last_blocks(file: IO[bytes]) -> bytes | None:
    """What the last two blocks of a file hold, since one alone may be but a few bytes; None if one is damaged."""
    size = file.seek(0, 2)
    start = max(0, size - 2 * _LARGEST_BLOCK)
    file.seek(start)
    bits = _BLOCK_MAGIC.find(file.read())
    if not bits:
        return None
    pieces = list(Blocks(file, start + bits[-2:][0] // 8, size).own())
    data = [piece for piece in pieces if isinstance(piece, bytes)]
    return b"".join(data) if len(data) == len(pieces) else None


def _in_bytes(bits: int, length: int) -> bytes:
    """So many bits as whole bytes, filled with zeros at the end."""
    count = (length + 7) // 8
    return (bits << (count * 8 - length)).to_bytes(count, "big")


def _salvaged(stream: bytes) -> bytes:
    """What a stream without its end holds: a block if all of it is there, else nothing."""
    decompressor, pieces = bz2.BZ2Decompressor(), []
    try:
        pieces.append(decompressor.decompress(stream))
        while piece := decompressor.decompress(b""):
            pieces.append(piece)
    except (OSError, EOFError):
        return b""
    return b"".join(pieces)
