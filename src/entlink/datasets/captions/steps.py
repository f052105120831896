"""The steps of a set of captions: parts of the sources to folders, those to its files, its card and datasheet."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import IO, cast

import msgspec

from entlink.datasets.captions.datasheet import datasheet
from entlink.datasets.captions.near_copies import NearCopies
from entlink.datasets.captions.options import CaptionOptions
from entlink.datasets.captions.parts import Line, PartCard, PartPlan, read_card, read_lines, write_part
from entlink.datasets.captions.pictures import FOLDER
from entlink.datasets.captions.reading import CaptionLines
from entlink.datasets.captions.report import CaptionFile, CaptionsReport, shown_options
from entlink.datasets.captions.statistics import Tally
from entlink.datasets.folder_target import CARD, DATASHEET
from entlink.datasets.hyperlinks.report import KnowledgeBaseCard, source_checksum
from entlink.datasets.selection import hash_of
from entlink.documents import Document
from entlink.engine.protocol import Engine
from entlink.errors import InputError
from entlink.formats.documents.lines import decode_document, encode_document
from entlink.io.atomic import write_whole
from entlink.io.checksums import checksum
from entlink.kb.build.source_parts import PROBLEMS_KEPT, Omissions, PartedSource, PartRunner
from entlink.kb.store.manifest import SourceCard
from entlink.sources import Source
from entlink.text.dates import now
from entlink.version import __version__

_AT_ONCE = 256  # documents whose pictures are compared at once
_NAMED = 100


class Inputs(msgspec.Struct, frozen=True):
    """What a set is made from: sources, a knowledge base, and pictures as they were given and as they are read."""

    sources: Sequence[Source | CaptionLines]
    kb: Path
    given_pictures: Path | None
    pictures: Path | None


class CaptionsBuilder:
    """Makes one set in a folder of work; `out` is the folder it will be in."""

    def __init__(self, engine: Engine, inputs: Inputs, work: Path, out: Path, options: CaptionOptions) -> None:
        self._engine, self._inputs, self._work, self._out, self._options = engine, inputs, work, out, options
        self._removed: Counter[str] = Counter()
        self._dropped = 0
        self._earlier: set[int] = set()  # hashes of the captions of earlier parts
        self._current: set[int] = set()  # and of this one
        self._last: dict[int, int] = {}  # the last number of each page, by the page's hash
        self._tallies = [Tally() for _ in options.split]
        self._total = Tally()

    def make(
        self, made: Path, near_copies: NearCopies | None, card: KnowledgeBaseCard, command: str
    ) -> CaptionsReport:
        """Write all files of the set; returns its card, which is among them."""
        parts = self._read()
        names = [f"{split}.jsonl" for split in self._options.split]
        shutil.rmtree(made / FOLDER, ignore_errors=True)  # a killed run may have copied half of a picture
        self._write([part for of_source in parts for part in of_source], made, names, near_copies)
        if not self._total.statistics().pairs:
            raise self._nothing_left(parts)
        files = [
            CaptionFile(name, (made / name).stat().st_size, checksum(made / name), tally.statistics())
            for name, tally in zip(names, self._tallies, strict=True)
        ]
        report = self._report(parts, files, card, command, "" if near_copies is None else near_copies.encoder)
        write_whole(made / DATASHEET, datasheet(report, self._options).encode())
        write_whole(made / CARD, msgspec.json.format(msgspec.json.encode(report)) + b"\n")
        return report

    def _read(self) -> list[list[Path]]:
        """The folders of the parts of each source."""
        sources = self._inputs.sources
        runner = PartRunner(
            self._engine,
            write_part,
            self._work / "parts",
            measure=lambda part: sum(read_card(part).captions.values()),
            limit=None,
            total=sum(source.size for source in sources),
        )

        def read(source: Source | CaptionLines) -> list[Path]:
            plan = self._plan(source)
            # The parts of lines hold captions where those of other sources hold pages.
            return runner.run(cast("PartedSource", source), lambda part, _: (part, plan))

        return [read(source) for source in sources]

    def _plan(self, source: Source | CaptionLines) -> PartPlan:
        pictures = self._inputs.pictures
        return PartPlan(
            self._options,
            source.on_error,
            source.wiki is not None,
            str(self._inputs.kb),
            None if pictures is None else str(pictures),
            str(self._out),
            self._options.copy_pictures or pictures != self._inputs.given_pictures,
        )

    # The files

    def _write(self, parts: Sequence[Path], made: Path, names: Sequence[str], near_copies: NearCopies | None) -> None:
        with ExitStack() as stack:
            files = [stack.enter_context((made / name).open("wb")) for name in names]
            for number, part in enumerate(parts):
                self._engine.progress("writing captions", number, len(parts))
                lines = read_lines(part)
                while some := list(islice(lines, _AT_ONCE)):
                    shown = some if near_copies is None else self._marked(some, part, near_copies)
                    self._write_some(shown, part, made, files)
                self._earlier |= self._current
                self._current.clear()

    def _write_some(self, lines: Sequence[Line], part: Path, made: Path, files: Sequence[IO[bytes]]) -> None:
        for line in lines:
            content = bytes(line.document)
            key = _Key.of(content)
            number = key.hash()
            if number in self._earlier:
                self._dropped += 1
                continue
            self._current.add(number)
            content = self._numbered(content, key.id)
            files[line.split].write(content + b"\n")
            self._tallies[line.split].add(content)
            self._total.add(content)
            _copy_picture(line.picture, part, made)

    def _numbered(self, content: bytes, id: str) -> bytes:
        """A document with an id of its own: each part numbers the captions of a page from 1."""
        page, _, own = id.rpartition("#")
        hashed = hash_of(0, "page", page)
        number = self._last[hashed] = max(int(own), self._last.get(hashed, 0) + 1)
        if number == int(own):
            return content
        return encode_document(msgspec.structs.replace(decode_document(content), id=f"{page}#{number}"))

    def _marked(self, lines: Sequence[Line], part: Path, near_copies: NearCopies) -> list[Line]:
        """The lines with near-copies marked, or without them."""
        documents = [decode_document(bytes(line.document)) for line in lines]
        files = [part / line.picture if line.picture else None for line in lines]
        marked = near_copies.mark(documents, files)
        return [
            Line(line.split, msgspec.Raw(encode_document(document)), line.picture)
            for line, document in zip(lines, map(self._without_copies, marked), strict=True)
            if document is not None
        ]

    def _without_copies(self, document: Document) -> Document | None:
        if self._options.same_picture == "mark":
            return document
        gold = tuple(one for one in document.gold if "picture" not in one.meta)
        self._removed["near-copy, dropped"] += len(document.gold) - len(gold)
        if len(gold) < self._options.min_mentions:
            self._removed["captions"] += 1
            return None
        spans = {one.span for one in gold}
        mentions = tuple(one for one in document.mentions or () if one.span in spans)
        return msgspec.structs.replace(document, gold=gold, mentions=mentions)

    # The card

    def _report(
        self,
        parts: Sequence[Sequence[Path]],
        files: list[CaptionFile],
        card: KnowledgeBaseCard,
        command: str,
        encoder: str,
    ) -> CaptionsReport:
        cards = [[read_card(part) for part in of_source] for of_source in parts]
        every = [one for of_source in cards for one in of_source]
        captions = self._captions(every)
        mentions = sum((Counter(one.mentions) for one in every), Counter[str]())
        mentions["near-copy, dropped"] += self._removed["near-copy, dropped"]
        given = self._inputs.given_pictures
        sources = [
            _source_card(source, of_source) for source, of_source in zip(self._inputs.sources, cards, strict=True)
        ]
        return CaptionsReport(
            entlink=__version__,
            built=now(),
            command=command,
            options=shown_options(self._options),
            kb=card,
            sources=sources,
            pictures="" if given is None else given.name,
            encoder=encoder,
            captions=_sorted(captions),
            mentions=_sorted(mentions),
            named=[name for one in every for name in one.named][:_NAMED],
            files=files,
            total=self._total.statistics(),
            problems=[problem for one in every for problem in one.problems][:PROBLEMS_KEPT],
        )

    def _captions(self, cards: Sequence[PartCard]) -> Counter[str]:
        """What became of all captions, those that were left out at the end included."""
        captions = sum((Counter(one.captions) for one in cards), Counter[str]())
        captions["repeated"] += self._dropped
        captions["too few mentions"] += self._removed["captions"]
        captions["kept"] -= self._dropped + self._removed["captions"]
        return captions

    def _nothing_left(self, parts: Sequence[Sequence[Path]]) -> InputError:
        captions = _sorted(self._captions([read_card(part) for of_source in parts for part in of_source]))
        counted = ", ".join(f"{name} {count:,}" for name, count in captions.items())
        return InputError(
            f"no caption is left ({counted or 'none was read'}). Check that the sources have captions with links, "
            "the folder of pictures, and the bounds"
        )


class _Gold(msgspec.Struct):
    start: int
    end: int
    entity: str | None = None


class _Meta(msgspec.Struct):
    image: str


class _Key(msgspec.Struct):
    """What makes two captions the same: page, picture, text and gold."""

    id: str
    text: str
    meta: _Meta
    gold: list[_Gold] = []

    @classmethod
    def of(cls, content: bytes) -> _Key:
        return msgspec.json.decode(content, type=cls)

    def hash(self) -> int:
        parts = (self.id.rpartition("#")[0], self.meta.image, self.text, self.gold)
        return hash_of(0, "caption", msgspec.json.encode(parts).decode())


def _copy_picture(name: str, part: Path, made: Path) -> None:
    """Take the picture of a document along if its part has made or copied it."""
    if name and not Path(name).is_absolute() and not (made / name).exists():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(part / name, made / name)


def _source_card(source: Source | CaptionLines, cards: Sequence[PartCard]) -> SourceCard:
    omitted = Omissions()
    for card in cards:
        omitted.add(card)
    omitted.add(source)
    return SourceCard(
        source.path.name,
        source.format,
        source.size,
        source_checksum(source.path),
        sum(card.captions.get("read", 0) for card in cards),
        omitted.skipped,
        omitted.left_out,
    )


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}
