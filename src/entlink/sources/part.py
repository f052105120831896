"""A piece of a source that can be read by itself, in another process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import msgspec

from entlink.io.ledger import Ledger
from entlink.sources.page import Item, Page

PART_PAGES = 20_000
PART_CHARACTERS = 8_000_000  # pages may be whole articles: a part is held in memory


class Part(Protocol):
    """Picklable. `end` is how many bytes of the source on disk are read when it is done."""

    @property
    def end(self) -> int: ...

    def items(self, ledger: Ledger) -> Iterator[Item]:
        """Its pages and what else it tells, in order; bad ones go to the ledger."""


class PagesPart(msgspec.Struct, frozen=True):
    """Pages that were read already, packed for the way to another process."""

    packed: bytes
    end: int

    def items(self, ledger: Ledger) -> Iterator[Item]:
        yield from msgspec.msgpack.decode(self.packed, type=list[Page])


def packed_parts(pages: Iterable[Page]) -> Iterator[bytes]:
    """Pages in packed pieces of bounded number and size."""
    pending: list[Page] = []
    size = 0
    for page in pages:
        pending.append(page)
        size += len(page.entity.description) + sum(len(paragraph.text) for paragraph in page.paragraphs)
        if len(pending) >= PART_PAGES or size >= PART_CHARACTERS:
            yield msgspec.msgpack.encode(pending)
            pending, size = [], 0
    if pending:
        yield msgspec.msgpack.encode(pending)
