"""One pass over a source: what a reader may use, and the ledger of what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from entlink.sources.columns import ColumnMapping
from entlink.sources.files import Meter
from entlink.sources.ledger import Ledger, OnError
from entlink.sources.page import Item
from entlink.sources.part import Part
from entlink.sources.wiki_options import WikiOptions


class Reading(Ledger):
    """Passed to a format's `read` function, which yields the pages of `files` in order."""

    def __init__(
        self,
        files: tuple[Path, ...],
        columns: ColumnMapping,
        on_error: OnError,
        language: str | None,
        wiki: WikiOptions = WikiOptions(),
    ) -> None:
        super().__init__(on_error)
        self.files, self.columns, self.language, self.wiki = files, columns, language, wiki
        self.meter = Meter()
        self.records = 0
        # Set by `read_lines`: the file broke off, so that a record left open is no second problem.
        self.is_cut_off = False


Reader = Callable[[Reading], Iterator[Item]]
Splitter = Callable[[Reading], Iterator[Part]]
