"""Captioned pictures to a set of documents with gold, in the way of WikiDiverse: `build_captions`.

Made in a folder beside the target that comes into place at the end. A build that was killed goes on where it stopped
when it is started again in the same way.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from entlink.datasets.captions.near_copies import NearCopies
from entlink.datasets.captions.options import CaptionOptions, check_options
from entlink.datasets.captions.pictures import check_pictures, unpack
from entlink.datasets.captions.reading import CaptionLines, open_captions
from entlink.datasets.captions.report import CaptionsReport, shown_options
from entlink.datasets.captions.steps import CaptionsBuilder, Inputs
from entlink.datasets.folder_target import FolderTarget
from entlink.datasets.hyperlinks.report import kb_card
from entlink.engine.local import LocalEngine
from entlink.engine.protocol import Engine, Task
from entlink.errors import InputError
from entlink.io.progress import Progress, ignore_progress
from entlink.io.resuming import Stamp, stamps
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.sources import Source
from entlink.version import __version__

__all__ = ["DEFAULTS", "CaptionOptions", "CaptionsReport", "build_captions"]

DEFAULTS = CaptionOptions()
_UNPACKED = "unpacked"
NO_PROFANITY = (
    "no list of profanity is given, so that no caption is left out for it. docs/conversation-sets.md names one; give "
    "it with --profanity"
)


class _Plan(msgspec.Struct, frozen=True):
    """What a half-done build must have in common with the one that takes it up again."""

    entlink: str
    sources: tuple[Stamp, ...]
    options: dict[str, Any]
    rules: str
    kb: tuple[str, str]
    pictures: tuple[str, int]
    out: str


def build_captions(
    sources: Sequence[str | Path] | str | Path,
    out: str | Path,
    options: CaptionOptions = DEFAULTS,
    *,
    kb: str | Path,
    pictures: str | Path | None = None,
    replace: bool = False,
    command: str = "",
    progress: Progress = ignore_progress,
    engine: Engine | None = None,
) -> CaptionsReport:
    """Write captions that have links, with their pictures, into the folder `out`; returns the card that is in it.

    A source is the dump of a MediaWiki, or JSON lines of captioned pictures. `pictures` is a folder or a tar of them;
    without it, pictures are named as the source does, and not looked at. Nothing is fetched.

        build_captions("captions.jsonl", "set", kb="schools.kb", pictures="pictures")
    """
    given = [Path(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]
    if not given:
        raise InputError("there is no source. Give at least one file")
    check_options(options, has_pictures=pictures is not None)
    place = None if pictures is None else Path(pictures)
    if place is not None:
        check_pictures(place)
    opened = [_open(source, options) for source in given]
    target = FolderTarget(Path(out), CaptionsReport)
    target.check([*given, *([place] if place else [])], replace=replace)
    if not options.profanity:
        logging.getLogger(__name__).warning(NO_PROFANITY)
    card = kb_card(Path(kb))
    engine = engine or LocalEngine(processes=options.processes, progress=progress)
    with ExitStack() as stack:
        near_copies = None
        if options.near_copies is not None:  # what is missing for it is an error at once
            near_copies = NearCopies(stack.enter_context(KnowledgeBase.open(kb)), options.near_copies)
        made = stack.enter_context(target.making(_plan(opened, options, Path(kb), card.sha256, place, target.folder)))
        inputs = Inputs(opened, Path(kb), place, _folder_of(place, engine, target.work))
        builder = CaptionsBuilder(engine, inputs, target.work, target.folder, options)
        return builder.make(made, near_copies, card, command)


def _folder_of(pictures: Path | None, engine: Engine, work: Path) -> Path | None:
    """The folder of the pictures; those of a tar are taken out."""
    if pictures is None or pictures.is_dir():
        return pictures
    task = Task(_UNPACKED, (pictures.resolve(),))
    return engine.map_to_files(unpack, [task], work, stage="taking out pictures", here=True)[0]


def _open(source: Path, options: CaptionOptions) -> Source | CaptionLines:
    return open_captions(
        source,
        format=options.format,
        on_error=options.on_error,
        language=options.language,
        wiki=options.wiki,
    )


def _plan(
    sources: Sequence[Source | CaptionLines],
    options: CaptionOptions,
    kb: Path,
    kb_checksum: str,
    pictures: Path | None,
    out: Path,
) -> _Plan:
    stamp = ("", 0) if pictures is None else (str(pictures.resolve()), pictures.stat().st_mtime_ns)
    return _Plan(
        __version__,
        stamps(sources),
        shown_options(options),
        options.wiki.rules_checksum(),
        (str(kb.resolve()), kb_checksum),
        stamp,
        str(out.resolve()),
    )
