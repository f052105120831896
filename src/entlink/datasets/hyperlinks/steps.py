"""The steps of a corpus of hyperlinks: parts of the sources to folders, those to its files, and the card."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from entlink.datasets.hyperlinks.documents import DocumentPlan, ReadCounts
from entlink.datasets.hyperlinks.join import FileCounts, Joining
from entlink.datasets.hyperlinks.options import HyperlinkOptions
from entlink.datasets.hyperlinks.parts import PartPlan, count_rows, read_card, read_rows, write_part
from entlink.datasets.hyperlinks.report import HyperlinksReport, KnowledgeBaseCard, file_card, source_checksum
from entlink.datasets.hyperlinks.target import Target
from entlink.datasets.selection import Sample
from entlink.engine.protocol import Engine
from entlink.io.atomic import write_whole
from entlink.kb.build.source_parts import PROBLEMS_KEPT, Omissions, PartRunner
from entlink.kb.store.manifest import SourceCard
from entlink.sources import Source
from entlink.text.dates import now
from entlink.version import __version__


class _Part(NamedTuple):
    """The folder of a part, and the number of the source it is of."""

    folder: Path
    source: int


def build_corpus(
    engine: Engine,
    sources: Sequence[Source],
    target: Target,
    options: HyperlinkOptions,
    kb: Path | None,
    *,
    card: KnowledgeBaseCard | None,
    command: str,
) -> HyperlinksReport:
    """Make the corpus in the target's folder of work, and put it into place."""
    sample = Sample(options.sample)
    parts = _read(engine, sources, target.work / "parts", options, kb, sample)
    joining = Joining(sample.taker(), options.limit)
    made = [target.work / file.name for file in target.files]
    joining.run([part.folder for part in parts], made, pack=target.is_packed, progress=engine.progress)
    summary = _Summary(sources, parts)
    files = [
        file_card(path, file.name, counts)
        for path, file, counts in zip(made, target.files, joining.counts, strict=True)
    ]
    report = HyperlinksReport(
        entlink=__version__,
        built=now(),
        command=command,
        options=told_options(options),
        sources=summary.sources,
        kb=card,
        read=summary.read,
        **_totals(joining.counts),
        files=files,
        problems=summary.problems,
    )
    path = target.work / target.card.name
    write_whole(path, msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    target.move_into_place(made, path)
    return report


def told_options(options: HyperlinkOptions) -> dict[str, Any]:
    """The options that the result depends on, as they are written."""
    told = msgspec.structs.asdict(options)
    del told["processes"]
    # A record leaves out what is as by default when it is written, and the next release may have other defaults.
    wiki = msgspec.structs.asdict(options.wiki)
    written: dict[str, Any] = msgspec.json.decode(msgspec.json.encode({**told, "wiki": wiki}))
    return written


def _totals(counts: Sequence[FileCounts]) -> dict[str, int]:
    return {name: sum(getattr(each, name) for each in counts) for name in FileCounts.__struct_fields__}


def _read(
    engine: Engine,
    sources: Sequence[Source],
    folder: Path,
    options: HyperlinkOptions,
    kb: Path | None,
    sample: Sample,
) -> list[_Part]:
    """The parts of all sources, or as many as the limit needs."""

    def measure(part: Path) -> int:
        sample.see(row.hash for row in read_rows(part))
        return count_rows(part)

    runner = PartRunner(
        engine,
        write_part,
        folder,
        measure=measure,
        limit=options.limit,
        total=sum(source.size for source in sources),
    )

    def read(source: Source, number: int) -> list[_Part]:
        plan = _plan(source, options, kb)
        made = runner.run(source, lambda part, _: (part, plan, sample.threshold))
        return [_Part(folder, number) for folder in made]

    return [part for number, source in enumerate(sources) for part in read(source, number)]


def _plan(source: Source, options: HyperlinkOptions, kb: Path | None) -> PartPlan:
    is_wiki = source.wiki is not None
    return PartPlan(
        # A wiki's page has its text once, however often it was renamed.
        DocumentPlan(options.kinds, options.nil, options.min_links, is_dated=not is_wiki),
        source.on_error,
        is_wiki,
        None if kb is None else str(kb),
        options.seed,
        dict(options.split),
    )


class _Summary:
    """What the parts and their sources say, added up."""

    def __init__(self, sources: Sequence[Source], parts: Sequence[_Part]) -> None:
        self.read = ReadCounts()
        pages, omitted = [0] * len(sources), [Omissions() for _ in sources]
        for part in parts:
            card = read_card(part.folder)
            self.read.add(card.read)
            pages[part.source] += card.read.pages
            omitted[part.source].add(card)
        for source, omissions in zip(sources, omitted, strict=True):
            omissions.add(source)
        self.problems = list(chain.from_iterable(each.problems for each in omitted))[:PROBLEMS_KEPT]
        self.sources = [
            SourceCard(
                source.path.name,
                source.format,
                source.size,
                source_checksum(source.path),
                pages[number],
                omitted[number].skipped,
                omitted[number].left_out,
            )
            for number, source in enumerate(sources)
        ]
