"""A knowledge base split in two: known entities, with counts that never saw the others, and new ones.

zh-split/known.kb           the known entities; links of and to new ones are not counted, nor their texts
zh-split/new.jsonl          the new ones, as `entlink kb add known.kb --from` takes them
zh-split/train.jsonl        the texts of known entities, with links to known ones as gold
zh-split/validation.jsonl   the same of some whole texts, which known.kb has not counted and has no links of
zh-split/split.json         how many of each there are
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import IO

import msgspec

from entlink.datasets.known.flags import HELD_OUT, NEW, hold_out, known_flags
from entlink.datasets.known.part_source import KnownSource
from entlink.documents import Document, Entity, GoldLink, Mention, Span
from entlink.engine.local import LocalEngine
from entlink.engine.protocol import DEFAULT_MEMORY, Engine
from entlink.errors import ExistsError, InputError
from entlink.formats.documents.lines import encode_document
from entlink.io.atomic import whole_folder, write_whole
from entlink.io.ledger import OnError
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.build.match_titles import redirect_rows
from entlink.kb.build.steps import Building, BuildOptions
from entlink.kb.build.wikidata_items import ITEM, WIKIDATA
from entlink.kb.snapshots.folders import snapshot_folders
from entlink.kb.store.hyperlinks import has_hyperlinks, hyperlinks_of
from entlink.kb.store.manifest import manifest_of
from entlink.kb.store.store import Store
from entlink.kb.store.transfer import ExportedEntity
from entlink.kb.store.writing import create_store, insert_redirects, transaction
from entlink.kb.types.tables import merge_types
from entlink.version import __version__

KNOWN_KB, ADDED, TRAIN, VALIDATION, CARD = "known.kb", "new.jsonl", "train.jsonl", "validation.jsonl", "split.json"
_EVERY = 10_000


class SplitOptions(msgspec.Struct, frozen=True):
    """How many whole documents are held out for validation, by the hash of the seed and their ids."""

    validation: int = 1000
    seed: int = 0
    on_error: OnError = "stop"
    memory: str = DEFAULT_MEMORY
    processes: int | None = None


DEFAULTS = SplitOptions()


class SplitReport(msgspec.Struct):
    """What a split came to: entities, documents, and the mentions in these."""

    entlink: str
    command: str
    kb: str
    known_by: str
    seed: int
    known: int = 0
    new: int = 0
    new_without_item: int = 0  # of these, pages of a wiki that no item of Wikidata names
    documents: dict[str, int] = msgspec.field(default_factory=lambda: {TRAIN: 0, VALIDATION: 0})
    mentions: dict[str, int] = msgspec.field(default_factory=lambda: {TRAIN: 0, VALIDATION: 0})


def split(
    kb: str | Path,
    known: str | Path,
    out: str | Path,
    options: SplitOptions = DEFAULTS,
    *,
    replace: bool = False,
    command: str = "",
    progress: Progress = ignore_progress,
    engine: Engine | None = None,
) -> SplitReport:
    """Split a knowledge base by what `known` has: another one, a dump of Wikidata, a table, or a list of ids (.txt).

    See the top of this file for what `out` holds.

        split("zh.kb", "wikidata-2018.json.bz2", "zh-split")
    """
    target, old = Path(out), Path(known)
    if target.exists() and not replace:
        raise ExistsError(f"{target} is there already. --replace puts a new one in its place")
    if target.exists() and not (target / CARD).exists():
        raise ExistsError(f"{target} is there and is no split: choose another name")
    if not old.exists():
        raise InputError(f"{old}: no such file or folder")
    engine = engine or LocalEngine(processes=options.processes, memory=options.memory, progress=progress)
    with closing(Store(Path(kb))) as store, whole_folder(target) as folder:
        _check_links(store)
        report = SplitReport(__version__, command, str(kb), str(known), options.seed)
        work = folder / "work"
        work.mkdir()
        flags = known_flags(engine, store, old, options.on_error, work / "known")
        hold_out(store, flags, options.validation, options.seed)
        write_whole(flagged := work / f"flags-{sha256(flags).hexdigest()}", bytes(flags))  # read once a process
        _write_files(store, flags, folder, report, engine.progress)
        _check_some_are_left(report)
        source = KnownSource(store, flagged, whole=store.has_whole_texts())
        _build(engine, store, source, flags, folder / KNOWN_KB, command)
        shutil.rmtree(work)
        write_whole(folder / CARD, msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    return report


def _check_links(store: Store) -> None:
    """Counts are made anew of the links in texts: only those of known entities are to be in them."""
    if manifest_of(store).links and not has_hyperlinks(store):
        raise InputError(
            f"{store.folder} keeps no links, so that those of new entities cannot be told from others. "
            "Build it with --descriptions full"
        )
    if snapshot_folders(store.folder):
        logging.getLogger(__name__).warning("%s is split as it is now, without its snapshots", store.folder)


def _check_some_are_left(report: SplitReport) -> None:
    """A small knowledge base could be held out as a whole, and nothing would be counted."""
    if report.documents[VALIDATION] and not report.documents[TRAIN]:
        raise InputError(
            f"all {report.documents[VALIDATION]:,} texts that link known entities are held out for validation, "
            "so that none is left for training. Hold out fewer: --validation N"
        )


def _write_files(store: Store, flags: bytearray, folder: Path, report: SplitReport, progress: Progress) -> None:
    """What is new as a table, and what is known as documents with gold."""
    with (
        (folder / ADDED).open("wb") as added,
        (folder / TRAIN).open("wb") as train,
        (folder / VALIDATION).open("wb") as validation,
    ):
        last, are_items = store.last_key(), any(one.format == WIKIDATA for one in manifest_of(store).sources)
        for number, (key, _, current) in enumerate(store.entities(), 1):
            if flags[key] == NEW:
                report.new += 1
                report.new_without_item += are_items and not ITEM.fullmatch(current.entity.id)
                for version in (*store.other_versions(key, current.entity.id), current):
                    fields = msgspec.structs.asdict(version.entity)
                    row = ExportedEntity(**fields, valid_from=version.valid_from, valid_to=version.valid_to)
                    added.write(msgspec.json.encode(row) + b"\n")
            else:
                report.known += 1
                held = flags[key] == HELD_OUT
                _write_document(store, flags, key, current.entity, validation if held else train, report, held)
            if number % _EVERY == 0:
                progress("writing documents", key, last)


def _write_document(
    store: Store, flags: bytearray, key: int, entity: Entity, file: IO[bytes], report: SplitReport, held: bool
) -> None:
    gold = tuple(_gold(store, flags, key, entity))
    if not gold:
        return
    text = entity.description
    mentions = tuple(Mention(link.span, text[link.span.start : link.span.end]) for link in gold)
    document = Document(entity.id, text, entity.language, mentions=mentions, gold=gold, meta={"page": entity.title})
    file.write(encode_document(document) + b"\n")
    name = VALIDATION if held else TRAIN
    report.documents[name] += 1
    report.mentions[name] += len(gold)


def _gold(store: Store, flags: bytearray, key: int, entity: Entity) -> Iterator[GoldLink]:
    end = 0
    for start, after, target in hyperlinks_of(store, key, entity.description):
        if flags[target] and start >= end and (head := store.head(target)) is not None:
            yield GoldLink(Span(start, after), (head[0],))
            end = after


def _build(engine: Engine, store: Store, source: KnownSource, flags: bytearray, target: Path, command: str) -> None:
    """The knowledge base of the known entities, by the usual steps, with the redirects and types of the whole."""
    manifest = manifest_of(store)
    options = BuildOptions(
        count_text=bool(manifest.texts),
        descriptions="full" if store.has_whole_texts() else "opening",
        names_in_openings=manifest.openings is not None,
    )
    target.mkdir()
    create_store(target)
    made = Store(target, writable=True)
    try:
        insert_redirects(made, _known_redirects(store, flags))
        with transaction(made):
            merge_types(made, [store])
        Building(engine, made, [source], options, command).run()
    finally:
        made.close()
    shutil.rmtree(target / "staging")


def _known_redirects(store: Store, flags: bytearray) -> Iterator[tuple[str, str]]:
    for source, end in redirect_rows(store):
        key = store.resolve(end)
        if key is not None and flags[key]:
            yield source, end
