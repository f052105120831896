"""The steps of a WikiEnt set: parts of the sources to rows, links to entities with descriptions, and the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from entlink.datasets.folder_target import CARD, DATASHEET
from entlink.datasets.hyperlinks.report import source_checksum
from entlink.datasets.temporal.counting import resolve_titles
from entlink.datasets.wikient.card import FileCard, SourceFile, WikiEntReport, datasheet, told_options
from entlink.datasets.wikient.options import WikiEntOptions
from entlink.datasets.wikient.rows import CONTEXTS, DESCRIPTIONS, Context, Description
from entlink.datasets.wikient.staging import COLUMNS, PartPlan, ReadCounts, read_card, stage
from entlink.engine.protocol import Engine, JsonFiles, SqlSession, Task
from entlink.errors import InputError
from entlink.io.atomic import write_whole
from entlink.io.checksums import checksum
from entlink.kb.build.source_parts import PROBLEMS_KEPT, Omissions, PartRunner
from entlink.kb.names.index_rows import write_rows
from entlink.sources import Source
from entlink.text.dates import now
from entlink.version import __version__

_FOUND = "found.json"


class Found(msgspec.Struct, frozen=True):
    """What became of links: those to a page, those of them with a description, and how many entities these are."""

    resolved: int
    contexts: int
    entities: int


def build_set(
    engine: Engine, sources: Sequence[Source], work: Path, made: Path, options: WikiEntOptions, command: str
) -> WikiEntReport:
    """Make the files of the set in the folder `made`; returns its card, which is among them."""
    parts = _read(engine, sources, work / "parts", options)
    joined = engine.map_to_files(
        join, [Task("joined", (engine.share(1), parts))], work, stage="joining", at_most=1, here=True
    )[0]
    found = msgspec.json.decode((joined / _FOUND).read_bytes(), type=Found)
    if not found.contexts:
        raise InputError(
            "no link leads to a page with a text, so there is no context. Check that the sources have links between "
            "their own pages"
        )
    for name in (CONTEXTS, DESCRIPTIONS):
        (made / name).unlink(missing_ok=True)
        (made / name).hardlink_to(joined / name)
    report = _report(sources, parts, found, made, options, command)
    write_whole(made / DATASHEET, datasheet(report).encode())
    write_whole(made / CARD, msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    return report


def join(engine: Engine, parts: Sequence[Path], path: Path) -> None:
    """Write a folder with the contexts whose entity has a description, and these descriptions."""
    path.mkdir(exist_ok=True)
    with engine.sql(path.parent) as session:
        for name in COLUMNS:
            files = JsonFiles([part / name for part in parts], COLUMNS[name])
            session.view(f"staged_{name.removesuffix('.jsonl')}", files)
        session.table("pages", "SELECT 0 AS s, k AS t, i AS e FROM staged_pages")
        session.table("redirects", "SELECT 0 AS s, source, target FROM staged_redirects")
        resolve_titles(session)
        session.table(
            "described",
            "SELECT i, n, d FROM (SELECT i, n, d, row_number() OVER (PARTITION BY i ORDER BY n, d) AS place "
            "FROM staged_pages WHERE d <> '') one WHERE place = 1",
        )
        session.table(
            "linked",
            "SELECT p, o, staged_links.s AS sentence, a, b, named.e AS e, i AS page FROM staged_links "
            "JOIN named ON named.t = staged_links.t",
        )
        found = _write(session, path)
    write_whole(path / _FOUND, msgspec.json.encode(found))


def _write(session: SqlSession, path: Path) -> Found:
    """Write the rows, streamed, in the order of the source."""
    joined = "FROM linked JOIN described ON described.i = linked.e"
    contexts = session.rows(f"SELECT p, o, sentence, a, b, e, page {joined} ORDER BY p, o")
    write_rows((Context(*row[2:]) for row in contexts), path / CONTEXTS)
    wanted = "FROM described WHERE EXISTS (SELECT 1 FROM linked WHERE linked.e = described.i)"
    descriptions = session.rows(f"SELECT i, n, d {wanted} ORDER BY i")
    write_rows((Description(*row) for row in descriptions), path / DESCRIPTIONS)
    return Found(
        session.number("SELECT count(*) FROM linked"),
        session.number(f"SELECT count(*) {joined}"),
        session.number(f"SELECT count(*) {wanted}"),
    )


def _read(engine: Engine, sources: Sequence[Source], folder: Path, options: WikiEntOptions) -> list[Path]:
    """The parts of all sources, each a folder of rows."""
    total = sum(source.size for source in sources)
    runner = PartRunner(engine, stage, folder, measure=lambda _: 0, limit=None, total=total)

    def read(source: Source) -> list[Path]:
        kinds, words, most = options.kinds, options.description_tokens, options.max_tokens
        plan = PartPlan(kinds, words, most, source.on_error, source.wiki is not None)
        return runner.run(source, lambda part, number: (part, number, plan))

    return [part for source in sources for part in read(source)]


def _report(
    sources: Sequence[Source], parts: Sequence[Path], found: Found, made: Path, options: WikiEntOptions, command: str
) -> WikiEntReport:
    read, omitted = ReadCounts(), Omissions()
    for part in parts:
        card = read_card(part)
        read.add(card.read)
        omitted.add(card)
    for source in sources:
        omitted.add(source)
    return WikiEntReport(
        entlink=__version__,
        built=now(),
        command=command,
        options=told_options(options),
        sources=[SourceFile(one.path.name, one.format, one.size, source_checksum(one.path)) for one in sources],
        read=read,
        resolved=found.resolved,
        contexts=found.contexts,
        entities=found.entities,
        files=[
            FileCard(name, (made / name).stat().st_size, checksum(made / name)) for name in (CONTEXTS, DESCRIPTIONS)
        ],
        skipped=omitted.skipped,
        problems=omitted.problems[:PROBLEMS_KEPT],
    )
