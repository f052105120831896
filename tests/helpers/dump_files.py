"""Small dumps made by the tests, and a plain reading of them to compare with."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from entlink.errors import SourceError
from entlink.sources.mediawiki.dumps import RawPage, parts, read_site

SITEINFO = (
    "  <siteinfo><sitename>Hills</sitename><dbname>hillswiki</dbname><case>first-letter</case>"
    '<namespaces><namespace key="0" /><namespace key="1">Talk</namespace></namespaces></siteinfo>\n'
)


def revision(text: str, time: str = "2020-01-01T00:00:00Z", **fields: str) -> str:
    """A revision; `fields` are elements put before its text."""
    before = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in fields.items())
    return (
        f"    <revision>\n      <id>5</id><timestamp>{time}</timestamp>{before}"
        f'<text xml:space="preserve">{escape(text)}</text>\n    </revision>\n'
    )


def page(title: str, number: int, *revisions: str, namespace: int = 0) -> str:
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{namespace}</ns>\n    <id>{number}</id>\n"
        + "".join(revisions)
        + "  </page>\n"
    )


def export(*pages: str, version: str = "0.11", siteinfo: str = SITEINFO) -> bytes:
    return f'<mediawiki version="{version}" xml:lang="en">\n{siteinfo}{"".join(pages)}</mediawiki>\n'.encode()


def noise(count: int, seed: int = 3) -> str:
    """Text that packs badly, so that small files have many blocks."""
    random_bits = random.Random(seed)
    return " ".join(f"{random_bits.getrandbits(80):x} é <ref>&amp;</ref>" for _ in range(count // 40))


def noisy_export(count: int = 60, length: int = 2000) -> bytes:
    """Pages of several lengths, some of them talk, one far longer than the others."""
    texts = [noise(length * (1 + 40 * (number == 7)) // (1 + number % 3), number) for number in range(count)]
    return export(*(page(f"Hill & {n}", n + 1, revision(text), namespace=n % 2) for n, text in enumerate(texts)))


def sevenzip(data: bytes, name: str = "hills.xml") -> bytes:
    """A 7-Zip archive of one file, packed with LZMA2, its table of contents not packed."""
    settings = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 24}]
    packed = lzma.compress(data, lzma.FORMAT_RAW, filters=settings)
    encoded_name = name.encode("utf-16-le") + b"\0\0"
    table = b"".join(
        (
            b"\x01\x04\x06" + _number(0) + _number(1) + b"\x09" + _number(len(packed)) + b"\0",
            b"\x07\x0b\x01\0\x01\x21\x21\x01\x18\x0c" + _number(len(data)) + b"\0",
            b"\x08\x0a\x01" + zlib.crc32(data).to_bytes(4, "little") + b"\0\0",
            b"\x05\x01\x11" + _number(len(encoded_name) + 1) + b"\0" + encoded_name + b"\0\0",
        )
    )
    where = b"".join(number.to_bytes(8, "little") for number in (len(packed), len(table)))
    start = where + zlib.crc32(table).to_bytes(4, "little")
    return b"7z\xbc\xaf\x27\x1c\0\4" + zlib.crc32(start).to_bytes(4, "little") + start + packed + table


def _number(value: int) -> bytes:
    return b"\xff" + value.to_bytes(8, "little")


def multistream(data: bytes) -> bytes:
    """Streams of three pages each, as Wikipedia's dumps are packed."""
    pieces = data.split(b"</page>\n")
    whole = [piece + b"</page>\n" for piece in pieces[:-1]]
    groups = [b"".join(whole[at : at + 3]) for at in range(0, len(whole), 3)]
    return b"".join(bz2.compress(group) for group in (*groups, pieces[-1]))


PACK: dict[str, Callable[[bytes], bytes]] = {
    "xml": bytes,
    "xml.bz2": lambda data: bz2.compress(data, 1),
    "multistream.xml.bz2": multistream,
    "xml.gz": lambda data: gzip.compress(data, 1),
    "xml.xz": lzma.compress,
    "xml.7z": sevenzip,
}


def read(path: Path, size: int | None = None, wanted: Any = None, **options: Any) -> list[RawPage | SourceError]:
    site = read_site(path)
    return [item for part in parts(path, size, **options) for item in part.pages(wanted, site)]


def pages_and_errors(items: Iterable[RawPage | SourceError]) -> tuple[list[RawPage], list[SourceError]]:
    items = list(items)
    return (
        [item for item in items if isinstance(item, RawPage)],
        [item for item in items if isinstance(item, SourceError)],
    )


def read_or_fail(path: Path, size: int | None = None) -> tuple[list[RawPage], list[SourceError]]:
    """As `read`, a file that is refused as a whole being one error."""
    try:
        return pages_and_errors(read(path, size))
    except SourceError as error:
        return [], [error]


def brief(pages: Iterable[RawPage]) -> list[tuple[str, int, int, str]]:
    return [(page.title, page.namespace, page.id, page.text) for page in pages]


def plainly_read(data: bytes) -> list[tuple[str, int, int, str]]:
    """The same by the standard library's parser, over the whole of the export: of one revision a page."""
    found = []
    for _, element in ElementTree.iterparse(io.BytesIO(data)):
        if element.tag.rpartition("}")[2] == "page":
            texts = {child.tag.rpartition("}")[2]: child for child in element.iter()}
            text = texts["text"].text or ""
            number = next(child.text for child in element if child.tag.rpartition("}")[2] == "id")
            found.append((texts["title"].text or "", int(texts["ns"].text or 0), int(number or 0), text))
    return found
