"""Dumps from bytes, and what holds of the reading of any file whatever that should be a dump."""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from broken_rules import holds
from edited_files import edited, edits_of

from dump_files import PACK, export, page, revision
from entlink.errors import SourceError
from entlink.sources import open_source
from entlink.sources.mediawiki.dumps import RawPage, parts, read_site
from entlink.sources.page import Page
from entlink.sources.wikitext import Site
from entlink.sources.wikitext.blanks import words

TEXT = "'''Hill''' is [[high]] & <ref>far</ref> from the [[dale|dales]]. " * 3
MOVED = "E moved page [[Mound]] to [[Hill 3]]: a better name"
GOOD = export(
    page("Hill", 1, revision(TEXT)),
    page("Talk:Hill", 2, revision("?"), namespace=1),
    page("Hill 3", 3, *(revision(TEXT, f"2020-01-0{day}T00:00:00Z", comment=MOVED) for day in (1, 2, 3))),
    page("Mound", 4, revision("#REDIRECT [[Hill]]", parentid="3")),
    page("Dale", 5, revision("* [[Hill]]\n* [[Mound]]\n{{disambig}}")),
)
KINDS = (*PACK, "sealed.xml.7z")
SLOWLY_PACKED = ("xml.xz", "xml.7z", "sealed.xml.7z")
SMALL_PART = 150
_TAGS = words(
    """
    <page> </page> <revision> </revision> <title> </title> <ns> </ns> <id> </id> <text> </text> <text/> <mediawiki
    </mediawiki> <siteinfo> </siteinfo> <namespaces> key=" case <base>http://[x</base>
    <base>http://en.wikipedia.org/</base> <dbname> </dbname> <logitem <timestamp> </timestamp> <comment> </comment>
    <parentid> <contributor> <model> <content><role>main</role> </content> <!-- --> <![CDATA[ ]]>
    &a; &amp; &#0; &#x110000; &lt; 9 - . " = version= 0.11
    """
)
_WITH_BLANKS = (
    *("<page ", '<text xml:space="preserve">', '<text id="4" bytes="9"/>', "<namespace ", '<redirect title="'),
    *("<redirect />", "<?xml version='1.0' encoding='utf-16'?>", "<!DOCTYPE x [<!ENTITY a 'b'>]>"),
    *(" ", "\n", "\r", "\0", "\1"),
)
_BINARY = (
    *(b"\xff", b"\xed\xa0\x80", b"\xef\xbf\xbe", b"\xc2\x85", b"\xff\xfe", b"\xff" * 8),  # of texts
    *(b"BZh9", b"1AY&SY", b"\x17\x72\x45\x38\x50\x90", b"\x1f\x8b\x08", b"\xfd7zXZ\0"),  # of packings
    *(b"7z\xbc\xaf\x27\x1c", b"\x01\x04\x06", b"\x21\x21\x01", b"\x03\x01\x01"),  # of 7-Zip's table
)
TOKENS = (*(token.encode() for token in (*_TAGS, *_WITH_BLANKS)), *_BINARY)


class Dump(NamedTuple):
    """A file to be read."""

    kind: str
    content: bytes
    is_damaged: bool  # whether edits came after the packing, and not before

    def name(self) -> str:
        """A name that no other file has: what was read of one is remembered by its path."""
        return f"{zlib.crc32(self.content):08x}.{self.kind}"


def dump_of(data: bytes) -> Dump:
    """The file that the bytes stand for: the first says its kind, and the others are edits."""
    choice = data[0] if data else 0
    kind, edits = KINDS[choice % len(KINDS)], edits_of(data[1:])
    if choice < 128 and kind not in SLOWLY_PACKED:
        return Dump(kind, PACK[kind](edited(GOOD, edits, TOKENS)), False)
    content = edited(_packed(kind.removeprefix("sealed.")), edits, TOKENS)
    return Dump(kind, sealed(content) if kind.startswith("sealed.") else content, True)


@cache
def _packed(kind: str) -> bytes:
    return PACK[kind](GOOD)


def sealed(archive: bytes) -> bytes:
    """A 7-Zip archive whose checksums are right, whatever became of its table."""
    if len(archive) < 32:
        return archive
    offset = min(int.from_bytes(archive[12:20], "little"), len(archive) - 32)
    table = archive[32 + offset :]
    where = offset.to_bytes(8, "little") + len(table).to_bytes(8, "little") + zlib.crc32(table).to_bytes(4, "little")
    return archive[:8] + zlib.crc32(where).to_bytes(4, "little") + where + archive[32:]


def check_dump(path: Path, dump: Dump) -> None:
    """Write a file, read it as a source and in small parts, and check all that must hold."""
    path.write_bytes(dump.content)
    try:
        items = list(open_source(path, format="mediawiki", on_error="skip").items())
    except SourceError as error:
        holds("an error names the file", error.file == str(path) and bool(error.problem), error)
        return
    for item in items:
        if isinstance(item, Page):
            holds("an entity has an id and a title", bool(item.entity.id and item.entity.title.strip()), item.entity)
    check_parts(path, dump)


def check_parts(path: Path, dump: Dump) -> None:
    """Where a file is cut changes nothing, and what has checksums comes out as it went in or not at all."""
    whole = _pages(path, None)
    for page_read in whole:
        holds("a page has a title and a number", bool(page_read[0]) and page_read[2] >= 0, page_read)
    if dump.kind.endswith(("xml", "bz2")):
        in_small_parts = _pages(path, SMALL_PART)
        # A packed block that a copy of itself follows may be read twice or once.
        same = set(in_small_parts) == set(whole) if dump.is_damaged else in_small_parts == whole
        holds("parts of any size have the same pages", same, path)
    if dump.is_damaged and dump.kind.endswith("bz2"):
        holds("damaged pages are left out", set(whole) <= _good_pages(path.parent), whole)


Brief = tuple[str, int, int, str]


def _pages(path: Path, size: int | None) -> list[Brief]:
    site = _site(path)
    items = [item for part in parts(path, size) for item in part.pages(None, site)]
    return [(item.title, item.namespace, item.id, item.text) for item in items if isinstance(item, RawPage)]


def _site(path: Path) -> Site:
    """The wiki; any wiki where the header is broken, and what follows it can be read all the same."""
    try:
        return read_site(path)
    except SourceError:
        return Site()


@cache
def _good_pages(folder: Path) -> frozenset[Brief]:
    path = folder / "good.xml"
    path.write_bytes(GOOD)
    return frozenset(_pages(path, None))
