"""Linking over time: a bi-encoder for each snapshot, asked about every snapshot, among all entities of that one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import msgspec

from entlink.datasets.temporal import TemporalDataset, read_temporal
from entlink.datasets.temporal.rows import SUBSETS, snapshot_folder
from entlink.errors import InputError
from entlink.io.atomic import write_lock
from entlink.io.progress import Progress, ignore_progress
from entlink.io.resuming import file_stamps
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.studies.data import NOT_THERE, published_figures
from entlink.studies.place import LOCK, Place, take_place
from entlink.studies.settings import MISSING
from entlink.studies.systems import BI_ENCODER, ZERO_SHOT
from entlink.studies.time.asked import Asked, Mark, asked_of, pool_of
from entlink.studies.time.bases import Bases
from entlink.studies.time.categories import CONTINUAL, NEW, Categories
from entlink.studies.time.emerging import Emergence, Way, trained_way
from entlink.studies.time.expected import Expected, expected, rate_of
from entlink.studies.time.linkers import LinkerSystem
from entlink.studies.time.means import Means, by_target, difference, estimate, matrix_rows
from entlink.studies.time.results import (
    Emerging,
    MatrixRow,
    Mean,
    SnapshotFacts,
    TimeOptions,
    TimeStudy,
    Training,
)
from entlink.studies.time.training import config_of, model_folder, train_on
from entlink.version import __version__

if TYPE_CHECKING:
    from entlink.interfaces import DualEncoder
    from entlink.learning.train_config import TrainConfig
    from entlink.linking.config import LinkerConfig

PLAIN = "plain encoder"
_PAPER, _TABLES = "tempel", ("5", "6", "7", "8", "9", "10", "11")
_CHARACTERS_A_TOKEN = 6


def study_time(
    data: str | Path,
    out: str | Path,
    linkers: Sequence[tuple[str, LinkerConfig | str | Path]] = (),
    options: TimeOptions | None = None,
    *,
    replace: bool = False,
    command: str = "",
    progress: Progress = ignore_progress,
    tell: Callable[[Expected], None] | None = None,
) -> TimeStudy:
    """Train a bi-encoder on each snapshot of a temporal dataset and measure it, and `linkers`, on all of them.

    What was done is kept in the folder `out`: the same call goes on where an interrupted one stopped, and a linker
    that is added later costs its own time only. `tell` is given how much work it will be, before it begins.
    """
    options, folder = options or TimeOptions(), Path(out)
    start = perf_counter()
    read = read_temporal(data)
    dates = _chosen(read, options)
    _check(options, [name for name, _ in linkers])
    categories = Categories(options.categories)
    systems = [LinkerSystem(name, config, max(options.ks)) for name, config in linkers]
    training = config_of(options)
    plan = _plan(read, dates, options, training)
    with write_lock(folder):
        try:
            place = take_place(folder, plan, {"depth", "training"}, replace=replace)
            run = _Run(place, read, dates, options, training, categories, progress)
            if tell is not None:
                tell(run.expected())
            rows, means = run.matrices(systems)
            emerging = run.emerging(systems) if options.emerging else []
        finally:
            (folder / LOCK).unlink(missing_ok=True)
    published = published_figures(_PAPER, _TABLES)
    return TimeStudy(
        dataset=read.folder.name or str(read.folder),
        entlink=__version__,
        options=options,
        training=msgspec.to_builtins(training) if options.train else None,
        snapshots=run.facts,
        trainings=run.trainings,
        systems=run.systems,
        categories=[CONTINUAL, NEW, *categories.names],
        rows=rows,
        means=means,
        emerging=emerging,
        notes=[*run.notes, *([] if published else [NOT_THERE])],
        published=published,
        seconds=round(perf_counter() - start, 1),
        command=command,
    )


def _chosen(data: TemporalDataset, options: TimeOptions) -> list[str]:
    """The snapshots to study, by their stamps or as their folders are called, the earliest first."""
    if not data.dates:
        raise InputError(f"{data.folder}: the dataset has no snapshot. Build it with --snapshots")
    names = {name: date for date in data.dates for name in (date, snapshot_folder(date))}
    for name in options.snapshots:
        if name not in names:
            there = ", ".join(map(snapshot_folder, data.dates))
            raise InputError(f"{data.folder}: it has no snapshot {name}. It has {there}")
    wanted = {names[name] for name in options.snapshots} or set(data.dates)
    return [date for date in data.dates if date in wanted]


def _check(options: TimeOptions, linkers: Sequence[str]) -> None:
    if not options.ks:
        raise InputError("there is no K to measure accuracy at. Give at least one, such as 1")
    twice = next((name for name in linkers if linkers.count(name) > 1 or name in (BI_ENCODER, PLAIN)), None)
    if twice is not None:
        raise InputError(f"a system is called {twice!r} already. Give each linker a name of its own")


def _plan(
    data: TemporalDataset, dates: Sequence[str], options: TimeOptions, training: TrainConfig
) -> dict[str, object]:
    """What a study must have in common with one that it goes on with."""
    folders = [data.folder / snapshot_folder(date) for date in dates]
    files = [folder / name for folder in folders for name in (*(f"{one}.jsonl" for one in SUBSETS), "entities.jsonl")]
    missing = next((path for path in files if not path.is_file()), None)
    if missing is not None:
        raise InputError(f"{missing}: this file is not there. Build the dataset to its end")
    return {
        "files": file_stamps(files),
        "depth": max(options.ks),
        "training": training,
        "steps": None if options.minutes else options.steps,
        "minutes": options.minutes,
    }


class _Run:
    """A study under way."""

    def __init__(
        self,
        place: Place,
        data: TemporalDataset,
        dates: Sequence[str],
        options: TimeOptions,
        training: TrainConfig,
        categories: Categories,
        progress: Progress,
    ) -> None:
        self._place, self._data, self._dates = place, data, dates
        self._options, self._categories, self._progress = options, categories, progress
        self._training = training
        self._bases = Bases(place, data, progress)
        self.trainings: list[Training] = []
        self.systems: dict[str, str] = {}
        self.notes: list[str] = []
        self._texts: set[int] = set()
        self._marks: dict[str, list[Mark]] = {}
        self.facts = [self._look_at(date) for date in dates]
        self._check()
        self._plain = self._plain_encoder()

    def _look_at(self, date: str) -> SnapshotFacts:
        """Count what a snapshot has, and note what each of its mentions counts for."""
        self._progress("counting", len(self._marks), len(self._dates))
        pool = set()
        for entity in pool_of(self._data, date):
            pool.add(entity.id)
            read = entity.description[: self._training.model.entity_tokens * _CHARACTERS_A_TOKEN]
            self._texts.add(hash((entity.title, read)))
        of_new = self._categories.of
        marks = self._marks[date] = [
            Mark(one.target, one.category, of_new(one.title) if one.category == NEW else CONTINUAL)
            for one in asked_of(self._data, date, "test")
        ]
        train, validation = (sum(1 for _ in self._data.rows(date, subset)) for subset in SUBSETS[:2])
        new = sum(mark.entities == NEW for mark in marks)
        missing = sum(mark.target not in pool for mark in marks)
        return SnapshotFacts(date, len(pool), train, validation, len(marks) - new, new, missing)

    def _check(self) -> None:
        folder = self._data.folder
        empty = next((one.date for one in self.facts if not one.entities), None)
        if empty is not None:
            raise InputError(f"{folder}: {empty} has no entities to choose from. Build the dataset again")
        if not any(self._marks.values()):
            raise InputError(f"{folder}: no snapshot has a mention to test with. Build it with wider filters")
        for one in self.facts:
            if one.missing:
                self.notes.append(
                    f"{snapshot_folder(one.date)}: the targets of {one.missing} mentions are not among its entities: "
                    "nobody is right there"
                )
            if max(self._options.ks) >= one.entities:
                self.notes.append(
                    f"{snapshot_folder(one.date)} has {one.entities:,} entities: accuracy at such a K says nothing"
                )
        if len(self._dates) == 1:
            self.notes.append("there is one snapshot only, so nothing is out of snapshot")
        if not any(one.new for one in self.facts):
            self.notes.append("no snapshot has mentions of new entities")

    def _plain_encoder(self) -> DualEncoder | None:
        try:
            from entlink.encoders.dual import load_dual

            return load_dual(self._training.model.base)
        except MISSING as problem:
            self.notes.append(f"{PLAIN} has no scores: {problem}")
            return None

    def expected(self) -> Expected:
        """The work there is."""
        rate = rate_of(self._plain, self._data, self._dates[0]) if self._plain else None
        mentions = sum(map(len, self._marks.values()))
        return expected(
            len(self._texts), [one.train for one in self.facts], mentions, self._options, self._training, rate
        )

    # Accuracy on all snapshots

    def matrices(self, linkers: list[LinkerSystem]) -> tuple[list[MatrixRow], list[Mean]]:
        """Accuracy of every system on each snapshot, and its means."""
        options, rows, found = self._options, list[MatrixRow](), list[Mean]()
        means = Means(self._marks, self._categories.names, options)
        trained = self._trained() if options.train else {}
        for train, ranks in trained.items():
            rows += matrix_rows(BI_ENCODER, train, ranks, self._marks, options.ks)
        if trained:
            found += means.of_trained(BI_ENCODER, trained)
        for system, ranks in [*self._untrained(), *self._of_linkers(linkers)]:
            rows += matrix_rows(system, None, ranks, self._marks, options.ks)
            found += means.of_untrained(system, ranks)
        return rows, found

    def _trained(self) -> dict[str, dict[str, list[int]]]:
        for date in self._dates:
            self.trainings.append(
                train_on(self._place, self._data, date, self._bases, self._options, self._training, self._progress)
            )
        self.systems[BI_ENCODER] = f"trained from {self._training.model.base} on each snapshot"
        from entlink.encoders.dual import load_dual

        found = {}
        for train in self._dates:
            load = partial(load_dual, model_folder(self._place, train))
            found[train] = self._ranks(f"bi-encoder/{snapshot_folder(train)}", load)
        return found

    def _untrained(self) -> Iterator[tuple[str, dict[str, list[int]]]]:
        plain = self._plain
        if plain is not None:
            self.systems[PLAIN] = f"{plain.identity}, not trained on mentions"
            yield PLAIN, self._ranks("plain", lambda: plain)

    def _ranks(self, name: str, load: Callable[[], DualEncoder]) -> dict[str, list[int]]:
        """The places of all targets by one encoder, by snapshot."""
        from entlink.kb.indexes.vectors.store import ContentVectors
        from entlink.studies.time.ranks import encoded_pool, ranks_by_vectors

        kept: list[ContentVectors] = []

        def make(test: str, entities: int) -> list[int]:
            if not kept:
                kept.append(ContentVectors(self._place.folder, load()))
            dual, told = kept[0].dual, f"{name} on {snapshot_folder(test)}"
            encoding, asking = f"{told}: encoding entities", f"{told}: asking"
            pool = encoded_pool(pool_of(self._data, test), entities, kept[0], self._progress, encoding)
            return ranks_by_vectors(dual, pool, self._asked(test), self._progress, asking)

        return {
            one.date: self._place.kept(
                f"ranks/{name}/{snapshot_folder(one.date)}.json", list[int], partial(make, one.date, one.entities)
            )
            for one in self.facts
        }

    def _of_linkers(self, linkers: list[LinkerSystem]) -> Iterator[tuple[str, dict[str, list[int]]]]:
        for system in linkers:
            if self._is_ready(system):
                self.systems[system.name] = "over the entities of each snapshot as a knowledge base"
                yield system.name, {date: self._of_linker(system, date) for date in self._dates}

    def _is_ready(self, system: LinkerSystem) -> bool:
        """Whether a linker can run on this machine; what it lacks is noted once."""
        try:
            with KnowledgeBase.open(self._bases.path(self._dates[0])) as kb:
                told = system.prepare(kb)
        except MISSING as problem:
            told = [f"{system.name} has no scores: {problem}"]
            self.notes += [one for one in told if one not in self.notes]
            return False
        self.notes += [one for one in told if one not in self.notes]
        return True

    def _of_linker(self, system: LinkerSystem, date: str) -> list[int]:
        def make() -> list[int]:
            for dual in system.encoders():
                self._bases.index_vectors(date, dual)
            stage = f"{system.name} on {snapshot_folder(date)}"
            return system.ranks(self._bases.path(date), self._asked(date), self._progress, stage)

        return self._place.kept(f"ranks/{system.key}/{snapshot_folder(date)}.json", list[int], make)

    def _asked(self, date: str) -> list[Asked]:
        return list(asked_of(self._data, date, "test"))

    # New entities in use

    def emerging(self, linkers: Sequence[LinkerSystem]) -> list[Emerging]:
        """Accuracy on the new entities of each snapshot but the first, added or built and trained for."""
        found = []
        depth = max(self._options.ks)
        systems = [one for one in linkers or [LinkerSystem(ZERO_SHOT, ZERO_SHOT, depth)] if self._is_ready(one)]
        work = Emergence(self._place, self._data, self._bases, self._progress)
        for earlier, later in pairwise(self._dates):
            asked = [one for one in self._asked(later) if one.category == NEW]
            if not asked:
                continue
            ways = [Way(one.name, one, one) for one in systems]
            if self._options.train:
                seconds = next(one.seconds for one in self.trainings if one.date == later)
                ways.append(trained_way(self._place, earlier, later, depth, seconds))
            found += [self._emerged(work, way, earlier, later, asked) for way in ways]
        return found

    def _emerged(self, work: Emergence, way: Way, earlier: str, later: str, asked: Sequence[Asked]) -> Emerging:
        marks = [mark for mark in self._marks[later] if mark.entities == NEW]
        added, rebuilt = work.added(way, earlier, later, asked), work.rebuilt(way, later, asked)
        columns = {
            k: (by_target(marks, added.ranks, NEW, k), by_target(marks, rebuilt.ranks, NEW, k))
            for k in self._options.ks
        }
        return Emerging(
            way.name,
            earlier,
            later,
            added.entities,
            len(marks),
            len({mark.target for mark in marks}),
            {k: estimate(first, self._options) for k, (first, _) in columns.items()},
            {k: estimate(second, self._options) for k, (_, second) in columns.items()},
            {k: difference(*both, self._options) for k, both in columns.items()},
            added.seconds,
            rebuilt.seconds,
        )
