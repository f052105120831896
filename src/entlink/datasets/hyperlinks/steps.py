"""The steps of a corpus of hyperlinks: parts of the sources to folders, those to its files, and the card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from entlink.engine.local import Task, default_processes, map_to_files
from entlink.io.atomic import write_whole
from entlink.io.progress import Progress
from entlink.kb.store.manifest import SourceCard
from entlink.sources import Source
from entlink.text.dates import now
from entlink.version import __version__

PROBLEMS_KEPT = 100  # messages; the rest are only counted
_WORTH_A_POOL = 1_000_000  # bytes of sources: with fewer, starting processes takes longer than the work


class _Part(NamedTuple):
    """The folder of a part, and the number of the source it is of."""

    folder: Path
    source: int


def build_corpus(
    sources: Sequence[Source],
    target: Target,
    options: HyperlinkOptions,
    kb: Path | None,
    progress: Progress,
    *,
    card: KnowledgeBaseCard | None,
    command: str,
) -> HyperlinksReport:
    """Make the corpus in the target's folder of work, and put it into place."""
    sample = Sample(options.sample)
    parts = _Reading(sources, target.work / "parts", options, kb, sample, progress).run()
    joining = Joining(sample.taker(), options.limit)
    made = [target.work / file.name for file in target.files]
    needed = joining.run([part.folder for part in parts], made, pack=target.is_packed, progress=progress)
    summary = _Summary(sources, parts[:needed])
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
        problems=summary.problems[:PROBLEMS_KEPT],
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


class _Reading:
    """Parts of all sources, one after the other, to folders; what is there already is not made again."""

    def __init__(
        self,
        sources: Sequence[Source],
        folder: Path,
        options: HyperlinkOptions,
        kb: Path | None,
        sample: Sample,
        progress: Progress,
    ) -> None:
        self._sources, self._folder, self._options, self._kb = sources, folder, options, kb
        self._sample, self._progress = sample, progress
        self._size = sum(source.size for source in sources)
        self._begun: list[_Part] = []
        self._documents: dict[Path, int] = {}  # of the parts that are done
        self._gap = self._before_gap = 0  # the first part that is not done, and the documents before it

    def run(self) -> list[_Part]:
        """Read everything, or as many parts as the limit needs and those that were begun meanwhile."""
        processes = self._options.processes or default_processes()
        if self._size < _WORTH_A_POOL:
            processes = 1
        map_to_files(write_part, self._tasks(), self._folder, processes=processes, done=self._done)
        return self._begun

    def _tasks(self) -> Iterator[Task]:
        before = 0
        for number, source in enumerate(self._sources):
            plan = self._plan(source)
            for part in source.parts():
                if self._has_enough():
                    return
                name = f"part-{len(self._begun):06}"
                self._begun.append(_Part(self._folder / name, number))
                yield Task(name, (part, plan, self._sample.threshold))
                self._progress("reading", before + part.end, self._size)
            before += source.size

    def _plan(self, source: Source) -> PartPlan:
        options, is_wiki = self._options, source.wiki is not None
        return PartPlan(
            # A wiki's page has its text once, however often it was renamed.
            DocumentPlan(options.kinds, options.nil, options.min_links, is_dated=not is_wiki),
            source.on_error,
            is_wiki,
            None if self._kb is None else str(self._kb),
            options.seed,
            dict(options.split),
        )

    def _done(self, folder: Path) -> None:
        self._documents[folder] = count_rows(folder)
        self._sample.see(row.hash for row in read_rows(folder))

    def _has_enough(self) -> bool:
        """Whether the parts done so far, up to the first gap, hold as many documents as are wanted."""
        limit = self._options.limit
        if limit is None:
            return False
        while self._gap < len(self._begun) and (folder := self._begun[self._gap].folder) in self._documents:
            self._before_gap += self._documents[folder]
            self._gap += 1
        return self._before_gap >= limit


class _Summary:
    """What the parts that were needed say, added up."""

    def __init__(self, sources: Sequence[Source], parts: Sequence[_Part]) -> None:
        self.read = ReadCounts()
        self.sources = [
            SourceCard(source.path.name, source.format, source.size, source_checksum(source.path), 0, 0, {})
            for source in sources
        ]
        self.problems: list[str] = []
        for part in parts:
            card = read_card(part.folder)
            self.read.add(card.read)
            self.sources[part.source].records += card.read.pages
            self._add(part.source, card.skipped, card.problems, card.left_out)
        for number, source in enumerate(sources):
            self._add(number, source.skipped, source.problems, source.left_out)

    def _add(self, source: int, skipped: int, problems: Sequence[str], left_out: dict[str, int]) -> None:
        card = self.sources[source]
        card.skipped += skipped
        self.problems += problems[: PROBLEMS_KEPT - len(self.problems)]
        for reason, count in left_out.items():
            card.left_out[reason] = card.left_out.get(reason, 0) + count
