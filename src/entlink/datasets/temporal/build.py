"""A wiki's history to a dataset of mentions over time, in the way of TempEL: `build_temporal`, `extend_temporal`.

Made in a folder beside the target. A build that was killed goes on where it stopped when it is started again in the
same way.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from entlink.datasets.folder_target import CARD, FolderTarget
from entlink.datasets.temporal.card import ReadAs, TemporalReport
from entlink.datasets.temporal.options import PUBLISHED, TemporalOptions, checked
from entlink.datasets.temporal.plan import intervals
from entlink.datasets.temporal.rows import DATASHEET, FIGURES, read_temporal, snapshot_folder
from entlink.datasets.temporal.steps import HISTORY, Inputs, TemporalBuilder
from entlink.datasets.temporal.tokens import Tokens
from entlink.engine.local import LocalEngine
from entlink.engine.protocol import DEFAULT_MEMORY, Engine
from entlink.errors import InputError, NotFoundError
from entlink.io.atomic import put_in_place, write_lock, write_whole
from entlink.io.checksums import checksum
from entlink.io.ledger import OnError
from entlink.io.progress import Progress, ignore_progress
from entlink.io.resuming import PLAN, Stamp, stamps, take_up
from entlink.kb.build.read_history import check_one_wiki
from entlink.sources import Source, WikiOptions, open_source
from entlink.sources.mediawiki.history import HistoryOptions, snapshot_dates
from entlink.version import __version__

_PAGE_PROPS = "page_props"
_CHOICE = "options.json"  # in the folder of work: the options of what was made there of the reading


class _Plan(msgspec.Struct, frozen=True):
    """What a half-done build must have in common with the one that takes it up again, or else nothing is kept."""

    entlink: str
    sources: tuple[Stamp, ...]
    dates: tuple[str, ...]
    stable_interval: int
    reading: dict[str, Any]
    rules: str
    earlier: str


class Reading(msgspec.Struct, frozen=True):
    """How the sources are read, and with what."""

    language: str | None = None
    on_error: OnError = "stop"
    wiki: WikiOptions = WikiOptions()
    processes: int | None = None
    memory: str = DEFAULT_MEMORY


DEFAULT_READING = Reading()


def build_temporal(
    sources: Sequence[str | Path] | str | Path,
    out: str | Path,
    options: TemporalOptions = PUBLISHED,
    reading: Reading = DEFAULT_READING,
    *,
    replace: bool = False,
    command: str = "",
    progress: Progress = ignore_progress,
    engine: Engine | None = None,
) -> TemporalReport:
    """Write mentions of a wiki's entities as of each snapshot into the folder `out`; returns the card that is in it.

    Sources are full histories, and tables `page_props` for identifiers of Wikidata. It runs on this machine, or on an
    `engine` that is given, with that one's processes, memory and progress.

        build_temporal("history.xml.7z", "tempel", read_temporal_options("tempel-small"))
    """
    options = checked(msgspec.structs.asdict(options))
    Tokens(options.tokenizer)  # one that cannot be read is told before anything else is
    dates = snapshot_dates(options.snapshots)
    times = intervals(dates, (), options.first_interval)
    inputs = _inputs(sources, HistoryOptions(dates, options.stable_interval), reading)
    target = FolderTarget(Path(out), TemporalReport)
    target.check([source.path for source in inputs.all], replace=replace)
    engine = engine or LocalEngine(processes=reading.processes, memory=reading.memory, progress=progress)
    with target.making(_plan(inputs, dates, options, reading)) as made:
        _take_up_choice(target.work, options)
        builder = TemporalBuilder(engine, inputs, target.work, options, times)
        return builder.make(made, command)


def extend_temporal(
    sources: Sequence[str | Path] | str | Path,
    out: str | Path,
    snapshots: str | Sequence[str],
    reading: Reading = DEFAULT_READING,
    *,
    command: str = "",
    progress: Progress = ignore_progress,
    engine: Engine | None = None,
) -> TemporalReport:
    """Add snapshots to a dataset, with its own options; the rows that are there stay as they are.

    Continual entities are those of the dataset, and new rows are as many as the old ones where there are enough.
    """
    folder = Path(out)
    dataset = read_temporal(folder)
    card = _read_card(folder)
    options = checked(card.options)
    dates = snapshot_dates(snapshots)
    work = folder.with_name(folder.name + ".building")
    if _is_done(work, dates, card):
        with write_lock(work):
            _remove(work)
        return card
    if again := sorted({*dates} & {*dataset.dates}):
        raise InputError(f"{folder}: it has the snapshot {again[0]} already. Name others")
    times = intervals(dates, dataset.dates, options.first_interval)
    inputs = _inputs(sources, HistoryOptions(dates, options.stable_interval), reading)
    _check_alike(folder, card.read_as, inputs.read_as)
    engine = engine or LocalEngine(processes=reading.processes, memory=reading.memory, progress=progress)
    with write_lock(work):
        take_up(work, _plan(inputs, dates, options, reading, checksum(folder / CARD)))
        _take_up_choice(work, options)
        made = work / "made"
        report = TemporalBuilder(engine, inputs, work, options, times, dataset, card).make(made, command)
        _add(made, folder, dates)
        _remove(work)
    return report


def _is_done(work: Path, dates: tuple[str, ...], card: TemporalReport) -> bool:
    """Whether the folder of work was left by a run that put all in place, and was killed before it removed this."""
    if tuple(card.additions[-1].snapshots) != dates:
        return False
    try:
        plan = msgspec.json.decode((work / PLAN).read_bytes(), type=_Plan)
    except (FileNotFoundError, msgspec.MsgspecError):
        return False
    return bool(plan.earlier) and plan.dates == dates


def _remove(work: Path) -> None:
    """Remove a folder of work, its plan last, which tells what is left if this is not run to its end."""
    for leftover in work.iterdir():
        if leftover.is_dir():
            shutil.rmtree(leftover)
    shutil.rmtree(work)


def _check_alike(folder: Path, before: ReadAs | None, now: ReadAs) -> None:
    """Whether what is added is of the same wiki, read in the same way."""
    if before is None or before == now:
        return
    unlike = [
        f"{name} was {getattr(before, name)!r} and is now {getattr(now, name)!r}"
        for name in ReadAs.__struct_fields__
        if getattr(before, name) != getattr(now, name)
    ]
    raise InputError(
        f"{folder}: its snapshots were made of other pages: {'; '.join(unlike)}. Give the same, or build a dataset "
        "of its own"
    )


def _add(made: Path, folder: Path, dates: Sequence[str]) -> None:
    """Put new snapshots beside the others; the card, which names them, comes last."""
    for name in (*map(snapshot_folder, dates), FIGURES):
        if (folder / name).exists():  # of a run that was killed here, or the figures of before
            shutil.rmtree(folder / name)
        put_in_place(made / name, folder / name)
    for name in (DATASHEET, CARD):
        put_in_place(made / name, folder / name)


def _inputs(sources: Sequence[str | Path] | str | Path, history: HistoryOptions, reading: Reading) -> Inputs:
    given = [Path(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]
    for place, path in enumerate(given):
        if path.resolve() in [earlier.resolve() for earlier in given[:place]]:
            raise InputError(f"{path}: it is given twice. Give it once")
    opened = [
        open_source(path, on_error=reading.on_error, language=reading.language, wiki=reading.wiki) for path in given
    ]
    tables = [source for source in opened if _is_page_props(source)]
    histories = [source for source in opened if source not in tables]
    if not histories:
        raise InputError("there is no history. Give at least one dump pages-meta-history")
    for source in histories:
        if source.format != "mediawiki":
            raise InputError(f"{source.path}: this is no history of a wiki, but {source.format}. Leave it out")
    check_one_wiki(histories, "a dataset")
    return Inputs(histories, tables, history)


def _is_page_props(source: Source) -> bool:
    return source.format == "mediawiki-sql" and _PAGE_PROPS in source.path.name


def _plan(
    inputs: Inputs, dates: tuple[str, ...], options: TemporalOptions, reading: Reading, earlier: str = ""
) -> _Plan:
    told = {"language": reading.language, "on_error": reading.on_error, "wiki": msgspec.to_builtins(reading.wiki)}
    rules = reading.wiki.rules_checksum()
    return _Plan(__version__, stamps(inputs.all), dates, options.stable_interval, told, rules, earlier)


def _take_up_choice(work: Path, options: TemporalOptions) -> None:
    """Keep what a run of the same plan and options left; of one with other options only what it read."""
    stamp, encoded = work / _CHOICE, msgspec.json.encode(options)
    if not stamp.exists() or stamp.read_bytes() != encoded:
        stamp.unlink(missing_ok=True)  # first: what is cleared by half is of no options
        for leftover in work.iterdir():
            if leftover.name not in (PLAN, HISTORY, "write.lock"):
                shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        write_whole(stamp, encoded)
    (work / "made").mkdir(exist_ok=True)


def _read_card(folder: Path) -> TemporalReport:
    try:
        return msgspec.json.decode((folder / CARD).read_bytes(), type=TemporalReport)
    except (FileNotFoundError, msgspec.MsgspecError) as problem:
        raise NotFoundError(f"{folder / CARD}: it is no card of a temporal dataset ({problem})") from problem
