"""A wiki's full history to a knowledge base with snapshots: each one is built by the usual steps, from its own pages.

All is made in `NAME.kb.building/`, which comes into place at the end. The history is read once, for all dates; then
the snapshots are made one after the other, the latest first. What is finished is not made again after a kill. A later
call adds snapshots to a knowledge base that is there: each comes into place by itself, and nothing else is touched.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from entlink.engine.local import LocalEngine
from entlink.engine.protocol import Engine
from entlink.errors import InputError, NotFoundError
from entlink.io.atomic import put_in_place, write_lock, write_whole
from entlink.io.checksums import checksum
from entlink.io.progress import Progress, ignore_progress
from entlink.io.resuming import PLAN, Stamp, stamps, take_up
from entlink.kb.build.from_sources import (
    SUFFIX,
    BuildOptions,
    check_target,
    move_into_place,
    open_to_build,
    telling_of_leftovers,
    tune,
)
from entlink.kb.build.read_history import check_one_wiki, read_history
from entlink.kb.build.source_parts import PROBLEMS_KEPT, Omissions
from entlink.kb.build.steps import EXPORT, Building
from entlink.kb.snapshots.folders import SNAPSHOTS, date_of, folder_of, short, snapshot_folders, told
from entlink.kb.snapshots.part_source import HISTORY, SnapshotSource
from entlink.kb.store.manifest import Manifest, SourceCard, manifest_of
from entlink.kb.store.store import DATABASE, TEXTS_AT, Store
from entlink.kb.store.texts import TEXTS, TextWriter, writing_texts
from entlink.kb.store.writing import create_store, empty_log, set_meta, transaction
from entlink.sources import STABLE_INTERVAL, HistoryOptions, Source, snapshot_dates
from entlink.version import __version__

MADE_WITH = "made_with"  # in `meta` of a snapshot: the options that those beside it must have in common with it
_HISTORY, _WANTED, _CARDS = "staging/history", "staging/wanted.json", "staging/sources.json"
_TEXTS_OF_SNAPSHOT = f"../../{TEXTS}"
_COPIED = ("counts", "index-1")  # what the newest snapshot and the knowledge base itself have in common


class SnapshotsBuilt(NamedTuple):
    """The manifest of each snapshot that was made, by its date; which dates have none; which were there before."""

    made: dict[str, Manifest]
    empty: tuple[str, ...]
    there: tuple[str, ...] = ()


class _MadeWith(msgspec.Struct, frozen=True):
    """What all snapshots of a knowledge base must have been made with alike."""

    wiki: str
    stable_interval: int
    ids: str
    namespaces: tuple[str, ...]
    language: str | None
    descriptions: str
    count_text: bool
    names_in_openings: bool
    rules: str


class _Plan(msgspec.Struct, frozen=True):
    """What a half-done build must have in common with the command that takes it up again."""

    entlink: str
    sources: tuple[Stamp, ...]
    dates: tuple[str, ...]
    adding: bool
    made_with: _MadeWith
    on_error: str
    limits: tuple[float, int]


def build_snapshots(
    sources: Sequence[str | Path] | str | Path,
    out: str | Path,
    dates: str | Sequence[str],
    options: BuildOptions = BuildOptions(),
    *,
    stable_interval: int = STABLE_INTERVAL,
    add: bool = False,
    replace: bool = False,
    command: str = "",
    progress: Progress = ignore_progress,
    engine: Engine | None = None,
) -> SnapshotsBuilt:
    """Build a knowledge base with a snapshot for each of the dates from a wiki's full history.

    Dates are given one by one, or as `2013-01-01/2022-01-01/yearly`. Of each page a snapshot has the version that
    stood longest in the `stable_interval` seconds before it. The knowledge base itself begins as the newest snapshot,
    and is what edits change. A date on which there was no page has no snapshot, which is told as a warning.

    With `add` the knowledge base is there already: it gets those of the snapshots that it lacks, and stays as it is.
    It runs on this machine, or on an `engine` that is given, with that one's processes, memory and progress.
    """
    history = HistoryOptions(snapshot_dates(dates), stable_interval)
    target, paths = Path(out), [sources] if isinstance(sources, str | Path) else list(sources)
    opened = _histories(paths, options)
    made_with = _made_with(opened[0].wiki or "", options, stable_interval)
    if add:
        _check_can_add(target, made_with)
    else:
        check_target(target, replace=replace)
    work = target.with_name(target.name + SUFFIX)
    leftovers = "keeps what was done: run the command again to go on from there"
    with write_lock(work), telling_of_leftovers(work, leftovers):
        take_up(work, _plan(opened, history, options, made_with, adding=add))
        (work / "staging").mkdir(exist_ok=True)
        before = _there(target, history) if add else ()
        wanted = _wanted(work, [date for date in history.dates if date not in before])
        there = tuple(date for date in history.dates if date not in wanted)
        built = SnapshotsBuilt({}, ())
        if wanted:
            base = target if add else work
            steps = _Steps(opened, work, base, options, made_with, command, progress, engine)
            built = steps.run(msgspec.structs.replace(history, dates=wanted))
        if add:
            for leftover in (target / SNAPSHOTS).glob(f"*{SUFFIX}"):
                shutil.rmtree(leftover)  # of another command, which nobody ran to its end
            shutil.rmtree(work)
            return built._replace(there=there)
        _check_any(built, opened, work)
        _begin_as(work, snapshot_folders(work)[-1])
        move_into_place(work, target)
    return built


def _made_with(name: str, options: BuildOptions, stable_interval: int) -> _MadeWith:
    wiki = options.wiki
    return _MadeWith(
        name,
        stable_interval,
        wiki.ids,
        wiki.namespaces,
        options.language,
        options.described_by,
        options.count_text,
        options.names_in_openings,
        wiki.rules_checksum(),
    )


def _plan(
    sources: Sequence[Source], history: HistoryOptions, options: BuildOptions, made_with: _MadeWith, *, adding: bool
) -> _Plan:
    limits = options.wiki.page_seconds, options.wiki.page_megabytes
    return _Plan(__version__, stamps(sources), history.dates, adding, made_with, options.on_error, limits)


def _histories(paths: Sequence[str | Path], options: BuildOptions) -> list[Source]:
    if options.limit is not None:
        raise InputError("a limit of pages does not go with snapshots: make them of a smaller history")
    if options.wiki.ids == "wikidata":
        raise InputError(
            "Wikidata ids do not go with snapshots: the table page_props tells of today. Leave ids as titles or pages"
        )
    opened = [open_to_build(path, options) for path in paths]
    for source in opened:
        if source.format != EXPORT:
            raise InputError(
                f"{source.path}: snapshots are made of a wiki's full history, an XML export with all revisions, "
                f"and this is {source.format}. Leave it out"
            )
    check_one_wiki(opened, "a knowledge base")
    return opened


def _check_can_add(target: Path, made_with: _MadeWith) -> None:
    """Whether the knowledge base has snapshots, made with the same options."""
    snapshots = snapshot_folders(target)
    if not snapshots:
        raise NotFoundError(
            f"{target}: no knowledge base with snapshots is there. Make one with "
            f"`entlink kb build HISTORY -o {target} --snapshots DATES`"
        )
    with closing(Store(snapshots[-1])) as store:
        before = msgspec.json.decode(store.meta(MADE_WITH), type=_MadeWith)
    unlike = [
        f"{name} was {getattr(before, name)!r} and is now {getattr(made_with, name)!r}"
        for name in _MadeWith.__struct_fields__
        if getattr(before, name) != getattr(made_with, name)
    ]
    if unlike:
        raise InputError(
            f"{target}: its snapshots were made with other options: {'; '.join(unlike)}. Give the same, or build a "
            "knowledge base of its own"
        )


def _there(target: Path, history: HistoryOptions) -> tuple[str, ...]:
    dates = set(map(date_of, snapshot_folders(target)))
    return tuple(date for date in history.dates if date in dates)


def _wanted(work: Path, missing: Sequence[str]) -> tuple[str, ...]:
    """The dates to make snapshots of: settled at the first run, since later ones find some that it made."""
    path = work / _WANTED
    if not path.exists():
        write_whole(path, msgspec.json.encode(missing))
    return msgspec.json.decode(path.read_bytes(), type=tuple[str, ...])


def _check_any(built: SnapshotsBuilt, sources: Sequence[Source], work: Path) -> None:
    if not snapshot_folders(work):
        shutil.rmtree(work)  # nobody would go on from there
        names = ", ".join(source.path.name for source in sources)
        raise InputError(f"no page of {names} was there on {told(list(built.empty))}. Give later dates")


class _Steps:
    """The history read, and each snapshot made of it; what is finished is not done again."""

    def __init__(
        self,
        sources: Sequence[Source],
        work: Path,
        base: Path,
        options: BuildOptions,
        made_with: _MadeWith,
        command: str,
        progress: Progress,
        engine: Engine | None,
    ) -> None:
        self._given_engine = engine
        self._sources, self._work, self._base, self._options = sources, work, base, options
        self._made_with, self._command, self._progress = made_with, command, progress

    def run(self, history: HistoryOptions) -> SnapshotsBuilt:
        """The snapshots of all dates, the latest first: it has most of the texts."""
        read = read_history(self._engine(), self._sources, self._work / _HISTORY, history)
        cards = self._cards(read.omitted)
        made: dict[str, Manifest] = {}
        empty: list[str] = []
        with writing_texts(self._base / TEXTS) as texts:
            for place, date in reversed(list(enumerate(history.dates))):
                wiki = self._sources[0].wiki or ""
                source = SnapshotSource(self._work / _HISTORY, read.parts, place, wiki)
                manifest = self._snapshot(date, source, cards, read.omitted.problems, texts)
                if manifest is not None:
                    made[date] = manifest
                else:
                    empty.insert(0, date)
        if empty and (made or self._base != self._work):
            logging.getLogger(__name__).warning("no page was there on %s: no snapshot was made of it", told(empty))
        return SnapshotsBuilt(dict(sorted(made.items())), tuple(empty))

    def _cards(self, omitted: Omissions) -> list[SourceCard]:
        """What the manifests say of the history: each file, and with the first of them what was left out of all."""
        path = self._work / _CARDS
        if not path.exists():
            cards = [
                SourceCard(source.path.name, HISTORY, source.size, checksum(source.path), 0, 0)
                for source in self._sources
            ]
            cards[0].skipped, cards[0].left_out = omitted.skipped, omitted.left_out
            write_whole(path, msgspec.json.encode(cards))
        return msgspec.json.decode(path.read_bytes(), type=list[SourceCard])

    def _snapshot(
        self, date: str, source: SnapshotSource, cards: list[SourceCard], problems: list[str], texts: TextWriter
    ) -> Manifest | None:
        """The manifest of a finished snapshot, which is made if it is not there; None where there was no page."""
        folder = folder_of(self._base, date)
        if (folder / DATABASE).exists():
            with closing(Store(folder)) as store:
                return manifest_of(store)
        work = folder.with_name(folder.name + SUFFIX)
        work.mkdir(parents=True, exist_ok=True)
        take_up(work, _SnapshotPlan((self._work / PLAN).read_text()), _create_sharing)
        with closing(Store(work, writable=True)) as store:
            tune(store)
            manifest = Building(
                self._engine(f"{short(date)}: "), store, [source], self._options, self._command, texts=texts
            ).run()
            first, *rest = cards
            records = manifest.sources[0].records
            manifest.sources = [msgspec.structs.replace(first, records=records), *rest]
            manifest.problems = [*problems, *manifest.problems][:PROBLEMS_KEPT]
            with transaction(store) as connection:
                set_meta(connection, "manifest", msgspec.json.encode(manifest).decode())
                set_meta(connection, MADE_WITH, msgspec.json.encode(self._made_with).decode())
            empty_log(store)
        if not manifest.entities:
            shutil.rmtree(work)
            return None
        texts.settle()  # what it needs is on the disk before it is there
        shutil.rmtree(work / "staging")
        (work / PLAN).unlink()
        (work / "write.lock").unlink(missing_ok=True)
        put_in_place(work, folder)
        return manifest

    def _engine(self, before: str = "") -> Engine:
        """The engine that was given, or one of this machine that tells of its steps with the date before them."""
        if self._given_engine is not None:
            return self._given_engine

        def told_of(stage: str, done: float, total: float) -> None:
            self._progress(f"{before}{stage}", done, total)

        return LocalEngine(processes=self._options.processes, memory=self._options.memory, progress=told_of)


class _SnapshotPlan(msgspec.Struct, frozen=True):
    """What a half-done snapshot is of: the plan of the whole build, as it is written."""

    of: str


def _create_sharing(folder: Path) -> None:
    """An empty store that shares the texts of the knowledge base that it is a snapshot of."""
    create_store(folder)
    with closing(Store(folder, writable=True)) as store, transaction(store) as connection:
        set_meta(connection, TEXTS_AT, _TEXTS_OF_SNAPSHOT)


def _begin_as(folder: Path, snapshot: Path) -> None:
    """The knowledge base itself, as the snapshot is: its own store, which edits change, and the same indexes.

    Indexes and counts are never changed in place, so that both have the same files, where the disk can do that.
    """
    for name in _COPIED:
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(snapshot / name, folder / name, copy_function=_linked)
    copied = folder / f"{DATABASE}.partial"
    shutil.copyfile(snapshot / DATABASE, copied)
    copied.replace(folder / DATABASE)
    with closing(Store(folder, writable=True)) as store:
        with transaction(store) as connection:
            set_meta(connection, TEXTS_AT, TEXTS)
        empty_log(store)


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
