"""One snapshot of a history as a source of a build: what the parts of the history say of that date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from entlink.io.ledger import Ledger, OnError
from entlink.sources import Item, NameRule, items_of

if TYPE_CHECKING:
    from entlink.sources import Part

HISTORY = "mediawiki history"


class SnapshotPart(msgspec.Struct, frozen=True):
    """What one part of a history says of one snapshot."""

    folder: Path
    snapshot: int
    end: int

    def items(self, ledger: Ledger) -> Iterator[Item]:
        """Its pages, redirects and disambiguation pages, in the order of the dump."""
        return items_of(self.folder, self.snapshot)


class SnapshotSource:
    """The pages of a history as of a snapshot, which has a place among the dates that the history was read for.

    Bad records were told of when the history was read: here there are none.
    """

    format = HISTORY
    skipped = 0

    on_error: OnError = "stop"

    def __init__(self, history: Path, parts: Sequence[Path], snapshot: int, wiki: str) -> None:
        self.path, self.wiki = history, wiki
        self._parts, self._snapshot = parts, snapshot
        self._sizes = [sum(file.stat().st_size for file in part.iterdir()) for part in parts]
        self.size = sum(self._sizes)
        self.problems: list[str] = []
        self.left_out: dict[str, int] = {}
        self.rules: list[NameRule] = []

    def parts(self) -> Iterator[Part]:
        """A part of the build for each part of the history."""
        end = 0
        for folder, size in zip(self._parts, self._sizes, strict=True):
            end += size
            yield SnapshotPart(folder, self._snapshot, end)
