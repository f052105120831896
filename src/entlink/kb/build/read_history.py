"""Full histories of wikis to folders of parts: what is stable at each snapshot, read and parsed once.

A part's folder has `dated.bin`, batches of `DatedItem`, which `entlink.sources.items_of` reads, and `card.json`.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from entlink.engine.protocol import Engine
from entlink.errors import InputError
from entlink.io.record_files import RecordWriter
from entlink.io.resuming import Stamp, stamps, take_up
from entlink.kb.build.source_parts import Omissions, PartRunner
from entlink.sources import DATED, DatedItem, HistoryOptions, Ledger, OnError, Page, Source, WikiOptions
from entlink.version import __version__

CARD = "card.json"
_CHARACTERS_A_BATCH = 1_000_000
_AT_LEAST = 200  # characters that an item counts for, however short its text is


class HistoryRead(NamedTuple):
    """The folders of the parts in the order of the dumps, and what was left out of all of them."""

    parts: list[Path]
    omitted: Omissions


class HistoryCard(Omissions):
    """What a part gave: pages (of several titles or versions), redirects and disambiguation pages together."""

    items: int = 0


class _Part(Protocol):
    def dated_items(self, ledger: Ledger) -> Sequence[DatedItem]: ...


class _Plan(msgspec.Struct, frozen=True):
    """What an interrupted reading must have in common with the one that takes it up again."""

    entlink: str
    sources: tuple[Stamp, ...]
    history: HistoryOptions
    settings: tuple[tuple[OnError, str | None, WikiOptions, str], ...]


def read_history(engine: Engine, sources: Sequence[Source], folder: Path, options: HistoryOptions) -> HistoryRead:
    """Read dumps with full history into a folder that is for this alone; what is there of the same reading stays.

    `sources` are as `open_source` gives them, with the namespaces and limits of a page that are to be kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = tuple(
        (source.on_error, source.language, source.options, source.options.rules_checksum()) for source in sources
    )
    take_up(folder, _Plan(__version__, stamps(sources), options, settings))
    histories = [source.as_history(options) for source in sources]
    total = sum(source.size for source in sources)
    runner = PartRunner(engine, stage_history, folder, measure=_items, limit=None, total=total)
    read = HistoryRead([], Omissions())
    for history in histories:
        for part in _parts(runner, history):
            read.parts.append(part)
            read.omitted.add(read_history_card(part))
        read.omitted.add(history)
    return read


def check_one_wiki(sources: Sequence[Source], made: str) -> None:
    """Whether the histories are of one wiki: `made`, such as a dataset, is made of one."""
    if len({source.wiki for source in sources}) > 1:
        wikis = ", ".join(sorted(source.wiki or "one without a name" for source in sources))
        raise InputError(f"these are histories of several wikis: {wikis}. Make {made} of each")


def _parts(runner: PartRunner, history: Source) -> list[Path]:
    return runner.run(history, lambda part, number: (part, history.on_error))


def stage_history(part: _Part, on_error: OnError, path: Path) -> None:
    """Read a part and write its folder."""
    shutil.rmtree(path, ignore_errors=True)  # a killed run may have left half of it
    path.mkdir()
    ledger, card = Ledger(on_error), HistoryCard()
    writer: RecordWriter[DatedItem] = RecordWriter(path / DATED, _CHARACTERS_A_BATCH)
    try:
        for dated in part.dated_items(ledger):
            writer.add(dated, _weight(dated))
            card.items += 1
    finally:
        writer.close()
    card.add(ledger)
    (path / CARD).write_bytes(msgspec.json.encode(card))


def read_history_card(part: Path) -> HistoryCard:
    return msgspec.json.decode((part / CARD).read_bytes(), type=HistoryCard)


def _items(part: Path) -> int:
    return read_history_card(part).items


def _weight(dated: DatedItem) -> int:
    if not isinstance(dated.item, Page):
        return _AT_LEAST
    return _AT_LEAST + sum(len(paragraph.text) for paragraph in dated.item.paragraphs)
