"""Each part of a source, read by itself, becomes a folder.

- `documents.jsonl`: its documents
- `rows.bin`: of each document what choosing among them needs, so that nobody has to read them again
- `card.json`: what was read, and what was left out

Which documents stand in it depends on the part, and in a sample on how much of others was seen before; those that
are taken in the end are always among them.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from entlink.datasets.hyperlinks.documents import DocumentMaker, DocumentPlan, ReadCounts
from entlink.datasets.selection import Splits, hash_of
from entlink.datasets.targets import resolver
from entlink.documents import Document
from entlink.formats.documents.lines import encode_document
from entlink.io.ledger import Ledger, OnError
from entlink.kb.build.source_parts import Omissions
from entlink.sources import Page
from entlink.sources.part import Part

DOCUMENTS, ROWS, CARD = "documents.jsonl", "rows.bin", "card.json"
_ROW = struct.Struct("<QIIIIH")


class Row(NamedTuple):
    """A document: its hash, the bytes of its line, the page it is of, its gold links, and its split."""

    hash: int
    size: int
    page: int
    links: int
    nil: int
    split: int


class PartCard(Omissions, kw_only=True):
    """What a part held, and what was left out."""

    read: ReadCounts


class PartPlan(msgspec.Struct, frozen=True):
    """How the parts of one source become documents; `is_wiki` says that its links name titles."""

    documents: DocumentPlan
    on_error: OnError
    is_wiki: bool
    kb: str | None
    seed: int
    split: dict[str, float]


def write_part(part: Part, plan: PartPlan, threshold: int, path: Path) -> None:
    """Read a part and write its folder; documents whose hash is above the threshold are left out."""
    shutil.rmtree(path, ignore_errors=True)  # a killed run may have left half of it
    path.mkdir()
    ledger = Ledger(plan.on_error)
    kb = None if plan.kb is None else Path(plan.kb)
    with resolver(kb, of_titles=plan.is_wiki) as resolve:
        maker = DocumentMaker(plan.documents, resolve)
        with (path / DOCUMENTS).open("wb") as documents, (path / ROWS).open("wb") as rows:
            for row, line in _lines(part, ledger, maker, plan, threshold):
                documents.write(line)
                rows.write(_ROW.pack(*row))
    card = PartCard(read=maker.read)
    card.add(ledger)
    (path / CARD).write_bytes(msgspec.json.encode(card))


def _lines(
    part: Part, ledger: Ledger, maker: DocumentMaker, plan: PartPlan, threshold: int
) -> Iterator[tuple[Row, bytes]]:
    splits = Splits(plan.split, plan.seed)
    for number, item in enumerate(part.items(ledger)):
        if not isinstance(item, Page):
            continue
        split = splits.place(item.entity.id)
        for document in maker.documents(item):
            value = hash_of(plan.seed, "sample", document.id)
            if value <= threshold:
                line = encode_document(document) + b"\n"
                yield Row(value, len(line), number, *_gold_counts(document), split), line


def _gold_counts(document: Document) -> tuple[int, int]:
    """How many of its links are to an entity, and how many are NIL."""
    linked = sum(1 for gold in document.gold if gold.entities)
    return linked, len(document.gold) - linked


def read_rows(folder: Path) -> Iterator[Row]:
    """The rows of a part's documents, in order."""
    return map(Row._make, _ROW.iter_unpack((folder / ROWS).read_bytes()))


def count_rows(folder: Path) -> int:
    return (folder / ROWS).stat().st_size // _ROW.size


def read_card(folder: Path) -> PartCard:
    return msgspec.json.decode((folder / CARD).read_bytes(), type=PartCard)
