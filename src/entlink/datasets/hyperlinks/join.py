"""The documents of all parts, in order, into the files of a corpus."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, cast

import msgspec

from entlink.datasets.hyperlinks.parts import DOCUMENTS, Row, read_rows
from entlink.datasets.selection import Taker
from entlink.io.progress import Progress

_BUFFER = 1 << 18
_PACKING = 6


class FileCounts(msgspec.Struct):
    """What a file holds: documents, the pages they are of, gold links to entities and NIL ones."""

    documents: int = 0
    pages: int = 0
    links: int = 0
    nil: int = 0


class Joining:
    """Writes the documents that are taken, each to the file of its split; `limit` is how many at most."""

    def __init__(self, taker: Taker, limit: int | None) -> None:
        self._taker, self._left = taker, limit
        self._files: list[IO[bytes]] = []
        self.counts: list[FileCounts] = []

    def run(self, parts: Sequence[Path], files: Sequence[Path], *, pack: bool, progress: Progress) -> None:
        """Write the files."""
        self.counts = [FileCounts() for _ in files]
        with ExitStack() as stack:
            self._files = [stack.enter_context(_opened(path, stack, pack)) for path in files]
            for number, folder in enumerate(parts):
                self._take(folder)
                progress("joining", number + 1, len(parts))

    def _take(self, folder: Path) -> None:
        page = -1
        with (folder / DOCUMENTS).open("rb") as documents:
            for row in read_rows(folder):
                if not self._taker.takes(row.hash):
                    documents.seek(row.size, io.SEEK_CUR)
                    continue
                if self._left is not None:
                    if self._left == 0:
                        return
                    self._left -= 1
                self._files[row.split].write(documents.read(row.size))
                self._count(row, is_new_page=row.page != page)
                page = row.page

    def _count(self, row: Row, *, is_new_page: bool) -> None:
        counts = self.counts[row.split]
        counts.documents += 1
        counts.pages += is_new_page
        counts.links += row.links
        counts.nil += row.nil


def _opened(path: Path, stack: ExitStack, pack: bool) -> IO[bytes]:
    """The file; a packed one holds neither name nor time, so that the same documents give the same bytes."""
    file = stack.enter_context(path.open("wb", buffering=_BUFFER))
    if not pack:
        return file
    packed = gzip.GzipFile("", "wb", _PACKING, file, mtime=0)
    return cast("IO[bytes]", io.BufferedWriter(cast("io.RawIOBase", packed), _BUFFER))
