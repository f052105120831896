"""`entlink datasets build wikient`: sentences with links, and the descriptions of what they link to."""

from __future__ import annotations

import shlex
from time import monotonic
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.datasets.build import building, kinds
from entlink_cli.fields import given_fields
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, number_of, say, say_json, size

if TYPE_CHECKING:
    from entlink.datasets.wikient.card import WikiEntReport
    from entlink_cli.parsing import Namespace, Parser

_PROBLEMS_SHOWN = 5


def _configure(parser: Parser) -> None:
    parser.add_argument(
        "sources", metavar="SOURCE", nargs="+", help="a wiki's dump, or any other source with texts and links"
    )
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder to make")
    parser.add_argument(
        "--kind",
        metavar="KIND,…",
        type=kinds,
        default=("text",),
        help="kinds of paragraphs whose sentences are taken: text, item, cell, caption (default: text)",
    )
    parser.add_argument(
        "--description-tokens",
        metavar="N",
        type=values.whole,
        default=100,
        help="keep the first N words of an entity's page (default: 100)",
    )
    parser.add_argument(
        "--max-tokens",
        metavar="N",
        type=values.weight,
        default=0,
        help="leave out sentences with more words (default: keep all)",
    )
    options.reading(parser)
    parser.add_argument("--replace", action="store_true", help="put it in place of one that is there")
    options.machine(parser)
    options.quiet(parser)
    options.as_json(parser, "print the card as JSON")
    options.wiki(parser)
    options.engine(parser)


def _build(arguments: Namespace) -> None:
    from entlink.datasets.wikient.build import build_wikient
    from entlink.datasets.wikient.options import WikiEntOptions

    given = given_fields(arguments, WikiEntOptions)
    chosen = WikiEntOptions(**given | {"wiki": options.wiki_options(arguments), "kinds": arguments.kind})
    started = monotonic()
    with building(arguments) as (report, engine):
        made = build_wikient(
            arguments.sources,
            arguments.output,
            chosen,
            replace=arguments.replace,
            command=shlex.join(["entlink", *arguments.words]),
            progress=report,
            engine=engine,
        )
    if arguments.json:
        say_json(made)
    elif not arguments.quiet:
        say(f"{arguments.output} built in {monotonic() - started:.1f} s", *_facts(made))


def _facts(made: WikiEntReport) -> list[str]:
    read = made.read
    rows = [
        ("read", f"{number_of(read.pages, 'page')}, {number_of(read.sentences, 'sentence')}"),
        ("with links", f"{number_of(read.with_links, 'sentence')}, {number_of(read.links, 'link')}"),
        ("to a page", number_of(made.resolved, "link")),
        ("contexts", f"{made.contexts:,} of {made.entities:,} entities with a description"),
    ]
    if read.too_long:
        rows.append(("too long", number_of(read.too_long, "sentence")))
    rows += [("file", f"{file.name}: {size(file.bytes)}") for file in made.files]
    if made.skipped:
        rows.append(("skipped", number_of(made.skipped, "record")))
    return columns(rows, "  ") + [f"    {problem}" for problem in made.problems[:_PROBLEMS_SHOWN]]


COMMANDS = {
    "datasets build wikient": Command(
        _build,
        _configure,
        "Make a WikiEnt set (paper 2): sentences in which an author linked words to a page, one row per link, each "
        "with the first words of that page. `entlink train entelmo` trains on it. Sentences without links are left "
        "out, and links to pages without a text. A build that was interrupted goes on where it stopped when the same "
        "command is run again.",
        ("entlink datasets build wikient samples/wiki/samplewiki.xml -o samplewiki-contexts",),
    ),
}
