"""One pass over a source: what a reader may use, and the ledger of what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from entlink.io.ledger import FileLedger, OnError
from entlink.sources.columns import ColumnMapping
from entlink.sources.mediawiki.options import WikiOptions
from entlink.sources.page import Item, NameRule
from entlink.sources.part import Part

if TYPE_CHECKING:
    from entlink.sources.mediawiki.history import HistoryOptions


class Reading(FileLedger):
    """Passed to a format's `read` function, which yields the pages of `files` in order."""

    def __init__(
        self,
        files: tuple[Path, ...],
        columns: ColumnMapping,
        on_error: OnError,
        language: str | None,
        wiki: WikiOptions = WikiOptions(),
        history: HistoryOptions | None = None,
    ) -> None:
        super().__init__(on_error)
        self.files, self.columns, self.language, self.wiki = files, columns, language, wiki
        self.history = history
        self.rules: list[NameRule] = []  # a person made each of them: they are few


Reader = Callable[[Reading], Iterator[Item]]
Splitter = Callable[[Reading], Iterator[Part]]
