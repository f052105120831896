"""A dump in independent pieces, each of which yields its pages by itself, in this or in another process."""

from __future__ import annotations

import codecs
import io
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from entlink.documents import Record
from entlink.errors import SourceError
from entlink.io.files import Meter, broken_stream_errors, compression_of, open_bytes, unreadable
from entlink.io.ledger import Ledger
from entlink.sources.mediawiki.dumps.bzip2 import Blocks, last_blocks
from entlink.sources.mediawiki.dumps.closing import TAIL, Tail, missing_end
from entlink.sources.mediawiki.dumps.header import Header, broken_data, read_header
from entlink.sources.mediawiki.dumps.history import PageSlice
from entlink.sources.mediawiki.dumps.raw_page import RawPage
from entlink.sources.mediawiki.dumps.reading_pages import PageReader
from entlink.sources.mediawiki.dumps.slices import page_slices
from entlink.sources.mediawiki.dumps.standing import Windows
from entlink.sources.mediawiki.dumps.window import Chunks, Place, Window
from entlink.sources.wikitext.site import Site

MAX_PAGE = 64 << 20
PLAIN_PART, BZIP2_PART, UNPACKED_PART = 8 << 20, 2 << 20, 8 << 20
_CHUNK = 1 << 20
_UNPACKED = "byte {} of the unpacked data"


class PlainRange(Record, frozen=True):
    """The pages that begin in the bytes `[start, stop)` of a plain file."""

    start: int
    stop: int

    def place(self, path: Path) -> Place:
        return Place(str(path))

    def slices(self, path: Path, max_page: int, windows: Windows | None) -> Iterator[PageSlice | SourceError]:
        with _opened(path) as file:
            own, rest = chunks_between(file, path, self.start, self.stop), chunks_between(file, path, self.stop, None)
            yield from page_slices(Window(own, rest, self.place(path), self.start), max_page, windows)

    def tail(self, file: io.BufferedReader) -> bytes | None:
        """The last bytes of the file."""
        file.seek(-min(TAIL, file.seek(0, io.SEEK_END)), io.SEEK_END)
        return file.read()


class BlockRange(Record, frozen=True):
    """The pages that begin in the blocks which begin in the bytes `[start, stop)` of a bzip2 file."""

    start: int
    stop: int

    def place(self, path: Path) -> Place:
        return Place(str(path), f"byte {{}} of what the blocks from byte {self.start} on unpack to")

    def slices(self, path: Path, max_page: int, windows: Windows | None) -> Iterator[PageSlice | SourceError]:
        with _opened(path) as file:
            blocks = Blocks(file, self.start, self.stop)
            yield from page_slices(Window(blocks.own(), blocks.rest(), self.place(path)), max_page, windows)

    def tail(self, file: io.BufferedReader) -> bytes | None:
        """The last bytes that the file unpacks to; None if its end cannot be unpacked."""
        return last_blocks(file)


class HeldPages(Record, frozen=True):
    """Pages of a file that can only be unpacked from its beginning on: they are carried along."""

    items: tuple[PageSlice | SourceError, ...]

    def place(self, path: Path) -> Place:
        return Place(str(path), _UNPACKED)

    def slices(self, path: Path, max_page: int, windows: Windows | None) -> Iterator[PageSlice | SourceError]:
        return iter(self.items)


class Part(Record, frozen=True):
    """A piece of a dump. It depends on the file alone, and can be pickled.

    `end` is how many bytes of the file are read when its pages have been: a measure of progress.
    """

    path: Path
    end: int
    content: PlainRange | BlockRange | HeldPages
    has_parents: bool = False
    must_close: bool = False
    max_page: int = MAX_PAGE
    windows: Windows | None = None

    def pages(
        self, wanted: Container[int] | None, site: Site, ledger: Ledger | None = None
    ) -> Iterator[RawPage | SourceError]:
        """The pages of the `wanted` namespaces, None for all; in place of one that cannot be read, the error.

        So whoever reads can stop or go on. Pages that are not wanted are passed over without being read; the
        ledger counts them.
        """
        reader = PageReader(site, wanted, self.has_parents, self.content.place(self.path), ledger)
        yield from reader.read(self.content.slices(self.path, self.max_page, self.windows))
        if self.must_close and (error := self._missing_end()):
            yield error

    def _missing_end(self) -> SourceError | None:
        """The parts of a file cannot know where the last page ends: so the last part looks at the file's end."""
        if isinstance(self.content, HeldPages):
            return None
        with _opened(self.path) as file:
            tail = self.content.tail(file)
        return None if tail is None else missing_end(tail, str(self.path), f"byte {self.end}")


def parts(
    path: Path, size: int | None = None, max_page: int = MAX_PAGE, windows: Windows | None = None
) -> Iterator[Part]:
    """The pieces of a dump in order: plain XML, or packed with bzip2, gzip, xz or 7-Zip.

    Plain and bzip2 files are cut at every `size` bytes and are unpacked where the parts are read. Of others a part
    holds what `size` bytes unpack to, and is made as it is asked for. A page that would take more than `max_page`
    bytes of memory is given as an error. Of a page there is the latest revision, or with `windows` of time those that
    were stable then.
    """
    compression = compression_of(path)
    header = _header(path, compression)
    if compression in (None, "bzip2") and not header.is_utf16:
        return _ranges(path, header, compression, size, max_page, windows)
    return _held(path, header, size or UNPACKED_PART, max_page, windows)


def _header(path: Path, compression: str | None) -> Header:
    """A bzip2 file can be read behind a damaged beginning: its parts will tell of the damage."""
    try:
        return read_header(path)
    except SourceError:
        if compression != "bzip2" or not _has_pages(path):
            raise
        return Header()


def _has_pages(path: Path) -> bool:
    with _opened(path) as file:
        slices = page_slices(Window(Blocks(file, 0, path.stat().st_size).own(), (), Place("")), MAX_PAGE)
        return any(isinstance(item, PageSlice) for item in slices)


def _ranges(
    path: Path, header: Header, compression: str | None, size: int | None, max_page: int, windows: Windows | None
) -> Iterator[Part]:
    total = path.stat().st_size
    step = size or (BZIP2_PART if compression else PLAIN_PART)
    for start in range(0, total, step):
        stop = min(start + step, total)
        content = BlockRange(start, stop) if compression else PlainRange(start, stop)
        yield Part(path, stop, content, header.has_parents, header.has_root and stop == total, max_page, windows)


def _held(path: Path, header: Header, size: int, max_page: int, windows: Windows | None) -> Iterator[Part]:
    meter, place = Meter(), Place(str(path), _UNPACKED)
    tail, chunks = Tail(), _unpacked(path, meter)
    window = Window(tail.watch(_in_utf8(chunks, path) if header.is_utf16 else chunks), (), place)
    total = path.stat().st_size
    items: list[PageSlice | SourceError] = []
    start = 0
    for item in page_slices(window, max_page, windows):
        items.append(item)
        if window.position - start >= size:
            yield Part(path, min(meter.consumed, total), HeldPages(tuple(items)), header.has_parents, False, max_page)
            items, start = [], window.position
    if header.has_root and tail.is_whole and (error := missing_end(tail.data, str(path), place.at(window.position))):
        items.append(error)
    yield Part(path, total, HeldPages(tuple(items)), header.has_parents, False, max_page)


def _opened(path: Path) -> io.BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from error


def chunks_between(file: io.BufferedReader, path: Path, start: int, stop: int | None) -> Chunks:
    """The bytes between two places of a file, or up to its end; where they cannot be read, the error is the last."""
    file.seek(start)
    while (limit := _CHUNK if stop is None else min(_CHUNK, stop - start)) > 0:
        try:
            chunk = file.read(limit)
        except OSError as error:
            yield SourceError(f"cannot be read: {error.strerror or error}", str(path), f"byte {start}")
            return
        if not chunk:
            return
        start += len(chunk)
        yield chunk


def _unpacked(path: Path, meter: Meter) -> Chunks:
    """The unpacked bytes; where they cannot be read on, the error is the last."""
    with open_bytes(path, meter) as file:
        try:
            while chunk := file.read1(_CHUNK):
                yield chunk
        except broken_stream_errors() as error:
            yield broken_data(path, error, meter)


def _in_utf8(chunks: Iterable[bytes | SourceError], path: Path) -> Chunks:
    """The same text in UTF-8. Halves of characters are kept as they are, so that only their page is found bad."""
    decoder = codecs.getincrementaldecoder("utf-16")("surrogatepass")
    for chunk in chunks:
        yield chunk if isinstance(chunk, SourceError) else decoder.decode(chunk).encode("utf-8", "surrogatepass")
    if decoder.getstate()[0]:
        yield SourceError("the file ends in the middle of a character", str(path), hint="Fetch the file again")
