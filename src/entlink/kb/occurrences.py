"""The second pass of a build: how often every name stands in the texts without being a link."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from entlink.engine.local import Progress, Task, map_to_files
from entlink.kb.alias_index import AliasIndex
from entlink.kb.names import tidy
from entlink.kb.scan import Scanner
from entlink.kb.staging import UNLINKED, row, write_rows

if TYPE_CHECKING:
    from entlink.sources import Page, Source

Passage = tuple[str, tuple[tuple[int, int], ...]]  # a text and the spans of its links
CHUNK_CHARACTERS = 4_000_000


def count_occurrences(
    sources: Sequence[Source],
    index: Path,
    shards: int,
    work: Path,
    progress: Progress,
    *,
    processes: int,
    left_out: Container[tuple[int, int]] = (),
) -> tuple[list[Path], int]:
    """Scan every text once more; returns the staged files and how many texts there were.

    `left_out` are the records, as numbers of source and record, that the first pass left out.
    """
    texts = [0]
    total = sum(source.size for source in sources)

    def tasks() -> Iterator[Task]:
        for number, (chunk, done) in enumerate(_chunks(sources, left_out)):
            texts[0] += len(chunk)
            progress("counting names in texts", done, total)
            yield Task(f"texts-{number:06}.jsonl", (chunk, index, shards))

    staged = map_to_files(count_chunk, tasks(), work, processes=processes)
    progress("counting names in texts", total, total)
    return staged, texts[0]


def count_chunk(passages: list[Passage], index: Path, shards: int, path: Path) -> None:
    """Write the unlinked occurrences in some passages as rows of the alias index."""
    stamp = (index / "keys-00.trie").stat()
    scanner = _scanner(index, shards, stamp.st_ino, stamp.st_mtime_ns)
    counted: Counter[str] = Counter()
    for text, links in passages:
        starts = [start for start, _ in links]
        for start, end in scanner.matches(text):
            if not links or not _linked(start, end, starts, links):
                counted[text[start:end]] += 1
    tidied: Counter[str] = Counter()
    for surface, count in counted.items():
        tidied[tidy(surface)] += count
    write_rows((row(surface, UNLINKED, count, 0) for surface, count in sorted(tidied.items())), path)


@lru_cache(maxsize=1)
def _scanner(index: Path, shards: int, inode: int, made: int) -> Scanner:
    """A process counts many chunks: what its scanner has learned of the words serves them all."""
    return Scanner(AliasIndex(index, shards))


def _linked(start: int, end: int, starts: list[int], links: tuple[tuple[int, int], ...]) -> bool:
    """Whether a span overlaps a link; the links are sorted and do not overlap each other."""
    before = bisect_right(starts, start) - 1
    if before >= 0 and links[before][1] > start:
        return True
    return before + 1 < len(links) and links[before + 1][0] < end


def _chunks(sources: Sequence[Source], left_out: Container[tuple[int, int]]) -> Iterator[tuple[list[Passage], int]]:
    """Passages in chunks of bounded size, each with the bytes read so far."""
    before, chunk, size = 0, [], 0
    for number, source in enumerate(sources):
        for record, page in enumerate(source):
            if (number, record) in left_out:
                continue
            for passage in _passages(page):
                chunk.append(passage)
                size += len(passage[0])
            if size >= CHUNK_CHARACTERS:
                yield chunk, before + source.position()
                chunk, size = [], 0
        before += source.size
    if chunk:
        yield chunk, before


def _passages(page: Page) -> Iterator[Passage]:
    if not page.paragraphs and page.entity.description:
        yield page.entity.description, ()
    for paragraph in page.paragraphs:
        yield paragraph.text, _joined(sorted((link.start, link.end) for link in paragraph.links))


def _joined(links: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Links that overlap as one, since a source may nest them."""
    joined: list[tuple[int, int]] = []
    for start, end in links:
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
