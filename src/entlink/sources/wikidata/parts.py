"""A file of entities in independent pieces, each of which yields its items by itself, in this or another process."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from entlink.documents import Record
from entlink.errors import FieldError, SourceError
from entlink.io.files import Meter, broken_stream_errors, compression_of, open_bytes, unreadable
from entlink.io.ledger import Ledger
from entlink.io.lines import MAX_LINE, cut_off, read_lines
from entlink.sources.json_array import array_items
from entlink.sources.mediawiki.dumps.bzip2 import Blocks
from entlink.sources.mediawiki.dumps.parts import chunks_between
from entlink.sources.page import Item
from entlink.sources.reading import Reading
from entlink.sources.wikidata.entities import EntityReader, reader_of
from entlink.sources.wikidata.layout import layout_of
from entlink.sources.wikidata.names import Names, names_in

PLAIN_PART, BZIP2_PART, HELD_PART = 32 << 20, 4 << 20, 8 << 20
_MOST_PARTS = 4_000  # before they get larger
_CUT_OFF = "the dump is cut off in a line"
_FETCH_AGAIN = "Fetch the file again; with --on-error skip all that could be read is kept"

_Line = tuple[str, bytes, bool]  # where it begins, the line, and whether its end is there
Chunks = Iterable[bytes | SourceError]


class EntityPart(Record, frozen=True):
    """A piece of a file, with all that is needed to read it elsewhere."""

    path: str
    end: int
    names: Names
    with_page: bool

    def _items(self, lines: Iterable[_Line | SourceError], ledger: Ledger) -> Iterator[Item]:
        """What the entities of these lines say, in order; bad ones go to the ledger."""
        reader = reader_of(self.names, self.with_page)
        for line in lines:
            if isinstance(line, SourceError):
                ledger.fail(line)
            else:
                yield from self._read(reader, line, ledger)

    def _read(self, reader: EntityReader, line: _Line, ledger: Ledger) -> list[Item]:
        place, text, is_whole = line
        try:
            return reader.read(text, ledger)
        except FieldError as error:
            ledger.fail(error.at(self.path, place))
        except RecursionError:
            ledger.fail(SourceError("the JSON is nested too deeply", self.path, place))
        except UnicodeDecodeError as error:
            ledger.fail(SourceError(f"the text is not valid UTF-8 ({error.reason})", self.path, place))
        except msgspec.ValidationError as error:
            ledger.fail(SourceError(f"this is no entity of Wikidata: {error}", self.path, place))
        except msgspec.DecodeError as error:
            problem = f"the JSON is bad: {error}" if is_whole else f"{_CUT_OFF}: {error}"
            ledger.fail(SourceError(problem, self.path, place, "" if is_whole else _FETCH_AGAIN))
        return []


class RangePart(EntityPart, frozen=True):
    """The lines after the line ends in the bytes `[start, end)` of a plain file, or in blocks that begin there."""

    start: int
    is_packed: bool

    def items(self, ledger: Ledger) -> Iterator[Item]:
        """What its entities say, in order; bad ones go to the ledger."""
        return self._items(self.lines(), ledger)

    def lines(self) -> Iterator[_Line | SourceError]:
        path = Path(self.path)
        try:
            file = path.open("rb")
        except OSError as error:
            raise unreadable(path, error) from error
        with file:
            own, rest = self._chunks(file, path)
            cutter = _Lines(own, rest, is_first=self.start == 0, path=self.path)
            for at, line, is_whole in cutter.lines():
                text = line.strip(b" \t\r\n,")
                if isinstance(at, SourceError):
                    yield at
                elif text not in (b"", b"[", b"]", codecs.BOM_UTF8 + b"["):
                    yield self._place(at), text.removeprefix(codecs.BOM_UTF8), is_whole

    def _chunks(self, file: io.BufferedReader, path: Path) -> tuple[Chunks, Chunks]:
        if self.is_packed:
            blocks = Blocks(file, self.start, self.end)
            return blocks.own(), blocks.rest()
        return chunks_between(file, path, self.start, self.end), chunks_between(file, path, self.end, None)

    def _place(self, at: int) -> str:
        if not self.is_packed:
            return f"byte {self.start + at}"
        return f"byte {at} of what the data from byte {self.start} on unpacks to"


class HeldPart(EntityPart, frozen=True):
    """Entities of a file that can only be read from its beginning on: they are carried along."""

    held: tuple[_Line, ...]

    def items(self, ledger: Ledger) -> Iterator[Item]:
        """What its entities say, in order; bad ones go to the ledger."""
        return self._items(self.held, ledger)


class _Lines:
    """The lines that follow the line ends in a part's own bytes; the last one may end in the bytes after them."""

    def __init__(self, own: Chunks, rest: Chunks, *, is_first: bool, path: str) -> None:
        self._own, self._rest, self._path = own, rest, path
        self._begun: bytes | None = b"" if is_first else None  # of a line; None until a line end is found
        self._at = 0  # where the line that is begun begins

    def lines(self) -> Iterator[tuple[int | SourceError, bytes, bool]]:
        for chunk in self._own:
            yield from self._in(chunk)
        if self._begun is None:
            return
        for chunk in self._rest:
            if isinstance(chunk, SourceError):
                yield chunk, b"", False
                return
            line, newline, _ = chunk.partition(b"\n")
            self._begun += line
            if newline:
                yield self._at, self._begun, True
                return
            if len(self._begun) > MAX_LINE:
                yield self._too_long(), b"", False
                return
        if self._begun:
            yield self._at, self._begun, False

    def _in(self, chunk: bytes | SourceError) -> Iterator[tuple[int | SourceError, bytes, bool]]:
        if isinstance(chunk, SourceError):
            self._begun = None  # what is left of the line is passed over
            yield chunk, b"", False
            return
        first, *others = chunk.split(b"\n")
        if self._begun is not None:
            self._begun += first
            if len(self._begun) > MAX_LINE:
                yield self._too_long(), b"", False
                self._begun = None
        if not others:
            self._at += 0 if self._begun is not None else len(chunk)
            return
        if self._begun is not None:
            yield self._at, self._begun, True
            self._at += len(self._begun) + 1
        else:
            self._at += len(first) + 1
        *whole, self._begun = others
        for line in whole:
            yield self._at, line, True
            self._at += len(line) + 1

    def _too_long(self) -> SourceError:
        problem = f"the line is longer than {MAX_LINE:,} bytes"
        return SourceError(problem, self._path, f"byte {self._at}", "Is this a file of lines?")


def split(reading: Reading) -> Iterator[RangePart | HeldPart]:
    """The parts of a file, in order. Lines in plain files and in bzip2 are cut; all else is read here."""
    names = names_in(reading.language, reading.wiki.site)
    with_page = reading.wiki.with_page
    for path in reading.files:
        layout, compression = layout_of(path), compression_of(path)
        if layout == "lines" and compression in (None, "bzip2"):
            yield from _ranges(path, names, with_page, is_packed=compression is not None)
        else:
            lines = {"lines": _read_lines, "array": _array, "document": _document}[layout](path, reading)
            yield from _held(path, lines, reading, names, with_page)


def _ranges(path: Path, names: Names, with_page: bool, *, is_packed: bool) -> Iterator[RangePart | HeldPart]:
    total = path.stat().st_size
    step = max(BZIP2_PART if is_packed else PLAIN_PART, total // _MOST_PARTS)
    for start in range(0, total, step):
        yield RangePart(str(path), min(start + step, total), names, with_page, start, is_packed)


def _held(
    path: Path, lines: Iterator[_Line], reading: Reading, names: Names, with_page: bool
) -> Iterator[RangePart | HeldPart]:
    held: list[_Line] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line[1])
        if size >= HELD_PART:
            yield HeldPart(str(path), reading.meter.consumed, names, with_page, tuple(held))
            held, size = [], 0
    yield HeldPart(str(path), path.stat().st_size, names, with_page, tuple(held))


def _read_lines(path: Path, reading: Reading) -> Iterator[_Line]:
    for number, line in read_lines(path, reading):
        text = line.strip(b" \t\r\n,")
        if text not in (b"", b"[", b"]"):
            yield f"line {number}", text, line.endswith(b"\n")


def _array(path: Path, reading: Reading) -> Iterator[_Line]:
    with open_bytes(path, reading.meter) as file:
        try:
            for number, text in array_items(file, path):
                yield f"item {number}", text, True
        except SourceError as error:
            reading.fail(error)


def _document(path: Path, reading: Reading) -> Iterator[_Line]:
    """One entity over many lines, or an answer of the API, which has at most a few hundred."""
    with open_bytes(path, Meter()) as file:
        try:
            text = file.read(MAX_LINE + 1)
        except broken_stream_errors() as error:
            reading.fail(cut_off(path, error, "", "nothing was read"))
            return
    if len(text) > MAX_LINE:
        hint = "Give a dump, which has one entity a line"
        raise SourceError(f"the answer is longer than {MAX_LINE:,} bytes", str(path), hint=hint)
    text = text.removeprefix(codecs.BOM_UTF8)
    try:
        answer = msgspec.json.decode(text, type=_Answer)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        problem = "is nested too deeply" if isinstance(error, RecursionError) else f"is bad or cut off: {error}"
        reading.fail(SourceError(f"the JSON {problem}", str(path), hint="Is the file complete?"))
        return
    if answer.error is not None:
        reading.fail(
            SourceError(f"the API answered with an error: {answer.error.info}", str(path), hint="Ask it again")
        )
    elif answer.entities is None:
        yield "the entity", text, True
    elif isinstance(answer.entities, dict):
        for id, entity in answer.entities.items():
            yield f"entity {id[:20]!r}", bytes(entity), True


class _Error(msgspec.Struct):
    """What the API says where it does not answer."""

    info: str = ""


class _Answer(msgspec.Struct):
    """An answer of wbgetentities, or a file of Special:EntityData; without `entities` it is an entity itself."""

    entities: dict[str, msgspec.Raw] | list[msgspec.Raw] | None = None
    error: _Error | None = None
