"""A source of pages: a file or folder of a known format, read anew at each iteration."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from entlink.errors import SourceError
from entlink.io.files import check_is_path, compression_of, unreadable
from entlink.io.ledger import OnError
from entlink.sources.columns import ColumnMapping
from entlink.sources.formats import Format, detect, files_of, format_named
from entlink.sources.mediawiki.options import WikiOptions
from entlink.sources.page import Item, NameRule, Page
from entlink.sources.part import PagesPart, Part, packed_parts
from entlink.sources.reading import Reading

if TYPE_CHECKING:
    from entlink.sources.mediawiki.history import HistoryOptions


class Source:
    """The pages of a file or folder; `open_source` makes one.

    `position`, `skipped`, `problems`, `left_out` and `rules` tell of the iteration that was begun last.
    """

    def __init__(
        self,
        path: Path,
        format: Format,
        columns: ColumnMapping,
        on_error: OnError,
        language: str | None,
        wiki: WikiOptions,
    ) -> None:
        self.path = path
        self.format = format.name
        self.on_error: OnError = on_error
        self.language, self.options = language, wiki
        self.history: HistoryOptions | None = None
        self._format, self._columns = format, columns
        self._files = files_of(path, format)
        self.size = sum(file.stat().st_size for file in self._files)
        self._reading = self._new_reading()

    def _new_reading(self) -> Reading:
        return Reading(self._files, self._columns, self.on_error, self.language, self.options, self.history)

    def note_disambiguations(self, folder: Path) -> None:
        """Where the disambiguation pages are listed that tables of the wiki tell of."""
        self.options = msgspec.structs.replace(self.options, disambiguations=str(folder))

    def as_history(self, history: HistoryOptions) -> Source:
        """The same dump, the parts of which have `dated_items`: what was stable at the snapshots."""
        if self.format != "mediawiki":
            problem = f"it is of the format {self.format}, and only a wiki's export has a history"
            raise SourceError(problem, str(self.path), hint="Give the dump pages-meta-history")
        source = Source(self.path, self._format, self._columns, self.on_error, self.language, self.options)
        source.history = history
        return source

    @cached_property
    def wiki(self) -> str | None:
        """The name of the wiki whose dump this is; None where it is no dump."""
        naming = self._format.wiki_naming()
        return naming(self.path) if naming is not None else None

    def __iter__(self) -> Iterator[Page]:
        # Not a generator itself, so that the counts are reset at once and not at the first page.
        self._reading = self._new_reading()
        return (item for item in self._items(self._reading) if isinstance(item, Page))

    def items(self) -> Iterator[Item]:
        """Its pages, and what else a wiki's dump tells: redirects, disambiguation pages, identifiers."""
        self._reading = self._new_reading()
        return self._items(self._reading)

    def _items(self, reading: Reading) -> Iterator[Item]:
        for item in self._read(reading):
            reading.records += 1
            yield item

    def _read(self, reading: Reading) -> Iterator[Item]:
        splitter = self._format.splitter()
        if splitter is None:
            yield from self._format.reader()(reading)
            return
        for part in splitter(reading):
            yield from part.items(reading)
            reading.meter.consumed = part.end

    def parts(self) -> Iterator[Part]:
        """The same in pieces that other processes can read, in order.

        Pieces of a format that can be split are unread, and what is bad in one is known to who reads it; those of
        all others are read here, and the counts of this source tell of them.
        """
        self._reading = reading = self._new_reading()
        splitter = self._format.splitter()
        if splitter is not None:
            yield from splitter(reading)
            return
        pages = (item for item in self._items(reading) if isinstance(item, Page))
        for packed in packed_parts(pages):
            yield PagesPart(packed, self.position())

    def position(self) -> int:
        """How many bytes of the files, as they are on disk, have been consumed; `size` at the end."""
        return self._reading.meter.consumed

    @property
    def skipped(self) -> int:
        """How many records were left out because they are bad."""
        return self._reading.skipped

    @property
    def problems(self) -> list[str]:
        """What was wrong with the first hundred of the records left out."""
        return self._reading.problems

    @property
    def left_out(self) -> dict[str, int]:
        """How many records were left out on purpose, by reason."""
        return dict(self._reading.left_out)

    @property
    def rules(self) -> list[NameRule]:
        """The pins and blocks that it holds beside its pages, if it is an exported knowledge base."""
        return self._reading.rules

    def __repr__(self) -> str:
        return f"Source({str(self.path)!r}, format={self.format!r})"


def open_source(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    on_error: OnError = "stop",
    language: str | None = None,
    wiki: WikiOptions = WikiOptions(),
) -> Source:
    """Open a file or folder of entities, plain or packed with gzip, bzip2 or xz (a wiki's dump also with 7-Zip).

    `format` is one of `FORMATS`, told from the name and the first record when not given. `columns`
    maps fields of an entity to columns of a table (see `ColumnMapping`). A bad record stops the
    reading with a `SourceError`, or is counted and left out with `on_error="skip"`. `language` is
    that of records which do not name their own, and the one preferred where a record has several. `wiki` says how
    to read a wiki's dump.

        for page in open_source("products.csv", columns={"id": "sku", "title": "name"}):
            ...
    """
    path = Path(path)
    if on_error not in ("stop", "skip"):
        raise SourceError(f"on_error is {on_error!r}", hint='It must be "stop" or "skip"')
    mapping = ColumnMapping(columns)
    _check_exists(path)
    chosen = format_named(format) if format is not None else detect(path, bool(mapping.explicit))
    if mapping.explicit and not chosen.has_columns:
        raise SourceError(f"the format {chosen.name} has no columns to map", str(path), hint="Leave out the mapping")
    return Source(path, chosen, mapping, on_error, language, wiki)


def _check_exists(path: Path) -> None:
    check_is_path(path)
    try:
        path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    if not path.is_dir():
        compression_of(path)
