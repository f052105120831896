"""One pass over a source: what a reader may use, and the ledger of what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from entlink.errors import SourceError
from entlink.sources.columns import ColumnMapping
from entlink.sources.files import Meter
from entlink.sources.page import Page

MAX_MESSAGES = 100
OnError = Literal["stop", "skip"]


class Reading:
    """Passed to a format's `read` function, which yields the pages of `files` in order."""

    def __init__(
        self, files: tuple[Path, ...], columns: ColumnMapping, on_error: OnError, language: str | None
    ) -> None:
        self.files, self.columns, self.language = files, columns, language
        self.meter = Meter()
        self.records = 0
        # Set by `read_lines`: the file broke off, so that a record left open is no second problem.
        self.is_cut_off = False
        self.skipped = 0
        self.problems: list[str] = []
        self._stops = on_error == "stop"

    def fail(self, error: SourceError) -> None:
        """Raise the error, or count it when bad records are to be skipped."""
        if self._stops:
            raise error
        self.skipped += 1
        if len(self.problems) < MAX_MESSAGES:
            self.problems.append(str(error))


Reader = Callable[[Reading], Iterator[Page]]
