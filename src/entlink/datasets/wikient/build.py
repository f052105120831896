"""Sources to a WikiEnt set (paper 2, section 4.3): sentences with links, and the descriptions of what they link to.

Made in a folder beside the target. A build that was killed goes on where it stopped when it is started again in the
same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from entlink.datasets.folder_target import FolderTarget
from entlink.datasets.wikient.card import WikiEntReport, told_options
from entlink.datasets.wikient.options import WikiEntOptions, check_options
from entlink.datasets.wikient.steps import build_set
from entlink.engine.local import LocalEngine
from entlink.engine.protocol import Engine
from entlink.errors import InputError
from entlink.io.progress import Progress, ignore_progress
from entlink.io.resuming import Stamp, stamps
from entlink.kb.build.read_history import check_one_wiki
from entlink.sources import open_source
from entlink.version import __version__

DEFAULTS = WikiEntOptions()


class _Plan(msgspec.Struct, frozen=True):
    """What a half-done build must have in common with the one that takes it up again."""

    entlink: str
    sources: tuple[Stamp, ...]
    options: dict[str, Any]
    rules: str


def build_wikient(
    sources: Sequence[str | Path] | str | Path,
    out: str | Path,
    options: WikiEntOptions = DEFAULTS,
    *,
    replace: bool = False,
    command: str = "",
    progress: Progress = ignore_progress,
    engine: Engine | None = None,
) -> WikiEntReport:
    """Write sentences with links, and the descriptions of their entities, into the folder `out`; returns its card.

    Sources are a wiki's dump, or anything with texts and links that a knowledge base is built from. It runs on this
    machine, or on an `engine` that is given, with that one's processes, memory and progress.

        build_wikient("simplewiki.xml.bz2", "wikient")
    """
    given = [Path(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]
    if not given:
        raise InputError("there is no source. Give at least one file or folder")
    check_options(options)
    opened = [
        open_source(
            path,
            format=options.format,
            columns=options.columns or None,
            on_error=options.on_error,
            language=options.language,
            wiki=options.wiki,
        )
        for path in given
    ]
    check_one_wiki(opened, "a WikiEnt set")
    target = FolderTarget(Path(out), WikiEntReport)
    target.check(given, replace=replace)
    plan = _Plan(__version__, stamps(opened), told_options(options), options.wiki.rules_checksum())
    engine = engine or LocalEngine(processes=options.processes, memory=options.memory, progress=progress)
    with target.making(plan) as made:
        return build_set(engine, opened, target.work, made, options, command)
