"""`entlink kb build`, `index`, `merge`, `export` and `upgrade`: whole knowledge bases."""

from __future__ import annotations

import shlex
import sys
from argparse import BooleanOptionalAction
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.fields import given_fields
from entlink_cli.kb.vectors import encoders_of, telling_of_vectors, vectors_line, vectors_option
from entlink_cli.parsing import Command
from entlink_cli.terminal.left_out import left_out_rows
from entlink_cli.terminal.output import columns, note, number_of, say, say_json, size
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.io.progress import Progress
    from entlink.kb.indexes.making import IndexReport
    from entlink.kb.snapshots.build import SnapshotsBuilt
    from entlink.kb.store.manifest import Manifest, MergeTotals
    from entlink_cli.parsing import Namespace, Parser

_PROBLEMS_SHOWN = 5


def _output(parser: Parser, metavar: str, what: str) -> None:
    parser.add_argument("-o", "--output", metavar=metavar, required=True, help=what)


def _replace(parser: Parser) -> None:
    parser.add_argument("--replace", action="store_true", help="put it in place of one that is there")


# build


def _configure_build(parser: Parser) -> None:
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help="files or folders, plain or compressed")
    _output(parser, "NAME.kb", "the knowledge base to make")
    options.reading(parser)
    parser.add_argument(
        "--no-text-counts",
        action="store_true",
        help="do not count how often names stand unlinked in the texts: faster, but common words get linked",
    )
    parser.add_argument(
        "--descriptions",
        choices=("opening", "full"),
        help="describe an entity by its whole text, and keep its links (default), or by how its page begins, which "
        "is smaller and the default with --no-text-counts",
    )
    parser.add_argument(
        "--names-in-openings",
        action=BooleanOptionalAction,
        help="take the other names that first sentences give, too (default: yes), as cilantro in "
        '"Coriander, also known as cilantro, is"; of English texts',
    )
    parser.add_argument("--limit", metavar="N", type=values.whole, help="take the first N pages or records only")
    options.machine(parser)
    _replace(parser)
    options.quiet(parser)
    options.as_json(parser, "print the manifest as JSON")
    options.wiki(parser)
    _configure_wikidata(parser)
    options.engine(parser)
    _configure_history(parser)


def _configure_wikidata(parser: Parser) -> None:
    group = parser.add_argument_group("of a dump of Wikidata (see docs/wikidata.md)")
    group.add_argument(
        "--with-page",
        action="store_true",
        help="take only items that have a page in the Wikipedia of the language",
    )
    group.add_argument(
        "--drop-types",
        metavar="FILE",
        type=values.text,
        help="a file of types, one id a line: leave out what is one of them or a kind of one, beside what is "
        "Wikimedia's own, such as templates and lists",
    )


def _configure_history(parser: Parser) -> None:
    group = parser.add_argument_group("of a wiki's full history (pages-meta-history)")
    dates = "DATE,… or START/END/INTERVAL"
    group.add_argument(
        "--snapshots",
        metavar="DATES",
        type=values.text,
        help=f"make a snapshot for each of these dates ({dates}, such as 2013-01-01/2022-01-01/yearly; also monthly, "
        "weekly, daily, or a number of seconds)",
    )
    group.add_argument(
        "--add-snapshots",
        metavar="DATES",
        type=values.text,
        help="add those of these snapshots that a knowledge base lacks; nothing else of it is made anew",
    )
    group.add_argument(
        "--stable-interval",
        metavar="SECONDS",
        type=values.whole,
        help="of each page, take the version that stood longest in so many seconds before the date (default: "
        "2592000, 30 days)",
    )


def _build(arguments: Namespace) -> None:
    from entlink.kb.build.from_sources import BuildOptions, build

    _check_history_options(arguments)
    chosen = BuildOptions(
        **given_fields(arguments, BuildOptions)
        | {"count_text": not arguments.no_text_counts, "wiki": options.wiki_options(arguments)}
    )
    started = monotonic()
    with _telling_of_resumption(arguments) as report, options.opened_engine(arguments, report) as engine:
        if arguments.snapshots or arguments.add_snapshots:
            from entlink.kb.snapshots.build import build_snapshots
            from entlink.sources import STABLE_INTERVAL

            built = build_snapshots(
                arguments.sources,
                arguments.output,
                arguments.snapshots or arguments.add_snapshots,
                chosen,
                stable_interval=arguments.stable_interval or STABLE_INTERVAL,
                add=bool(arguments.add_snapshots),
                replace=arguments.replace,
                command=_command(arguments),
                progress=report,
                engine=engine,
            )
        else:
            manifest = build(
                arguments.sources,
                arguments.output,
                chosen,
                replace=arguments.replace,
                command=_command(arguments),
                progress=report,
                engine=engine,
            )
    seconds = monotonic() - started
    if arguments.snapshots or arguments.add_snapshots:
        _summarise_snapshots(arguments, built, seconds)
    else:
        _summarise(arguments, manifest, seconds)


def _check_history_options(arguments: Namespace) -> None:
    if arguments.snapshots and arguments.add_snapshots:
        arguments.parser.error("--snapshots and --add-snapshots do not go together")
    if arguments.stable_interval and not (arguments.snapshots or arguments.add_snapshots):
        arguments.parser.error("--stable-interval goes with --snapshots")
    if arguments.add_snapshots and arguments.replace:
        arguments.parser.error("--add-snapshots leaves what is there: --replace does not go with it")


@contextmanager
def _telling_of_resumption(arguments: Namespace) -> Iterator[Progress]:
    """A progress bar; before it a note, where the build goes on from one that was interrupted."""
    resumption = _Resumption(Path(arguments.output))
    with progress(quiet=arguments.quiet) as bar:

        def report(stage: str, done: float, total: float) -> None:
            if resumption.noticed() and not arguments.quiet:
                note("resuming the build that was interrupted")
            bar(stage, done, total)

        yield report


def _summarise_snapshots(arguments: Namespace, built: SnapshotsBuilt, seconds: float) -> None:
    from entlink.kb.info import info
    from entlink.kb.snapshots.folders import short, told

    if arguments.json:
        say_json({"snapshots": built.made, "empty": built.empty, "there": built.there})
        return
    if arguments.quiet:
        return
    added = "snapshots added" if built.made else "stays as it was,"
    done = added if arguments.add_snapshots else "built"
    rows = [
        (
            short(date),
            number_of(one.entities, "entity", "entities"),
            f"{one.links:,} links",
            f"{one.links_unresolved:,} to none",
        )
        for date, one in built.made.items()
    ]
    say(f"{arguments.output} {done} in {seconds:.1f} s", *columns(rows, "  "))
    if built.there:
        say(f"  there before: {told(list(built.there))}")
    say(f"  size {size(info(arguments.output).bytes)}")
    skipped = sum(source.skipped for one in list(built.made.values())[:1] for source in one.sources)
    if skipped:
        problems = next(iter(built.made.values())).problems
        say(f"  skipped: {number_of(skipped, 'page')}", *(f"    {problem}" for problem in problems[:_PROBLEMS_SHOWN]))
    name, date = shlex.quote(arguments.output), short(next(iter(built.made), "DATE"))
    say("", "Try next:", f"  entlink kb snapshots {name}", f"  entlink link {name} FILE --as-of {date}")


class _Resumption:
    """Tells, once, that a build took up what an earlier one had read: it then leaves the plan as it was."""

    def __init__(self, target: Path) -> None:
        from entlink.kb.build.from_sources import SUFFIX

        self.work = target.with_name(target.name + SUFFIX)
        has_read = any((self.work / "staging").glob("*/part-*"))
        self._before = self._stamp() if has_read else None

    def _stamp(self) -> tuple[int, int] | None:
        try:
            status = (self.work / "plan.json").stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns

    def noticed(self) -> bool:
        """True at the first call if the build goes on from an earlier one."""
        resumed = self._before is not None and self._before == self._stamp()
        self._before = None
        return resumed


def _command(arguments: Namespace) -> str:
    return shlex.join(["entlink", *arguments.words])


def _summarise(arguments: Namespace, manifest: Manifest, seconds: float) -> None:
    if arguments.json:
        say_json(manifest)
    elif not arguments.quiet:
        say(f"{arguments.output} built in {seconds:.1f} s", *_facts(arguments.output, manifest))
        say("", "Try next:", *(f"  {line}" for line in _next_steps(arguments.output, manifest)))


def _facts(target: str, manifest: Manifest) -> list[str]:
    from entlink.kb.info import info

    about = info(target)
    rows = [("entities", f"{manifest.entities:,}"), ("names", f"{about.names:,}")]
    if manifest.links or manifest.links_unresolved:
        rows.append(("links", f"{manifest.links:,} to entities, {manifest.links_unresolved:,} to none"))
    if manifest.texts:
        rows.append(("texts", f"{manifest.texts:,} searched for names"))
    if manifest.joined:
        rows.append(("joined", _joined(manifest.joined)))
    rows.append(("size", size(about.bytes)))
    skipped = sum(source.skipped for source in manifest.sources)
    if skipped:
        rows.append(("skipped", number_of(skipped, "record")))
    rows += left_out_rows(manifest)
    lines = columns(rows, "  ")
    lines += [f"    {problem}" for problem in manifest.problems[:_PROBLEMS_SHOWN]]
    if len(manifest.problems) > _PROBLEMS_SHOWN:
        lines.append("    …")
    return lines


def _joined(totals: MergeTotals) -> str:
    told = f"{totals.by_title:,} by title, {totals.by_redirect:,} by redirect, {totals.by_openings:,} by openings"
    return told + (f"; {totals.renamed:,} got a new id" if totals.renamed else "")


def _next_steps(target: str, manifest: Manifest) -> list[str]:
    name = shlex.quote(target)
    if not manifest.entities:
        return [f"entlink kb add {name} --id 1 --title 'Your first entity'"]
    return [f"entlink kb info {name}", f"entlink kb search {name} NAME", f"entlink link {name} FILE"]


# index, merge, export, upgrade


def _configure_index(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument(
        "--words",
        dest="over_words",
        action="store_true",
        help="make the index over the words of names and descriptions too, which is else made when it is needed",
    )
    parser.add_argument(
        "--company",
        dest="over_company",
        action="store_true",
        help="make the index of which words and names stand together in descriptions too, for the ranker combination",
    )
    parser.add_argument(
        "--short",
        dest="over_short",
        action="store_true",
        help="make the index of names cut short too, which a build makes: for a knowledge base of an earlier one",
    )
    parser.add_argument(
        "--fine-types",
        metavar="N",
        type=values.whole,
        help="count the N most frequent properties with their values too; else the 10,000 when they are needed",
    )
    parser.add_argument(
        "--entity-vectors",
        dest="over_entities",
        action="store_true",
        help="train vectors of words and entities in one space too, on descriptions and links, for the retriever "
        "entity-vectors",
    )
    vectors_option(parser)
    options.machine(parser)
    options.quiet(parser)


def _index(arguments: Namespace) -> None:
    with options.kb_to_edit(arguments) as kb:
        encoders = encoders_of(arguments)
        with telling_of_vectors(kb, encoders, quiet=arguments.quiet), progress(quiet=arguments.quiet) as report:
            made = kb.index(
                words=arguments.over_words,
                cooccurrence=arguments.over_company,
                short=arguments.over_short,
                fine_types=arguments.fine_types,
                entity_vectors=arguments.over_entities,
                vectors=encoders,
                memory=arguments.memory,
                processes=arguments.processes,
                progress=report,
            )
    if not arguments.quiet:
        say(*_index_lines(arguments, made))


def _index_lines(arguments: Namespace, made: IndexReport) -> list[str]:
    said = [] if made.names is None else [number_of(made.names, "name")]
    said += ["the words of names and descriptions"] if arguments.over_words else []
    said += ["the company that names keep in descriptions"] if arguments.over_company else []
    said += ["names cut short"] if arguments.over_short else []
    said += ["fine types"] if arguments.fine_types else []
    said += ["vectors of words and entities"] if arguments.over_entities else []
    return [
        *([f"{arguments.kb}: {' and '.join(said)} indexed"] if said else []),
        *(f"{arguments.kb}: {vectors_line(one)}" for one in made.vectors),
    ]


def _configure_merge(parser: Parser) -> None:
    parser.add_argument("kbs", metavar="NAME.kb", nargs="+", help="the knowledge bases to merge, two or more")
    _output(parser, "OUT.kb", "the knowledge base to make")
    parser.add_argument(
        "--by",
        choices=("id", "title"),
        default="id",
        help="which entities are one: those with the same id (default), or with the same title, with a title that "
        "is a redirect of the other, or with openings that name each other",
    )
    parser.add_argument(
        "--on-conflict",
        choices=("error", "first", "last"),
        default="error",
        help="where two have an id with unlike entities: stop (default), or take the first or the last",
    )
    options.machine(parser)
    _replace(parser)
    options.quiet(parser)
    options.as_json(parser, "print the manifest as JSON")


def _merge(arguments: Namespace) -> None:
    from entlink.kb.knowledge_base import KnowledgeBase

    if len(arguments.kbs) < 2:
        arguments.parser.error("a merge needs two knowledge bases or more")
    started = monotonic()
    with progress(quiet=arguments.quiet) as report:
        manifest = KnowledgeBase.merge(
            arguments.kbs,
            arguments.output,
            by=arguments.by,
            on_conflict=arguments.on_conflict,
            replace=arguments.replace,
            memory=arguments.memory,
            processes=arguments.processes,
            command=_command(arguments),
            progress=report,
        )
    _summarise(arguments, manifest, monotonic() - started)


def _configure_export(parser: Parser) -> None:
    options.kb_argument(parser)
    _output(parser, "OUT.jsonl", "the file to write; with -, stdout")
    options.as_of(parser)
    options.quiet(parser)


def _export(arguments: Namespace) -> None:
    to_stdout = arguments.output == "-"
    with options.kb_to_edit(arguments) as kb, progress(quiet=arguments.quiet, patience=1.0) as report:
        out = sys.stdout.buffer if to_stdout else arguments.output
        count = kb.export(out, as_of=arguments.as_of, progress=report)
    if not arguments.quiet and not to_stdout:
        say(f"{arguments.output}: {number_of(count, 'line')} written")


def _upgrade(arguments: Namespace) -> None:
    from entlink.kb.knowledge_base import KnowledgeBase

    before, after = KnowledgeBase.upgrade(arguments.kb)
    done = f"store version {before} upgraded to {after}" if before < after else f"store version {after} is current"
    say(f"{arguments.kb}: {done}")


COMMANDS = {
    "kb build": Command(
        _build,
        _configure_build,
        "Build a knowledge base from tables (CSV, TSV, JSON lines, Parquet), articles with links, a wiki's dumps "
        "(XML with any SQL tables beside it), WikiExtractor or ZESHEL folders, or SKOS vocabularies. A build that "
        "was interrupted goes on where it "
        "stopped when the same command is run again.",
        (
            "entlink kb build samples/products.csv -o products.kb",
            "entlink kb build samples/wiki/samplewiki.xml samples/wiki/samplewiki-page_props.sql -o samplewiki.kb",
            "entlink kb build samples/products.csv -o products.kb --columns types=category --language en --replace",
        ),
    ),
    "kb index": Command(
        _index,
        _configure_index,
        "Fold the edits since the last index into a new one. Edits take effect at once without this; many of "
        "them make linking slower, and a new index makes it fast again. Indexes over words, company, names cut "
        "short, fine types, entities or vectors that are there are made anew with it.",
        ("entlink kb index shop.kb", "entlink kb index shop.kb --words --company"),
    ),
    "kb merge": Command(
        _merge,
        _configure_merge,
        "Merge knowledge bases into a new one: entities by id or title, counts added up. Pins and blocks come along.",
        (
            "entlink kb build samples/products.csv -o other.kb --no-text-counts",
            "entlink kb merge shop.kb other.kb -o both.kb --on-conflict first",
            "entlink kb merge shop.kb other.kb -o by-title.kb --by title",
        ),
    ),
    "kb export": Command(
        _export,
        _configure_export,
        "Write all entities with their dated versions, and pins and blocks, as JSON lines, which `entlink kb build` "
        "reads back. With --as-of, the entities of that date: each with the number and revision of its page, and "
        "with the titles that redirected to it.",
        ("entlink kb export shop.kb -o shop.jsonl", "entlink kb export shop.kb -o then.jsonl --as-of 2020-05-01"),
    ),
    "kb upgrade": Command(
        _upgrade,
        options.kb_argument,
        "Bring a knowledge base that an older release made up to this one, in place.",
        ("entlink kb upgrade shop.kb",),
    ),
}
