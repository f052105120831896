"""The first pass of a build: pages into the store, their links into staged counts, in restartable chunks."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from entlink.engine.local import Progress
from entlink.errors import FieldError
from entlink.kb.names import LONGEST_NAME, tidy
from entlink.kb.staging import write_rows
from entlink.kb.store import Store
from entlink.kb.versions import add_version, check_apart, stated_version, version_from, with_dates_in_utc
from entlink.kb.writing import insert_entity, set_meta, transaction

if TYPE_CHECKING:
    from entlink.sources import Page, Source

DOUBLES = "doubles.txt"
CHUNK_PAGES = 20_000
CHUNK_CHARACTERS = 16_000_000  # pages may be whole articles: a chunk is held in memory


PROBLEMS_KEPT = 100  # messages; the rest are only counted


class StagedLink(msgspec.Struct):
    """How often a surface links to a target in one chunk; `o` is the id of the linking entity."""

    o: str
    f: str
    t: str
    n: int


class Checkpoint(msgspec.Struct):
    """How far ingestion got: everything before this is committed."""

    source: int = 0
    records: int = 0
    chunks: int = 0
    duplicates: int = 0
    skipped: list[int] = []
    read: list[int] = []
    problems: list[str] = []


def ingest(store: Store, sources: Sequence[Source], links: Path, progress: Progress, *, skip: bool) -> Checkpoint:
    """Read every source into the store, going on from the last committed chunk."""
    links.mkdir(parents=True, exist_ok=True)
    saved = store.meta("checkpoint")
    checkpoint = msgspec.json.decode(saved, type=Checkpoint) if saved else Checkpoint()
    total = sum(source.size for source in sources)
    for number in range(checkpoint.source, len(sources)):
        source, before = sources[number], sum(other.size for other in sources[:number])
        for chunk in _chunks(islice(iter(source), checkpoint.records, None)):
            _ingest_chunk(store, source, chunk, links, checkpoint, skip=skip)
            progress("reading", before + source.position(), total)
        checkpoint.read.append(checkpoint.records)
        checkpoint.skipped.append(source.skipped + checkpoint.duplicates)
        checkpoint.problems += source.problems[: PROBLEMS_KEPT - len(checkpoint.problems)]
        checkpoint.source, checkpoint.records, checkpoint.duplicates = number + 1, 0, 0
        with transaction(store) as connection:
            set_meta(connection, "checkpoint", msgspec.json.encode(checkpoint).decode())
    progress("reading", total, total)
    return checkpoint


def _chunks(pages: Iterator[Page]) -> Iterator[list[Page]]:
    """Pages in chunks of bounded number and size."""
    chunk: list[Page] = []
    size = 0
    for page in pages:
        chunk.append(page)
        size += len(page.entity.description) + sum(len(paragraph.text) for paragraph in page.paragraphs)
        if len(chunk) >= CHUNK_PAGES or size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _ingest_chunk(
    store: Store, source: Source, chunk: list[Page], links: Path, checkpoint: Checkpoint, *, skip: bool
) -> None:
    """One transaction: a chunk's entities, its staged links and the new checkpoint, or none of them."""
    kept = []
    with transaction(store) as connection:
        for offset, page in enumerate(chunk):
            try:
                _ingest_page(store, connection, page)
                kept.append(page)
            except FieldError as error:
                problem = error.at(source.path, f"record {checkpoint.records + offset + 1}")
                if not skip:
                    raise problem from None
                checkpoint.duplicates += 1
                _note_double(links, checkpoint.source, checkpoint.records + offset)
                if len(checkpoint.problems) < PROBLEMS_KEPT:
                    checkpoint.problems.append(str(problem))
        write_rows(_staged_links(kept), links / f"links-{checkpoint.chunks:06}.jsonl")
        checkpoint.records += len(chunk)
        checkpoint.chunks += 1
        set_meta(connection, "checkpoint", msgspec.json.encode(checkpoint).decode())


def _note_double(links: Path, source: int, record: int) -> None:
    """Note a record that was left out; a chunk that is read again notes it again, which does no harm."""
    with (links / DOUBLES).open("a", encoding="ascii") as file:
        file.write(f"{source} {record}\n")


def read_doubles(links: Path) -> set[tuple[int, int]]:
    """Number of source and record of everything that was left out as a double."""
    path = links / DOUBLES
    lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
    return {(int(source), int(record)) for source, record in map(str.split, lines)}


def _ingest_page(store: Store, connection: sqlite3.Connection, page: Page) -> None:
    """A new entity, or a further version of one that is there already.

    Without dates it is the version that has always held, in whatever order the versions come.
    """
    page = with_dates_in_utc(page)
    try:
        insert_entity(connection, page.entity, page.valid_from, page.valid_to)
    except sqlite3.IntegrityError:
        _ingest_version(store, connection, page)


def _ingest_version(store: Store, connection: sqlite3.Connection, page: Page) -> None:
    key = store.key(page.entity.id)
    assert key is not None
    versions, new = store.stated_versions(key), stated_version(page)
    if version_from(versions, new.valid_from):
        raise FieldError(
            f"the id {page.entity.id!r} appears a second time",
            "Ids must be unique (each dated version needs its own valid_from); --on-error skip keeps the first",
        )
    try:
        check_apart([*versions, new])
    except FieldError as error:
        raise error.of("id", page.entity.id) from None
    add_version(connection, key, versions[0], new)


def _staged_links(chunk: list[Page]) -> Iterator[StagedLink]:
    for page in chunk:
        counted: Counter[tuple[str, str]] = Counter()
        for paragraph in page.paragraphs:
            for anchor in paragraph.links:
                counted[tidy(paragraph.text[anchor.start : anchor.end]), anchor.target] += 1
        for (surface, target), count in counted.items():
            if 0 < len(surface) <= LONGEST_NAME:
                yield StagedLink(page.entity.id, surface, target, count)
