"""Sources to a corpus of hyperlinks: documents whose gold is what the authors of the pages linked.

Made part by part in a folder beside the target and put into place at the end. A build that was killed goes on where
it stopped when it is started again in the same way.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from entlink.datasets.hyperlinks.options import KINDS, HyperlinkOptions, check_options
from entlink.datasets.hyperlinks.report import HyperlinksReport, KnowledgeBaseCard, kb_card
from entlink.datasets.hyperlinks.steps import build_corpus, told_options
from entlink.datasets.hyperlinks.target import Target
from entlink.engine.local import LocalEngine
from entlink.engine.protocol import Engine
from entlink.errors import InputError
from entlink.io.atomic import write_lock
from entlink.io.progress import Progress, ignore_progress
from entlink.io.resuming import Stamp, stamps, take_up
from entlink.sources import Source, open_source
from entlink.version import __version__

__all__ = ["DEFAULTS", "KINDS", "HyperlinkOptions", "HyperlinksReport", "build_hyperlinks"]

DEFAULTS = HyperlinkOptions()


class _Plan(msgspec.Struct, frozen=True):
    """What a half-done build must have in common with the one that takes it up again."""

    entlink: str
    sources: tuple[Stamp, ...]
    options: dict[str, Any]
    rules: str
    kb: tuple[str, str] | None


def build_hyperlinks(
    sources: Sequence[str | Path] | str | Path,
    out: str | Path,
    options: HyperlinkOptions = DEFAULTS,
    *,
    kb: str | Path | None = None,
    replace: bool = False,
    command: str = "",
    progress: Progress = ignore_progress,
    engine: Engine | None = None,
) -> HyperlinksReport:
    """Write the paragraphs of the sources that have links as documents with gold; returns the card beside them.

    `out` is named like NAME.jsonl or NAME.jsonl.gz. With `kb`, gold names the entities of that knowledge base, and
    links to none of them are left out, or are NIL; without, it names what the author wrote. It runs on this machine,
    or on an `engine` that is given, with that one's processes and progress.

        build_hyperlinks("simplewiki.xml.bz2", "links.jsonl", HyperlinkOptions(limit=1000), kb="simple.kb")
    """
    given = [Path(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]
    if not given:
        raise InputError("there is no source. Give at least one file or folder")
    check_options(options, has_kb=kb is not None)
    target = Target(Path(out), options.split)
    target.check(given, replace=replace)
    folder = None if kb is None else Path(kb)
    card = None if folder is None else kb_card(folder)
    opened = [_open(source, options) for source in given]
    with write_lock(target.work):
        take_up(target.work, _plan(opened, options, folder, card))
        engine = engine or LocalEngine(processes=options.processes, progress=progress)
        report = build_corpus(engine, opened, target, options, folder, card=card, command=command)
        shutil.rmtree(target.work)
    return report


def _open(source: Path, options: HyperlinkOptions) -> Source:
    return open_source(
        source,
        format=options.format,
        columns=options.columns or None,
        on_error=options.on_error,
        language=options.language,
        wiki=options.wiki,
    )


def _plan(
    sources: Sequence[Source], options: HyperlinkOptions, kb: Path | None, card: KnowledgeBaseCard | None
) -> _Plan:
    stamped_kb = None if kb is None or card is None else (str(kb.resolve()), card.sha256)
    return _Plan(__version__, stamps(sources), told_options(options), options.wiki.rules_checksum(), stamped_kb)
