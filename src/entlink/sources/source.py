"""A source of pages: a file or folder of a known format, read anew at each iteration."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from entlink.errors import SourceError
from entlink.sources.columns import ColumnMapping
from entlink.sources.files import compression_of, unreadable
from entlink.sources.formats import Format, detect, files_of, format_named
from entlink.sources.page import Page
from entlink.sources.reading import OnError, Reading


class Source:
    """The pages of a file or folder; `open_source` makes one.

    `position`, `skipped` and `problems` tell of the iteration that was begun last.
    """

    def __init__(
        self, path: Path, format: Format, columns: ColumnMapping, on_error: OnError, language: str | None
    ) -> None:
        self.path = path
        self.format = format.name
        self._format, self._columns, self._on_error, self._language = format, columns, on_error, language
        self._files = files_of(path, format)
        self.size = sum(file.stat().st_size for file in self._files)
        self._reading = self._new_reading()

    def _new_reading(self) -> Reading:
        return Reading(self._files, self._columns, self._on_error, self._language)

    def __iter__(self) -> Iterator[Page]:
        # Not a generator itself, so that the counts are reset at once and not at the first page.
        self._reading = self._new_reading()
        return self._pages(self._reading)

    def _pages(self, reading: Reading) -> Iterator[Page]:
        for page in self._format.reader()(reading):
            reading.records += 1
            yield page

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

    def __repr__(self) -> str:
        return f"Source({str(self.path)!r}, format={self.format!r})"


def open_source(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    on_error: OnError = "stop",
    language: str | None = None,
) -> Source:
    """Open a file or folder of entities, plain or packed with gzip, bzip2 or xz.

    `format` is one of `FORMATS`, told from the name and the first record when not given. `columns`
    maps fields of an entity to columns of a table (see `ColumnMapping`). A bad record stops the
    reading with a `SourceError`, or is counted and left out with `on_error="skip"`. `language` is
    that of records which do not name their own, and the one preferred where a record has several.

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
    return Source(path, chosen, mapping, on_error, language)


def _check_exists(path: Path) -> None:
    try:
        path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    if not path.is_dir():
        compression_of(path)
