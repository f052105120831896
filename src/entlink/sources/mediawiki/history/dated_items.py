"""What the chosen revisions of a history say, on disk: each parsed once, with the snapshots at which it holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from entlink.io.record_files import read_batches
from entlink.sources.page import Meanings, Page, Redirect

DATED = "dated.bin"
HistoryItem = Page | Redirect | Meanings


class DatedItem(msgspec.Struct, array_like=True):
    """What a page says under one title, and the snapshots at which it did: places in the list of dates, ascending."""

    snapshots: list[int]
    item: HistoryItem


class _Undecoded(msgspec.Struct, array_like=True):
    """The same, the item not looked into."""

    snapshots: list[int]
    item: msgspec.Raw


def items_of(part_folder: Path, snapshot: int) -> Iterator[HistoryItem]:
    """The items of a part that hold at a snapshot, in the order of the dump; only those are decoded."""
    decoder = msgspec.msgpack.Decoder(HistoryItem)
    for batch in read_batches(part_folder / DATED, _Undecoded):
        for dated in batch:
            if snapshot in dated.snapshots:
                yield decoder.decode(dated.item)
