"""What stands before the first page of a dump: which wiki it is of, and how it is written."""

from __future__ import annotations

import codecs
import re
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

from entlink.documents import Record
from entlink.errors import SourceError
from entlink.io.files import Meter, broken_stream_errors, open_bytes
from entlink.sources.mediawiki.dumps.history import page_start
from entlink.sources.mediawiki.dumps.slices import FETCH_AGAIN
from entlink.sources.wikitext.site import ARTICLE, Site

MAX_HEADER = 1 << 20
_MOST_DIGITS = 10  # what is longer is no number of a version or a namespace
_BUFFER = 1 << 16
_FIRST_WITH_PARENTS = (0, 7)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ROOT = re.compile(rb"<mediawiki(?=[\s>])([^>]*)>?")
_ATTRIBUTE = re.compile(rb"""(?<![\w:])([\w:]++)\s*+=\s*["']([^"']*)["']""")
_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?\bencoding\s*=\s*["']([^"']*)["']""")
_ENDS = (b"</siteinfo>", b"<logitem")
# How the project's part of an address shows in the name of the database: en.wikipedia.org is enwiki.
_PROJECTS = {"wikipedia": "wiki"}
_WIKIMEDIA = frozenset(
    ("wikipedia", "wiktionary", "wikibooks", "wikinews", "wikiquote", "wikisource", "wikiversity", "wikivoyage")
)


class Header(Record, frozen=True):
    """The wiki, and what the export is like."""

    site: Site = Site()
    has_root: bool = False  # a piece cut out of an export may come without <mediawiki>
    has_parents: bool = False
    is_utf16: bool = False


def read_site(path: Path) -> Site:
    """The wiki that a dump is of; a SourceError when the file is no MediaWiki export."""
    return read_header(path).site


def read_header(path: Path) -> Header:
    """The header of a dump; a SourceError when the file is no MediaWiki export or breaks off in it."""
    start, damage = _beginning(path)
    is_utf16 = start.startswith(_UTF16)
    data = start.decode("utf-16", "replace").encode() if is_utf16 else start
    root = _ROOT.search(data)
    if damage and not root:
        raise damage
    if not root and not data.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<page"):
        raise _no_export(path, data)
    _check_content(path, data, is_utf16)
    attributes = (
        {name: unescape(value.decode(errors="replace")) for name, value in _ATTRIBUTE.findall(root[1])}
        if root
        else {}
    )
    site = _site(path, data, attributes.get(b"xml:lang") or None)
    return Header(site, root is not None, _version(attributes.get(b"version", "")) >= _FIRST_WITH_PARENTS, is_utf16)


def _beginning(path: Path) -> tuple[bytes, SourceError | None]:
    """The first bytes, up to the first page or further, and the error that stopped their reading."""
    meter, data = Meter(), bytearray()
    with open_bytes(path, meter) as file:
        try:
            while len(data) < MAX_HEADER and not _is_enough(data) and (chunk := file.read1(_BUFFER)):
                data += chunk
        except broken_stream_errors() as error:
            return bytes(data), broken_data(path, error, meter)
    return bytes(data), None


def _is_enough(data: bytearray) -> bool:
    return page_start(data, 0) >= 0 or any(end in data for end in _ENDS)


def broken_data(path: Path, error: Exception, meter: Meter) -> SourceError:
    """The error for packed data that cannot be read on."""
    at = min(meter.consumed, path.stat().st_size)
    if isinstance(error, EOFError):
        return SourceError("the compressed data is cut off", str(path), f"byte {at}", FETCH_AGAIN)
    return SourceError(f"the compressed data is damaged ({error})", str(path), f"before byte {at}", FETCH_AGAIN)


def _no_export(path: Path, data: bytes) -> SourceError:
    if not data.strip():
        return SourceError("the file is empty", str(path), hint="Fetch the file again")
    if b"<html" in data[:4096].lower():
        return SourceError(
            "the file is a web page, no dump", str(path), hint="The download went wrong: fetch it again"
        )
    return SourceError(
        "the file is no MediaWiki export: it does not begin with <mediawiki>",
        str(path),
        hint="Take an XML dump, such as pages-articles.xml.bz2",
    )


def _check_content(path: Path, data: bytes, is_utf16: bool) -> None:
    declared = _ENCODING.match(data.removeprefix(codecs.BOM_UTF8))
    name = declared[1].decode(errors="replace") if declared and not is_utf16 else "utf-8"
    if name.lower().replace("_", "-") not in ("utf-8", "utf8", "us-ascii", "ascii"):
        raise SourceError(f"the file is written in {name}", str(path), hint="Convert it to UTF-8")
    if b"<logitem" in data and page_start(data, 0) < 0:
        hint = "Take the dump with texts, such as pages-articles"
        raise SourceError("the dump holds entries of a log and no pages", str(path), hint=hint)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(".") if _is_number(number))


def _site(path: Path, data: bytes, language: str | None) -> Site:
    start = data.find(b"<siteinfo>")
    end = data.find(b"</siteinfo>", start)
    if start < 0 or end < 0:
        return Site(language=language)
    try:
        info = ElementTree.fromstring(data[start:end] + b"</siteinfo>")
    except ElementTree.ParseError as error:
        raise SourceError(
            f"the <siteinfo> is broken ({error})", str(path), f"byte {start}", "Fetch the file again"
        ) from error
    entries = info.findall("namespaces/namespace")
    return Site(
        name=(info.findtext("dbname") or "").strip() or _database(info.findtext("base") or ""),
        language=language,
        namespaces={int(entry.get("key", "")): entry.text or "" for entry in entries if _is_number(entry.get("key"))},
        capital_links=_case(info, entries) != "case-sensitive",
    )


def _is_number(key: str | None) -> bool:
    digits = (key or "").removeprefix("-")
    return digits.isascii() and digits.isdecimal() and len(digits) < _MOST_DIGITS


def _case(info: ElementTree.Element, entries: list[ElementTree.Element]) -> str:
    """The rule for first letters: that of articles, which may differ from that of the rest of the wiki."""
    articles = next((entry.get("case") for entry in entries if entry.get("key") == str(ARTICLE)), None)
    return articles or (info.findtext("case") or "").strip()


def _database(base: str) -> str:
    """The name of the database by the wiki's address, for exports before 0.9, which do not tell it."""
    try:
        host = (urlsplit(base.strip()).hostname or "").split(".")
    except ValueError:  # it is no address
        return ""
    if len(host) < 3 or host[-1] != "org" or host[-2] not in _WIKIMEDIA:
        return ""
    return host[0].replace("-", "_") + _PROJECTS.get(host[-2], host[-2])
