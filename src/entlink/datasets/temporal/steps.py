"""The steps of a temporal dataset, each in a folder of its own: what is there is not made again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from entlink.datasets.folder_target import CARD
from entlink.datasets.hyperlinks.report import source_checksum
from entlink.datasets.temporal.card import Addition, Missing, ReadAs, SnapshotCard, SourceFile, TemporalReport
from entlink.datasets.temporal.counting import ALL_LINKS, BUCKETS, COUNTS, TARGETS, count, write_edits
from entlink.datasets.temporal.datasheet import datasheet
from entlink.datasets.temporal.figures import draw_figures
from entlink.datasets.temporal.filters import FUNNEL, Interval, Step, apply_filters, by_snapshot
from entlink.datasets.temporal.options import TemporalOptions
from entlink.datasets.temporal.plan import Earlier, note_earlier, read_earlier
from entlink.datasets.temporal.rows import CATEGORIES, DATASHEET, FIGURES, SUBSETS, TemporalDataset, snapshot_folder
from entlink.datasets.temporal.sampling import CHOSEN, CURVES, Curve, cap_bucket, choose_entities, equalise
from entlink.datasets.temporal.staging import stage
from entlink.datasets.temporal.subsets import split_bucket
from entlink.datasets.temporal.writing import write_contexts, write_snapshot
from entlink.engine.protocol import Engine, ParquetFiles, Task
from entlink.errors import InputError
from entlink.io.atomic import write_whole
from entlink.io.checksums import checksums
from entlink.io.ledger import Ledger
from entlink.kb.build.read_history import HistoryRead, read_history
from entlink.kb.names.index_rows import write_rows
from entlink.sources import Source
from entlink.sources.mediawiki.history import HistoryOptions
from entlink.sources.page import Identifier
from entlink.text.dates import now
from entlink.version import __version__

HISTORY = "history"
_SMALL = 1_000_000  # bytes of source: with fewer, starting processes takes longer than the work


class Inputs(NamedTuple):
    """Histories, tables of identifiers, and at which dates the histories are read."""

    histories: list[Source]
    tables: list[Source]
    options: HistoryOptions

    @property
    def all(self) -> list[Source]:
        return [*self.histories, *self.tables]

    @property
    def read_as(self) -> ReadAs:
        one = self.histories[0]  # as the others are
        return ReadAs(one.wiki or "", one.options.namespaces, one.options.rules_checksum(), one.language)


class TemporalBuilder:
    """Makes the snapshots of one dataset in a folder of work; `dataset` and `card` are of one they are added to."""

    def __init__(
        self,
        engine: Engine,
        inputs: Inputs,
        work: Path,
        options: TemporalOptions,
        times: Sequence[Interval],
        dataset: TemporalDataset | None = None,
        card: TemporalReport | None = None,
    ) -> None:
        self._engine, self._inputs, self._work, self._options = engine, inputs, work, options
        self._times, self._dataset, self._card = times, dataset, card
        self._dates = inputs.options.dates
        is_small = sum(source.size for source in inputs.histories) < _SMALL
        self._at_most = 1 if is_small else None

    def make(self, made: Path, command: str) -> TemporalReport:
        """Write all files of the dataset that are new; returns its card, which is among them."""
        earlier = self._earlier()
        history = read_history(self._engine, self._inputs.histories, self._work / HISTORY, self._inputs.options)
        tokenizer = self._options.tokenizer
        parts = self._map("staged", stage, [(part, number, tokenizer) for number, part in enumerate(history.parts)])
        steps = self._choose(parts, earlier)
        contexts = self._map(
            "contexts",
            write_contexts,
            [(self._one, part, number, self._work / "sampled", self._options) for number, part in enumerate(parts)],
        )
        qids = self._step("qids.jsonl", write_qids, self._inputs.tables)
        share = self._engine.share(len(self._dates))
        self._engine.map_to_files(
            write_snapshot,
            [
                Task(
                    snapshot_folder(date),
                    (share, number, date, self._work, parts, contexts, qids, self._options),
                )
                for number, date in enumerate(self._dates)
            ],
            made,
            stage="writing snapshots",
            at_most=self._at_most,
        )
        return self._report(made, history, steps, earlier, command)

    @property
    def _one(self) -> Engine:
        """An engine for one of as many tasks as there are processes."""
        return self._engine.share(self._engine.processes)

    def _earlier(self) -> Earlier | None:
        if self._dataset is None or self._card is None:
            return None
        folder = self._step("earlier", note_earlier, self._dataset, self._card.first.date)
        return read_earlier(self._dataset, self._options, folder)

    def _choose(self, parts: Sequence[Path], earlier: Earlier | None) -> list[Step]:
        """All filters; returns what each did."""
        size, work, options = len(self._dates), self._work, self._options
        counted = self._step("counted", count, self._engine, parts)
        edits = self._map("edits", write_edits, [(self._one, counted / "names", n) for n in range(BUCKETS)])
        continual = None if earlier is None else sorted(earlier.continual)
        filtered = self._step(
            "filtered", apply_filters, self._engine, counted, edits, options, self._times, continual
        )
        fixed = None if earlier is None else earlier.placed
        split = self._map("split", split_bucket, [(self._one, filtered, n, options, fixed) for n in range(BUCKETS)])
        selected = self._step(
            "selected", choose_entities, self._engine, counted, filtered, split, parts, options, size
        )
        capped = self._map("capped", cap_bucket, [(self._one, selected, n, options) for n in range(BUCKETS)])
        steps = [*_steps(filtered), *_steps(selected)]
        profile = None if earlier is None else earlier.profile
        sampled = self._step(
            "sampled", equalise, self._engine, filtered, capped, steps[-1].left, options, size, profile
        )
        steps += _steps(sampled)
        if not any(steps[-1].left):
            raise _nothing_left(work, steps, options)
        for told in self._lost(_curves(sampled)):
            logging.getLogger(__name__).warning("%s", told)
        return steps

    def _lost(self, curves: dict[str, list[Curve]]) -> Iterator[str]:
        """A category that is in no snapshot any more, since one of them has none of it."""
        for number, category in enumerate(CATEGORIES):
            snapshots = {one.s for one in curves["before"] if one.g == number}
            if not snapshots or any(one.g == number for one in curves["after"]):
                continue
            if self._dataset is not None:
                yield f"the dataset has no {category} entities, so none of the added snapshots are kept"
                continue
            without = [snapshot_folder(date) for place, date in enumerate(self._dates) if place not in snapshots]
            yield (
                f"{', '.join(without)} {'has' if len(without) == 1 else 'have'} no {category} entities, so none of "
                "any snapshot are kept; --set equal_snapshots=false keeps them"
            )

    def _map(self, name: str, function: Callable[..., None], arguments: Sequence[tuple[Any, ...]]) -> list[Path]:
        """A function over many pieces of work, each to a file or folder of its own."""
        tasks = [Task(f"part-{number:06}", each) for number, each in enumerate(arguments)]
        return self._engine.map_to_files(
            function, tasks, self._work / name, stage=f"making {name}", at_most=self._at_most
        )

    def _step(self, name: str, function: Callable[..., None], *arguments: Any) -> Path:
        """A function that is run once, in this process."""
        return self._engine.map_to_files(
            function, [Task(name, arguments)], self._work, stage=f"making {name}", at_most=1, here=True
        )[0]

    # The card

    def _report(
        self, made: Path, history: HistoryRead, steps: list[Step], earlier: Earlier | None, command: str
    ) -> TemporalReport:
        curves = _curves(self._work / "sampled")
        contents = self._contents(made)
        addition = Addition(
            built=now(),
            command=command,
            sources=[SourceFile(each.path.name, each.size, source_checksum(each.path)) for each in self._inputs.all],
            snapshots=list(self._dates),
            filters=steps,
            before=curves["before"],
            after=curves["after"],
            missing=[] if earlier is None else self._missing(earlier),
            fewer={} if self._card is None or not self._options.equal_snapshots else _fewer(self._card, contents),
            skipped=history.omitted.skipped,
            problems=history.omitted.problems,
        )
        before = self._card
        together = sorted([*(before.contents if before else []), *contents], key=lambda one: one.date)
        report = TemporalReport(
            entlink=__version__,
            snapshots=[one.date for one in together],
            options=msgspec.json.decode(msgspec.json.encode(self._options)) if before is None else before.options,
            contents=together,
            additions=[*(before.additions if before else []), addition],
            read_as=self._inputs.read_as,
        )
        (made / FIGURES).mkdir(exist_ok=True)
        draw_figures(report, made / FIGURES)
        write_whole(made / DATASHEET, datasheet(report).encode())
        write_whole(made / CARD, msgspec.json.format(msgspec.json.encode(report)) + b"\n")
        return report

    def _contents(self, made: Path) -> list[SnapshotCard]:
        size = len(self._dates)
        with self._engine.sql(self._work) as session:
            session.view("all_links", ParquetFiles([self._work / "counted" / ALL_LINKS]))
            session.view("counts", ParquetFiles([self._work / "counted" / COUNTS]))
            session.view("targets", ParquetFiles([self._work / "counted" / TARGETS]))
            session.view("chosen", ParquetFiles([self._work / "sampled" / CHOSEN]))
            links = by_snapshot(session, "SELECT s, n FROM all_links", size)
            resolved = by_snapshot(session, "SELECT s, CAST(sum(n) AS BIGINT) AS n FROM counts GROUP BY s", size)
            pools = by_snapshot(session, "SELECT s, count(DISTINCT e) AS n FROM targets GROUP BY s", size)
            rows = list(session.rows("SELECT s, g, u, count(*) AS n FROM chosen GROUP BY s, g, u ORDER BY s, g, u"))
            entities = list(
                session.rows("SELECT s, g, count(DISTINCT e) AS n FROM chosen GROUP BY s, g ORDER BY s, g")
            )
        return [
            SnapshotCard(
                date,
                self._times[number].since,
                pools[number],
                links[number],
                resolved[number],
                {
                    category: {
                        subset: sum(n for s, g, u, n in rows if (s, g, u) == (number, place, which))
                        for which, subset in enumerate(SUBSETS)
                    }
                    for place, category in enumerate(CATEGORIES)
                },
                {
                    category: sum(n for s, g, n in entities if (s, g) == (number, place))
                    for place, category in enumerate(CATEGORIES)
                },
                checksums(made / snapshot_folder(date)),
            )
            for number, date in enumerate(self._dates)
        ]

    def _missing(self, earlier: Earlier) -> list[Missing]:
        """Continual entities of before without a row in a new snapshot, and why."""
        with self._engine.sql(self._work) as session:
            session.view("targets", ParquetFiles([self._work / "counted" / TARGETS]))
            session.view("chosen", ParquetFiles([self._work / "sampled" / CHOSEN]))
            listed = ", ".join(map(str, sorted(earlier.continual))) or "-1"
            there = set(session.rows(f"SELECT DISTINCT s, e FROM targets WHERE e IN ({listed})"))
            taken = set(session.rows(f"SELECT DISTINCT s, e FROM chosen WHERE e IN ({listed})"))
        return [
            Missing(id, title, date, "no mentions left" if (number, id) in there else "no such page")
            for number, date in enumerate(self._dates)
            for id, title in sorted(earlier.continual.items())
            if (number, id) not in taken
        ]


def write_qids(tables: Sequence[Source], path: Path) -> None:
    """Write the Wikidata items of pages that tables `page_props` list."""
    ledger = Ledger("skip")
    items = chain.from_iterable(part.items(ledger) for source in tables for part in source.parts())
    identifiers = (item for item in items if isinstance(item, Identifier) and item.scheme == "wikidata")
    write_rows(({"e": item.page, "q": item.value} for item in identifiers), path)


def _steps(folder: Path) -> list[Step]:
    return msgspec.json.decode((folder / FUNNEL).read_bytes(), type=list[Step])


def _curves(folder: Path) -> dict[str, list[Curve]]:
    return msgspec.json.decode((folder / CURVES).read_bytes(), type=dict[str, list[Curve]])


def _fewer(card: TemporalReport, contents: Sequence[SnapshotCard]) -> dict[str, list[int]]:
    wanted = card.first.rows
    return {
        f"{one.date} {category} {subset}": [one.rows[category][subset], wanted[category][subset]]
        for one in contents
        for category in CATEGORIES
        for subset in SUBSETS
        if one.rows[category][subset] < wanted[category][subset]
    }


_CHANGES = {
    "min_men_prior_rank": "Set it to 1, to keep the names that lead to their entities best",
    "max_men_prior": "Set it to 1.0, to keep names that mean one entity only",
    "redirects": "Every link that was left names a redirect",
    "category": "No entity that was left is in all snapshots or was created in the time before one",
    "ed_men_subsets": "No entity that was left has three mentions unlike enough: lower it",
    "equal_snapshots": "One snapshot has none of what others have: set it to false, or leave out that snapshot",
}


def _nothing_left(work: Path, steps: Sequence[Step], options: TemporalOptions) -> InputError:
    """Which filter took the last mention, and what to change."""
    if not any(steps[0].before):
        return InputError(
            "no link leads to a page as of any snapshot. Check the dates, and that it is the whole history"
        )
    place, last = next((place, one) for place, one in enumerate(steps) if not any(one.left))
    funnel = "; ".join(f"{one.name} left {sum(one.left):,}" for one in steps[: place + 1])
    value = getattr(options, last.name, None)
    told = last.name if value is None else f"{last.name} = {value}"
    hint = _CHANGES.get(last.name, "Change it, with --set or in the configuration")
    return InputError(f"no mention is left after the filter {told}, of {sum(steps[0].before):,} ({funnel}). {hint}")
