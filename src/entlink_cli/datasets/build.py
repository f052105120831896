"""`entlink datasets build`: corpora from sources."""

from __future__ import annotations

import shlex
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.failures import is_interruption
from entlink_cli.fields import given_fields
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, number_of, say, say_json, size
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.datasets.hyperlinks.build import HyperlinksReport
    from entlink.engine.spark import SparkEngine
    from entlink_cli.parsing import Namespace, Parser
    from entlink_cli.terminal.progress import Report

_CORPORA = ("hyperlinks",)
# Those of `entlink.datasets.hyperlinks.build.KINDS`, which help must not wait for.
KINDS = ("text", "item", "cell", "caption")
_PATIENCE = 2.0
_PROBLEMS_SHOWN = 5


def kinds(value: str) -> tuple[str, ...]:
    """KIND,…: kinds of paragraphs, each once."""
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",")))
    for name in names:
        if name not in KINDS:
            raise ArgumentTypeError(f"{name!r} is not a kind of paragraph: choose among {', '.join(KINDS)}")
    return names


def shares(value: str) -> dict[str, float]:
    """NAME=SHARE,…: the shares add up to 1."""
    from entlink.datasets.selection import check_shares
    from entlink.errors import InputError

    found: dict[str, float] = {}
    for part in values.text(value).split(","):
        name, equals, share = part.partition("=")
        if not equals or name.strip() in found:
            raise ArgumentTypeError(f"{part!r} is not a new NAME=SHARE, such as train=0.8,dev=0.1,test=0.1")
        found[name.strip()] = values.share(share)
    try:
        check_shares(found)
    except InputError as problem:
        raise ArgumentTypeError(str(problem)) from None
    return found


@contextmanager
def building(arguments: Namespace) -> Iterator[tuple[Report, SparkEngine | None]]:
    """The progress and the engine of a build; an interruption reports that what was done is kept."""
    try:
        with (
            progress(quiet=arguments.quiet, patience=_PATIENCE) as report,
            options.opened_engine(arguments, report) as engine,
        ):
            yield report, engine
    except (KeyboardInterrupt, RuntimeError) as problem:
        if is_interruption(problem):
            note("what was done is kept; the same command goes on from there")
        raise


def _configure(parser: Parser) -> None:
    parser.add_argument("corpus", metavar="CORPUS", choices=_CORPORA, help=f"what to make: {', '.join(_CORPORA)}")
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help="files or folders, plain or compressed")
    parser.add_argument(
        "-o", "--output", metavar="OUT.jsonl", required=True, help="the file to make, or OUT.jsonl.gz"
    )
    parser.add_argument(
        "--kb",
        metavar="NAME.kb",
        help="name the entities of this knowledge base; links to anything else are left out",
    )
    parser.add_argument(
        "--nil", action="store_true", help="keep links to nothing in the knowledge base, with NIL as their gold"
    )
    _configure_choice(parser)
    options.reading(parser)
    parser.add_argument(
        "--processes", metavar="N", type=values.whole, help="processes (default: the cores, at most 8)"
    )
    parser.add_argument("--replace", action="store_true", help="put it in place of one that is there")
    options.quiet(parser)
    options.as_json(parser, "print the card as JSON")
    options.wiki(parser)
    options.engine(parser)


def _configure_choice(parser: Parser) -> None:
    """Which documents to take."""
    parser.add_argument(
        "--kind",
        metavar="KIND,…",
        type=kinds,
        default=("text", "item"),
        help=f"kinds of paragraphs to take, of {', '.join(KINDS)} (default: text,item)",
    )
    parser.add_argument(
        "--min-links", metavar="N", type=values.whole, default=1, help="take texts with so many links (default: 1)"
    )
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--limit", metavar="N", type=values.whole, help="take the first N documents only")
    some.add_argument("--sample", metavar="N", type=values.whole, help="take N documents by chance")
    parser.add_argument(
        "--seed",
        metavar="S",
        type=values.any_whole,
        default=0,
        help="what chance depends on, in samples and splits (default: 0)",
    )
    parser.add_argument(
        "--split",
        metavar="NAME=SHARE,…",
        type=shares,
        default={},
        help="a file each, OUT.NAME.jsonl, a page's documents in one: train=0.8,dev=0.1,test=0.1",
    )


def _build(arguments: Namespace) -> None:
    from entlink.datasets.hyperlinks.build import HyperlinkOptions, build_hyperlinks

    if arguments.nil and arguments.kb is None:
        arguments.parser.error("--nil needs --kb: NIL is what a knowledge base does not have")
    given = given_fields(arguments, HyperlinkOptions)
    chosen = HyperlinkOptions(**given | {"wiki": options.wiki_options(arguments), "kinds": arguments.kind})
    started = monotonic()
    with building(arguments) as (report, engine):
        made = build_hyperlinks(
            arguments.sources,
            arguments.output,
            chosen,
            kb=arguments.kb,
            replace=arguments.replace,
            command=shlex.join(["entlink", *arguments.words]),
            progress=report,
            engine=engine,
        )
    _summarise(arguments, made, monotonic() - started)


def _summarise(arguments: Namespace, made: HyperlinksReport, seconds: float) -> None:
    if arguments.json:
        say_json(made)
    elif not arguments.quiet:
        say(f"{arguments.output} built in {seconds:.1f} s", *_facts(made))
        if arguments.kb and made.documents:
            first = Path(arguments.output).with_name(made.files[0].name)
            words = ["entlink", "link", arguments.kb, str(first), "--mentions", "given", "-o", "linked.jsonl"]
            say("", "Try next:", f"  {shlex.join(words)}")


def _facts(made: HyperlinksReport) -> list[str]:
    links = f"{made.links:,}" if made.kb is None else f"{made.links:,} to entities"
    rows = [
        ("read", f"{number_of(made.read.pages, 'page')}, {number_of(made.read.links, 'link')}"),
        ("documents", f"{made.documents:,} of {number_of(made.pages, 'page')}"),
        ("links", links + (f", {made.nil:,} NIL" if made.nil else "")),
    ]
    if made.kb is not None and made.read.unresolved:
        fate = "kept as NIL" if made.options["nil"] else "left out"
        unresolved = f"{number_of(made.read.unresolved, 'link')} to nothing in {made.kb.name}, {fate}"
        rows.append(("unresolved", unresolved))
    rows += [
        ("file", f"{file.name}: {number_of(file.documents, 'document')}, {size(file.bytes)}") for file in made.files
    ]
    skipped = sum(source.skipped for source in made.sources)
    if skipped:
        rows.append(("skipped", number_of(skipped, "record")))
    lines = columns(rows, "  ")
    lines += [f"    {problem}" for problem in made.problems[:_PROBLEMS_SHOWN]]
    return lines + (["    …"] if len(made.problems) > _PROBLEMS_SHOWN else [])


COMMANDS = {
    "datasets build": Command(
        _build,
        _configure,
        "Make a corpus from sources. Of hyperlinks: each paragraph with links, of a wiki's dump or of articles, "
        "becomes a document whose gold is what the author linked. A build that was interrupted goes on where it "
        "stopped when the same command is run again. For others, see `entlink datasets build conversations`, "
        "`entlink datasets build captions`, `entlink datasets build temporal` and `entlink datasets build probes`.",
        (
            "entlink datasets build hyperlinks samples/wiki/samplewiki.xml -o links.jsonl",
            "entlink datasets build hyperlinks samples/wiki/samplewiki.xml -o gold.jsonl.gz --kb wiki.kb --nil "
            "--split train=0.8,test=0.2",
        ),
    ),
}
