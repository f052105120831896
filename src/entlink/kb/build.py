"""Sources to a knowledge base: in a folder beside the target, step by step, moved into place at the end.

A build that was killed goes on where it stopped when the same command is run again.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from entlink.engine.local import DEFAULT_MEMORY, Progress, default_processes, ignore_progress
from entlink.errors import ExistsError, InputError
from entlink.kb.checksums import checksum, checksums
from entlink.kb.counts import BASE, LinkTotals, write_link_counts, write_occurrences
from entlink.kb.index import make_index
from entlink.kb.ingest import Checkpoint, ingest, read_doubles
from entlink.kb.manifest import Manifest, SourceCard
from entlink.kb.occurrences import count_occurrences
from entlink.kb.store import DATABASE, REPLACED, Store
from entlink.kb.writing import (
    create_indexes,
    create_store,
    empty_log,
    now,
    set_meta,
    transaction,
    write_lock,
    write_whole,
)
from entlink.sources import Source, open_source
from entlink.version import __version__

SUFFIX = ".building"
FIRST_INDEX = "index-1"


class BuildOptions(msgspec.Struct, frozen=True):
    """How to read the sources and how much of the machine to use."""

    format: str | None = None
    columns: Mapping[str, str] = {}
    language: str | None = None
    on_error: Literal["stop", "skip"] = "stop"
    count_text: bool = True
    memory: str = DEFAULT_MEMORY
    processes: int | None = None


class _Plan(msgspec.Struct, frozen=True):
    """What a half-done build must have in common with the command that takes it up again."""

    entlink: str
    sources: tuple[tuple[str, int, int], ...]
    format: str | None
    columns: dict[str, str]
    language: str | None
    on_error: str
    count_text: bool


def build(
    sources: Sequence[str | Path] | str | Path,
    out: str | Path,
    options: BuildOptions = BuildOptions(),
    *,
    replace: bool = False,
    command: str = "",
    progress: Progress = ignore_progress,
) -> Manifest:
    """Build a knowledge base from one or more sources; returns its manifest."""
    if isinstance(sources, str | Path):
        sources = [sources]
    target = Path(out)
    check_target(target, replace=replace)
    opened = [_open(source, options) for source in sources]
    work = target.with_name(target.name + SUFFIX)
    with write_lock(work):
        _take_up(work, _plan(opened, options))
        manifest = _run(work, opened, options, command, progress)
        move_into_place(work, target)
    return manifest


def check_target(target: Path, *, replace: bool) -> None:
    """Whether a knowledge base may be made there."""
    if target.suffix != ".kb":
        raise InputError(f"{target}: a knowledge base is a folder named like NAME.kb")
    if _replaced(target).exists() and not target.exists():
        _replaced(target).rename(target)  # a replacement was killed between its two renames
    if not target.exists():
        return
    if not (target / DATABASE).exists():
        raise ExistsError(f"{target} is there and is not a knowledge base: choose another name")
    if not replace:
        raise ExistsError(
            f"{target} is there already. --replace builds it anew; `entlink kb sync` takes in a changed table"
        )


def _open(source: str | Path, options: BuildOptions) -> Source:
    if not Path(source).exists():
        raise InputError(f"{source}: no such file or folder")
    return open_source(
        source,
        format=options.format,
        columns=options.columns or None,
        on_error=options.on_error,
        language=options.language,
    )


def _plan(sources: Sequence[Source], options: BuildOptions) -> _Plan:
    stamped = tuple((str(s.path.resolve()), s.size, s.path.stat().st_mtime_ns) for s in sources)
    return _Plan(
        __version__,
        stamped,
        options.format,
        dict(options.columns),
        options.language,
        options.on_error,
        options.count_text,
    )


def clear(work: Path) -> None:
    """Take away what an earlier build left, but for the lock that is held."""
    for leftover in work.iterdir():
        if leftover.name != "write.lock":
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()


def _take_up(work: Path, plan: _Plan) -> None:
    """Keep what an interrupted build of the same plan left; clear away that of another."""
    stamp = work / "plan.json"
    encoded = msgspec.json.encode(plan)
    if not stamp.exists() or stamp.read_bytes() != encoded:
        clear(work)
        create_store(work)
        write_whole(stamp, encoded)


def _run(work: Path, sources: Sequence[Source], options: BuildOptions, command: str, progress: Progress) -> Manifest:
    staging = work / "staging"
    store = Store(work, writable=True)
    try:
        _tune(store)
        read = ingest(store, sources, staging / "links", progress, skip=options.on_error == "skip")
        create_indexes(store)
        links = _count_links(store, staging, options)
        texts = _make_index(store, sources, staging, options, progress)
        manifest = _manifest(store, sources, read, links, texts, command)
        with transaction(store) as connection:
            set_meta(connection, "index", FIRST_INDEX)
            set_meta(connection, "added_weight", str(links.mean()))
            set_meta(connection, "texts", str(texts))
            set_meta(connection, "manifest", msgspec.json.encode(manifest).decode())
        empty_log(store)
        return manifest
    finally:
        store.close()


def _tune(store: Store) -> None:
    """A build that is killed starts again from its last commit, so commits need not wait for the disk."""
    store.connection.execute("PRAGMA synchronous = NORMAL")
    store.connection.execute("PRAGMA cache_size = -262144")
    store.connection.execute("PRAGMA wal_autocheckpoint = 20000")


def _count_links(store: Store, staging: Path, options: BuildOptions) -> LinkTotals:
    saved = staging / "links.json"
    if saved.exists():
        return msgspec.json.decode(saved.read_bytes(), type=LinkTotals)
    staged = sorted((staging / "links").glob("links-*.jsonl"))
    counts = store.folder / "counts" / BASE
    totals = write_link_counts(store, staged, counts, staging, memory=options.memory)
    write_whole(saved, msgspec.json.encode(totals))
    return totals


def _make_index(
    store: Store, sources: Sequence[Source], staging: Path, options: BuildOptions, progress: Progress
) -> int:
    """The alias index; with `count_text` the texts are scanned as soon as the dictionary is complete."""
    texts = [0]
    index = store.folder / FIRST_INDEX
    processes = options.processes or default_processes()

    def count_texts(shards: int) -> list[Path]:
        staged, texts[0] = count_occurrences(
            sources,
            index,
            shards,
            staging / "texts",
            progress,
            processes=processes if _large(sources) else 1,
            left_out=read_doubles(staging / "links"),
        )
        write_occurrences(staged, store.folder / "counts" / BASE, staging, memory=options.memory)
        return staged

    make_index(
        store,
        index,
        staging,
        memory=options.memory,
        processes=processes,
        progress=progress,
        count_texts=count_texts if options.count_text else None,
    )
    return texts[0]


def _large(sources: Sequence[Source]) -> bool:
    """Whether starting further processes pays."""
    return sum(source.size for source in sources) > 1_000_000


def _manifest(
    store: Store, sources: Sequence[Source], read: Checkpoint, links: LinkTotals, texts: int, command: str
) -> Manifest:
    cards = [
        SourceCard(
            source.path.name,
            source.format,
            source.size,
            checksum(source.path) if source.path.is_file() else "",
            records,
            skipped,
        )
        for source, records, skipped in zip(sources, read.read, read.skipped, strict=True)
    ]
    return Manifest(
        entlink=__version__,
        built=now(),
        command=command,
        sources=cards,
        entities=store.count(),
        links=links.resolved,
        links_unresolved=links.unresolved,
        texts=texts,
        counts=checksums(store.folder / "counts"),
        problems=read.problems[:100],
    )


def move_into_place(work: Path, target: Path) -> None:
    """The last step: from here on readers see the new knowledge base, or still the old one.

    What the build no longer needs goes only after the move, so that a kill just before it loses nothing.
    """
    if target.exists():
        shutil.rmtree(_replaced(target), ignore_errors=True)  # half removed by a replacement that was killed
        # Whoever is editing or indexing the old one must be done, or their work would go with it.
        with write_lock(target), write_lock(target, "index.lock"):
            target.rename(_replaced(target))
    work.rename(target)
    shutil.rmtree(_replaced(target), ignore_errors=True)
    shutil.rmtree(target / "staging", ignore_errors=True)
    (target / "plan.json").unlink(missing_ok=True)


def _replaced(target: Path) -> Path:
    return target.with_name(target.name + REPLACED)
