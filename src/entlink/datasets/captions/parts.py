"""Each part of a source, read by itself, becomes a folder.

- `documents.jsonl`: its documents, each with its split and the file of its picture
- `pictures/`: the pictures that were copied or made anew
- `card.json`: what was counted, and what was left out
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from entlink.datasets.captions.documents import CaptionMaker
from entlink.datasets.captions.options import CaptionOptions
from entlink.datasets.captions.pictures import FOLDER, PictureFiles
from entlink.datasets.captions.reading import captions_of
from entlink.datasets.selection import Splits
from entlink.datasets.targets import resolver
from entlink.formats.documents.lines import encode_document
from entlink.io.ledger import Ledger, OnError
from entlink.kb.build.source_parts import Omissions
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.sources.part import Part

DOCUMENTS, CARD = "documents.jsonl", "card.json"
_NAMED = 100  # pictures of a part


class Line(msgspec.Struct):
    """A document as it is written, its split by number, and the file of its picture, as seen from the part."""

    split: int
    document: msgspec.Raw
    picture: str = ""


class PartCard(Omissions, kw_only=True):
    """What became of a part's captions and mentions; `named` are pictures that took their captions out."""

    pages: int
    captions: dict[str, int]
    mentions: dict[str, int]
    named: list[str]


class PartPlan(msgspec.Struct, frozen=True):
    """How the parts of one source become documents.

    `is_wiki` says that its links name titles, `copied` that all pictures go into the set.
    """

    options: CaptionOptions
    on_error: OnError
    is_wiki: bool
    kb: str
    pictures: str | None
    out: str
    copied: bool


def write_part(part: Part, plan: PartPlan, path: Path) -> None:
    """Read a part and write its folder."""
    shutil.rmtree(path, ignore_errors=True)  # a killed run may have left half of it
    path.mkdir()
    ledger, options = Ledger(plan.on_error), plan.options
    splits = Splits(options.split, options.seed)
    folder = None if plan.pictures is None else Path(plan.pictures)
    files = PictureFiles(folder, Path(plan.out), path / FOLDER, copied=plan.copied)
    kb_folder, pages = Path(plan.kb), set[str]()
    with resolver(kb_folder, of_titles=plan.is_wiki) as resolve, KnowledgeBase.open(kb_folder) as kb:
        maker = CaptionMaker(kb, resolve, files, options)
        with (path / DOCUMENTS).open("wb") as file:
            for made in maker.documents(captions_of(part.items(ledger))):
                page = made.document.id.rpartition("#")[0]
                pages.add(page)
                line = Line(splits.place(page), msgspec.Raw(encode_document(made.document)), made.found.file)
                file.write(msgspec.json.encode(line) + b"\n")
    card = PartCard(
        pages=len(pages), captions=dict(maker.counts), mentions=dict(maker.mentions), named=maker.named[:_NAMED]
    )
    card.add(ledger)
    (path / CARD).write_bytes(msgspec.json.encode(card))


def read_lines(folder: Path) -> Iterator[Line]:
    """The documents of a part, in order."""
    decoder = msgspec.json.Decoder(Line)
    with (folder / DOCUMENTS).open("rb") as file:
        yield from map(decoder.decode, file)


def read_card(folder: Path) -> PartCard:
    return msgspec.json.decode((folder / CARD).read_bytes(), type=PartCard)
