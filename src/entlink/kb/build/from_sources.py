"""Sources to a knowledge base: in a folder beside the target, step by step, moved into place at the end.

A build that was killed goes on where it stopped when the same command is run again.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from entlink.engine.local import LocalEngine
from entlink.engine.protocol import Engine
from entlink.errors import ExistsError, InputError
from entlink.io.atomic import put_in_place, write_lock
from entlink.io.files import check_is_path
from entlink.io.progress import Progress, ignore_progress
from entlink.io.resuming import PLAN, Stamp, stamps, take_up
from entlink.kb.build.steps import EXPORT, TABLES, Building, BuildOptions
from entlink.kb.build.wikidata_items import WIKIDATA, types_to_drop
from entlink.kb.store.manifest import Manifest
from entlink.kb.store.store import DATABASE, REPLACED, Store
from entlink.kb.store.writing import create_store
from entlink.sources import Source, WikiOptions, open_source, table_of
from entlink.version import __version__

__all__ = ["BuildOptions", "build", "check_found", "check_target", "move_into_place", "telling_of_leftovers"]

SUFFIX = ".building"
_ORDER = {TABLES: 0, WIKIDATA: 1}  # what a page is joined with is read before it


class _Plan(msgspec.Struct, frozen=True):
    """What a half-done build must have in common with the command that takes it up again."""

    entlink: str
    sources: tuple[Stamp, ...]
    format: str | None
    columns: dict[str, str]
    language: str | None
    on_error: str
    count_text: bool
    descriptions: str
    names_in_openings: bool
    limit: int | None
    wiki: WikiOptions
    rules: str


def build(
    sources: Sequence[str | Path] | str | Path,
    out: str | Path,
    options: BuildOptions = BuildOptions(),
    *,
    replace: bool = False,
    command: str = "",
    progress: Progress = ignore_progress,
    engine: Engine | None = None,
) -> Manifest:
    """Build a knowledge base from one or more sources; returns its manifest.

    It runs on this machine, or on an `engine` that is given, with that one's processes, memory and progress.
    One without an entity never takes the place of another. It is made where nothing is there, to be filled by edits,
    unless records were bad.
    """
    if isinstance(sources, str | Path):
        sources = [sources]
    target = Path(out)
    check_target(target, replace=replace)
    opened = _open_all(sources, options)
    work = target.with_name(target.name + SUFFIX)
    with (
        write_lock(work),
        telling_of_leftovers(work, "keeps what was done: run the command again to go on from there"),
    ):
        take_up(work, _plan(opened, options), create_store)
        engine = engine or LocalEngine(processes=options.processes, memory=options.memory, progress=progress)
        manifest = _run(work, opened, options, command, engine)
        check_found(manifest, work, target)
        move_into_place(work, target)
    return manifest


@contextmanager
def telling_of_leftovers(work: Path, what: str) -> Iterator[None]:
    """What goes wrong inside, an interruption too, has a note on the folder that is left."""
    try:
        yield
    except BaseException as problem:
        if work.exists():
            problem.add_note(f"{work} {what}, or remove it")
        raise


def check_found(manifest: Manifest, work: Path, target: Path) -> None:
    """Whether what was made may come into place: a source that gave nothing must not cost what is there."""
    if manifest.entities:
        return
    skipped = sum(source.skipped for source in manifest.sources)
    found = f"no entity was found in {', '.join(source.name for source in manifest.sources)}"
    items = (source.left_out for source in manifest.sources if source.format == WIKIDATA)
    if left := [f"{count:,} {why}" for left_out in items for why, count in left_out.items()]:
        found += f", of which was left out: {', '.join(left)} (--language names the Wikipedia)"
    if not skipped and not target.exists():
        logging.getLogger(__name__).warning("%s, so %s is empty", found, target)
        return
    shutil.rmtree(work)  # nobody would go on from there
    bad = f"; records that were bad: {skipped:,}, the first: {manifest.problems[0]}" if skipped else ""
    kept = f"{target} stays as it was. " if target.exists() else ""
    raise InputError(f"{found}{bad}. {kept}Check the sources and their format")


def check_target(target: Path, *, replace: bool) -> None:
    """Whether a knowledge base may be made there."""
    check_is_path(target)
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


def _open_all(sources: Sequence[str | Path], options: BuildOptions) -> list[Source]:
    """The tables of a wiki come first; without an export, its table of pages has to tell of all entities."""
    opened = [open_to_build(source, options) for source in sources]
    if opened and all(source.format == TABLES for source in opened):
        _check_has_pages(opened)
        titles_only = msgspec.structs.replace(options.wiki, titles_only=True)
        tables = [open_to_build(source, msgspec.structs.replace(options, wiki=titles_only)) for source in sources]
        return sorted(tables, key=lambda source: table_of(source.path)[0] == "page")  # a limit is for its rows alone
    _check_wikis(opened)
    if any(source.format == WIKIDATA for source in opened):
        opened = _with_items(opened, sources, options)
    elif options.wiki.with_page or options.wiki.drop_types:
        asked = "with_page" if options.wiki.with_page else "drop_types"
        raise InputError(f"{asked} is about items of Wikidata, and none of the sources is a dump of it: leave it out")
    return sorted(opened, key=lambda source: _ORDER.get(source.format, len(_ORDER)))


def _with_items(opened: Sequence[Source], sources: Sequence[str | Path], options: BuildOptions) -> list[Source]:
    """Items of Wikidata are joined with the pages of one wiki, and with its name if it has one."""
    types_to_drop(options.wiki.drop_types)  # a bad list is told before anything is read
    wikis = {source.wiki: source.path for source in opened if source.format == EXPORT}
    dump = next(source.path for source in opened if source.format == WIKIDATA)
    if len(wikis) > 1:
        raise InputError(f"{dump} can be joined with one wiki only, and the exports are of {len(wikis)}. Give one")
    if wikis and options.wiki.ids != WIKIDATA:
        path = next(iter(wikis.values()))
        raise InputError(f"{path} and {dump} are joined by the ids of items: add --ids wikidata")
    if wikis and options.limit is not None:
        raise InputError(f"{dump} and an export are joined, so that a limit would cut one of them off: leave it out")
    site = next(iter(wikis), None) or None
    named = msgspec.structs.replace(options, wiki=msgspec.structs.replace(options.wiki, site=site))
    return [
        open_to_build(path, named) if source.format == WIKIDATA else source
        for path, source in zip(sources, opened, strict=True)
    ]


def _check_has_pages(tables: Sequence[Source]) -> None:
    if not any(table_of(source.path)[0] == "page" for source in tables):
        raise InputError(
            f"{tables[0].path} tells of pages by their numbers only. Give the wiki's export too, or the table page"
        )


def _check_wikis(sources: Sequence[Source]) -> None:
    """The numbers of pages in a table mean nothing to the export of another wiki."""
    exports = {source.wiki: source.path for source in sources if source.format == EXPORT}
    tables = {source.wiki: source.path for source in sources if source.format == TABLES}
    if exports.keys() >= tables.keys() or (len(exports) == len(tables) == 1 and "" in (*exports, *tables)):
        return
    wiki, table = next((wiki, path) for wiki, path in tables.items() if wiki not in exports)
    raise InputError(
        f"{table} is a table of the wiki {wiki or 'with no name'}, and the exports are of "
        f"{', '.join(str(name or 'a wiki with no name') for name in exports) or 'none'}. Give each wiki's own tables"
    )


def open_to_build(source: str | Path, options: BuildOptions) -> Source:
    """A source that is there, read as a build is told to."""
    check_is_path(source)
    if not Path(source).exists():
        raise InputError(f"{source}: no such file or folder")
    return open_source(
        source,
        format=options.format,
        columns=options.columns or None,
        on_error=options.on_error,
        language=options.language,
        wiki=msgspec.structs.replace(options.wiki, links_only=_needs_links_only(options)),
    )


def _needs_links_only(options: BuildOptions) -> bool:
    """Whether the texts are neither counted nor kept, so that finding their links will do."""
    return not options.count_text and options.described_by == "opening"


def _plan(sources: Sequence[Source], options: BuildOptions) -> _Plan:
    return _Plan(
        __version__,
        stamps(sources),
        options.format,
        dict(options.columns),
        options.language,
        options.on_error,
        options.count_text,
        options.described_by,
        options.names_in_openings,
        options.limit,
        options.wiki,
        options.wiki.rules_checksum(),
    )


def tune(store: Store) -> None:
    """A build that is killed starts again from its last commit, so commits need not wait for the disk."""
    store.connection.execute("PRAGMA synchronous = NORMAL")
    store.connection.execute("PRAGMA cache_size = -65536")
    store.connection.execute("PRAGMA wal_autocheckpoint = 20000")


def _run(work: Path, sources: Sequence[Source], options: BuildOptions, command: str, engine: Engine) -> Manifest:
    store = Store(work, writable=True)
    try:
        tune(store)
        return Building(engine, store, sources, options, command).run()
    finally:
        store.close()


def move_into_place(work: Path, target: Path) -> None:
    """The last step: from here on readers see the new knowledge base, or still the old one.

    What the build no longer needs goes only after the move, so that a kill just before it loses nothing.
    """
    if target.exists():
        shutil.rmtree(_replaced(target), ignore_errors=True)  # half removed by a replacement that was killed
        # Whoever is editing or indexing the old one must be done, or their work would go with it.
        with write_lock(target), write_lock(target, "index.lock"):
            put_in_place(work, target, _replaced(target))
    else:
        put_in_place(work, target)
    shutil.rmtree(_replaced(target), ignore_errors=True)
    shutil.rmtree(target / "staging", ignore_errors=True)
    (target / PLAN).unlink(missing_ok=True)


def _replaced(target: Path) -> Path:
    return target.with_name(target.name + REPLACED)
