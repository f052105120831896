"""The formats a source can have, and how to tell which one a file or folder has."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import cast

import msgspec

from entlink.documents import Record
from entlink.errors import SourceError
from entlink.io.files import plain_name
from entlink.io.lines import read_lines
from entlink.sources.columns import ColumnMapping
from entlink.sources.reading import Reader, Reading, Splitter
from entlink.sources.wikidata.layout import looks_like_wikidata
from entlink.text.nearest import nearest_question


class Format(Record, frozen=True):
    """A format: its name, what it is, the suffixes its files have, and where its reader lives."""

    name: str
    summary: str
    suffixes: tuple[str, ...]
    reader_path: str = ""
    has_columns: bool = False
    has_folders: bool = False
    splitter_path: str = ""  # in place of a reader where the format can be read in parts
    naming_path: str = ""  # of a wiki's dump only: tells the wiki's name

    def reader(self) -> Reader:
        """The function that reads this format; its module is imported only now."""
        return cast("Reader", _function(self.reader_path))

    def splitter(self) -> Splitter | None:
        """The function that splits this format into parts, where it can be split."""
        return cast("Splitter", _function(self.splitter_path)) if self.splitter_path else None

    def wiki_naming(self) -> Callable[[Path], str] | None:
        """The function that tells the name of the wiki, where this is a wiki's dump."""
        return cast("Callable[[Path], str]", _function(self.naming_path)) if self.naming_path else None


def _function(path: str) -> object:
    module, _, function = path.partition(":")
    return getattr(import_module(f"entlink.sources.{module}"), function)


_ALL = (
    Format("jsonl", "JSON Lines, an object a line", (".jsonl", ".ndjson", ".json"), "tables:read_jsonl", True),
    Format(
        "csv", "values with a header, separated by comma, semicolon, tab or bar", (".csv",), "tables:read_csv", True
    ),
    Format("tsv", "tab-separated values with a header, no quoting", (".tsv", ".tab"), "tables:read_tsv", True),
    Format("parquet", "Apache Parquet", (".parquet", ".pq"), "parquet:read", True),
    Format("articles", "JSON Lines of articles with paragraphs and links", (), "articles:read"),
    Format(
        "wikiextractor",
        "output of WikiExtractor, a file or folder",
        (),
        "wikiextractor:read",
        has_folders=True,
    ),
    Format("zeshel", "documents of ZESHEL, a file or folder", (), "zeshel:read", has_folders=True),
    Format(
        "skos",
        "RDF with SKOS or RDFS labels: Turtle, N-Triples, RDF/XML, JSON-LD",
        (".ttl", ".nt", ".rdf", ".owl", ".jsonld"),
        "skos:read",
    ),
    Format("obo", "ontologies in the OBO format, such as the Gene Ontology", (".obo",), "obo:read"),
    Format(
        "mediawiki",
        "XML export of a MediaWiki, such as Wikipedia's pages-articles",
        (),
        splitter_path="mediawiki.export:split",
        naming_path="mediawiki.export:wiki_name",
    ),
    Format(
        "mediawiki-sql",
        "tables page, redirect, page_props and langlinks of a MediaWiki as SQL",
        (".sql",),
        splitter_path="mediawiki.tables:split",
        naming_path="mediawiki.tables:wiki_name",
    ),
    Format(
        "wikidata",
        "items of Wikidata as JSON: a dump, an answer of its API, or single items",
        (),
        splitter_path="wikidata.parts:split",
    ),
)
FORMATS: Mapping[str, Format] = MappingProxyType({each.name: each for each in _ALL})

_LINES_LOOKED_AT = 20
# Pages cut out of an export have no root. A mark of the encoding may stand before it.
_EXPORT = re.compile(rb"[^\w<]*(?:<\?xml[^>]*>\s*)?<(?:mediawiki|page)[\s>]")
_WIKI_FILE = re.compile(r"wiki_\d+")


def format_named(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        hint = f"{nearest_question(name, FORMATS)}{_list_of_formats()}"
        raise SourceError(f"there is no format {name!r}", hint=hint)
    return FORMATS[name]


def detect(path: Path, has_columns: bool) -> Format:
    """The format that the name and the first record show; `has_columns` says that it must be a table."""
    found = _detect_folder(path) if path.is_dir() else _detect_file(path, has_columns)
    if found is None:
        what = "folder" if path.is_dir() else "file"
        if not path.is_dir():
            _check_is_download(path)
        raise SourceError(f"the format of this {what} is not recognised", str(path), hint=_list_of_formats())
    return FORMATS[found]


def _check_is_download(path: Path) -> None:
    """What is left of a download that went wrong: nothing, or the page that said so."""
    first = _first_lines(path)
    if not first:
        raise SourceError("the file is empty", str(path), hint="Fetch it again")
    if b"<html" in b"".join(first).lower():
        raise SourceError("the file is a web page", str(path), hint="The download went wrong: fetch it again")


def _list_of_formats() -> str:
    formats = "; ".join(f"{each.name} ({each.summary})" for each in _ALL)
    return f"Name one (--format on the command line, format= in Python): {formats}"


def _detect_folder(path: Path) -> str | None:
    if (path / "documents").is_dir() or (path.name == "documents" and any(path.glob("*.json*"))):
        return "zeshel"
    return "wikiextractor" if any(_WIKI_FILE.match(file.name) for file in path.rglob("wiki_*")) else None


def _detect_file(path: Path, has_columns: bool) -> str | None:
    name = plain_name(path)
    suffix = Path(name).suffix.lower()
    found = next((each.name for each in _ALL if suffix in each.suffixes), None)
    if found is not None and (has_columns or found != "jsonl"):
        return found
    first = _first_lines(path)
    if not first:
        return found
    if any(_EXPORT.match(line.replace(b"\0", b"")) for line in first):
        return "mediawiki"
    if suffix == ".xml":
        return "skos" if b"22-rdf-syntax-ns#" in b"".join(first) else None
    if not has_columns and looks_like_wikidata(first):
        return "wikidata"
    if first[0].startswith(b"<doc "):
        return "wikiextractor"
    records = (_keys(line) for line in first)
    keys = next((keys for keys in records if keys), frozenset())
    if has_columns:
        return "jsonl" if keys else None
    return _detect_keys(keys, is_wiki_file=bool(_WIKI_FILE.match(name))) or found


def _detect_keys(keys: frozenset[str], is_wiki_file: bool) -> str | None:
    if {"id", "title", "paragraphs"} <= keys:
        return "articles"
    if {"document_id", "title", "text"} <= keys:
        return "zeshel"
    if is_wiki_file and {"id", "title", "text"} <= keys:
        return "wikiextractor"
    return "jsonl" if keys else None


def _first_lines(path: Path) -> list[bytes]:
    reading = Reading((path,), ColumnMapping(), "skip", None)
    lines = (line.strip() for _, line in read_lines(path, reading))
    found = (line for line in lines if line)
    return [line for line, _ in zip(found, range(_LINES_LOOKED_AT), strict=False)]


def _keys(line: bytes) -> frozenset[str]:
    try:
        return frozenset(msgspec.json.decode(line, type=dict[str, msgspec.Raw]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return frozenset()


def files_of(path: Path, format: Format) -> tuple[Path, ...]:
    """The files that make up a source, in the order they are read."""
    if not path.is_dir():
        return (path,)
    if not format.has_folders:
        hint = "Give the files in it"
        raise SourceError(f"this is a folder, and {format.name} is read from a file", str(path), hint=hint)
    if format.name == "zeshel":
        folder = path / "documents" if (path / "documents").is_dir() else path
        files = sorted(folder.glob("*.json*"))
    else:
        every = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
        files = [file for file in every if _WIKI_FILE.match(file.name)] or every
    if not files:
        raise SourceError(f"the folder holds no files of the format {format.name}", str(path))
    return tuple(files)
