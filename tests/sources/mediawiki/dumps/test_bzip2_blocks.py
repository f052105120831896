from __future__ import annotations

import bz2
import random

import pytest

from dump_files import brief, export, noise, page, pages_and_errors, plainly_read, read, revision
from entlink.errors import SourceError
from entlink.sources.mediawiki.dumps import parts, read_site
from entlink.sources.mediawiki.dumps.bzip2 import Blocks
from entlink.sources.wikitext.site import Site

BLOCK, END = 0x314159265359, 0x177245385090


def unpacked(path, start=0, stop=1 << 40):
    with path.open("rb") as file:
        return list(Blocks(file, start, stop).own())


@pytest.mark.parametrize("step", [1_000, 60_000])
def test_the_blocks_of_all_parts_are_those_of_the_file(write, step):
    data = noise(1_000_000).encode()
    packed = bz2.compress(data, 1)
    path = write("a.bz2", packed)
    pieces = [block for start in range(0, len(packed), step) for block in unpacked(path, start, start + step)]
    assert len(pieces) > 8
    assert b"".join(pieces) == data


class Bits:
    """Bits written one number after the other."""

    def __init__(self) -> None:
        self.text = ""

    def put(self, value: int, count: int) -> None:
        self.text += f"{value:0{count}b}"

    def to_bytes(self) -> bytes:
        padded = self.text + "0" * (-len(self.text) % 8)
        return int(padded, 2).to_bytes(len(padded) // 8, "big")


USED = [byte for byte in range(256) if byte not in (0, 1)]


def content_of(symbols: bytes) -> bytes:
    """What a block of these symbols, moved to front and sorted, unpacks to from the row 0."""
    recent, last = list(USED), bytearray()
    for symbol in symbols:
        recent.insert(0, recent.pop(symbol - 1))
        last.append(recent[0])
    order = sorted(range(len(last)), key=last.__getitem__)
    content, row = bytearray(), order[0]
    for _ in last:
        content.append(last[row])
        row = order[row]
    return bytes(content)


def checksum(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
    return crc ^ 0xFFFFFFFF


def block_of(symbols: bytes) -> tuple[bytes, bytes]:
    """A stream of one block whose codes are eight bits long each, so that any bytes can be put in it; its content."""
    content = content_of(symbols)
    bits = Bits()
    bits.put(BLOCK, 48)
    bits.put(checksum(content), 32)
    bits.put(0, 25)
    bits.put(0xFFFF, 16)
    for group in range(16):
        bits.put(sum(1 << (15 - low) for low in range(16) if group * 16 + low in USED), 16)
    bits.put(2, 3)
    selectors = -(-(len(symbols) + 1) // 50)
    bits.put(selectors, 15)
    bits.put(0, selectors)
    for _ in range(2):
        bits.put(8, 5)
        bits.put(0, len(USED) + 2)
    for symbol in (*symbols, len(USED) + 1):
        bits.put(symbol, 8)
    bits.put(END, 48)
    bits.put(checksum(content), 32)
    return b"BZh9" + bits.to_bytes(), content


def symbols_with_magic(seed: int) -> bytes:
    """Symbols that hold the magic of a block as it looks at another bit, and unpack without runs of four."""
    choose = random.Random(seed)
    chosen = bytes(choose.randrange(2, 255) for _ in range(400))
    magic = (BLOCK << 3).to_bytes(7, "big")
    return chosen[:200] + bytes([magic[0] | 0x80]) + magic[1:6] + bytes([magic[6] | 2]) + chosen[200:]


@pytest.fixture
def false_magic():
    stream, content = next(
        (stream, content)
        for stream, content in map(block_of, map(symbols_with_magic, range(20)))
        if bz2.decompress(stream) == content and b"<" not in content
    )
    return stream, content


def test_a_magic_inside_a_block_is_no_end_of_it(write, false_magic):
    stream, content = false_magic
    path = write("a.bz2", stream + bz2.compress(b"more"))
    assert unpacked(path) == [content, b"more"]


def test_a_part_that_begins_inside_a_block_with_a_magic(write, false_magic):
    stream, content = false_magic
    path = write("a.bz2", stream + bz2.compress(b"more"))
    for start in range(1, len(stream)):
        assert unpacked(path, start) in ([content, b"more"], [b"more"])
    assert unpacked(path, 5) == [b"more"]


def test_pages_around_a_false_magic(write, false_magic):
    before, after = (export(page(f"Hill {n}", n, revision(noise(900, n)))) for n in (1, 2))
    packed = bz2.compress(before) + false_magic[0] + bz2.compress(after)
    for size in (None, 200, 50):
        pages, errors = pages_and_errors(read(write("a.xml.bz2", packed), size))
        assert errors == []
        assert brief(pages) == plainly_read(before) + plainly_read(after)


def test_a_damaged_block_loses_only_the_pages_it_touches(write):
    data = export(*(page(f"Hill {n}", n + 1, revision(noise(5_000, n))) for n in range(120)))
    packed = bytearray(bz2.compress(data, 1))
    whole = plainly_read(data)
    packed[len(packed) // 2] ^= 0x10
    for size in (None, 40_000):
        pages, errors = pages_and_errors(read(write("a.xml.bz2", bytes(packed)), size))
        kept = brief(pages)
        assert [row for row in whole if row in kept] == kept
        assert 80 < len(kept) < 120
        assert len({error.position for error in errors}) == 1
        assert "the bzip2 block that begins here is damaged" in str(errors[0])
        assert "the page 'Hill" in str(errors[0])
        assert "Fetch the file again" in errors[0].hint


def test_a_damaged_first_block_leaves_the_others(write):
    data = export(*(page(f"Hill {n}", n + 1, revision(noise(5_000, n))) for n in range(100)))
    packed = bytearray(bz2.compress(data, 1))
    packed[500] ^= 0xFF
    path = write("a.xml.bz2", bytes(packed))
    with pytest.raises(SourceError, match="damaged"):
        read_site(path)
    pages, errors = pages_and_errors(item for part in parts(path) for item in part.pages(None, Site()))
    assert brief(pages) == plainly_read(data)[-len(pages) :]
    assert len(pages) > 60
    assert "byte 4: the bzip2 block" in str(errors[0])


def test_a_long_damaged_stretch_is_not_held(write):
    data = export(*(page(f"Hill {n}", n + 1, revision(noise(3_000, n))) for n in range(20)))
    middle = len(data) // 2
    stretch = bytes(5 << 20)
    packed = bz2.compress(data[:middle])[:-10] + stretch + bz2.compress(data[middle:])
    path = write("a.xml.bz2", packed)
    pages, errors = pages_and_errors(item for part in parts(path) for item in part.pages(None, Site()))
    assert {error.problem.split(";")[0] for error in errors} <= {"the bzip2 block that begins here is damaged"}
    assert brief(pages) == plainly_read(data)[-len(pages) :]
    assert len(pages) >= 9
