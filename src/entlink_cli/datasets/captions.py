"""`entlink datasets build captions`: captioned pictures with gold, from a wiki's captions or lines of captions."""

from __future__ import annotations

import shlex
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from entlink_cli import options, values
from entlink_cli.datasets.build import building, shares
from entlink_cli.fields import add_fields, given_fields
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, number_of, say, say_json, size

if TYPE_CHECKING:
    from entlink.datasets.captions.build import CaptionOptions, CaptionsReport
    from entlink_cli.parsing import Namespace, Parser

_PROBLEMS_SHOWN = 5


def _configure(parser: Parser) -> None:
    from entlink.datasets.captions.options import CaptionOptions

    parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="+",
        help="dumps of a MediaWiki, or JSON lines with page, image, caption and mentions",
    )
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder to make")
    parser.add_argument(
        "--kb", metavar="NAME.kb", required=True, help="the knowledge base that links are looked up in"
    )
    parser.add_argument(
        "--pictures",
        metavar="FOLDER",
        help="the folder of the pictures, or a tar of them; without it they are named, and not looked at",
    )
    _configure_choice(parser)
    _configure_pictures(parser)
    parser.add_argument(
        "--split",
        metavar="NAME=SHARE,…",
        type=shares,
        help="a file each, a page's captions in one (default: train=0.8,dev=0.1,test=0.1)",
    )
    add_fields(parser, CaptionOptions, "seed")
    parser.add_argument(
        "--format", metavar="F", help="format of the sources: mediawiki or captions (default: found by content)"
    )
    parser.add_argument("--language", metavar="L", help="the language of a wiki's pages")
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="at a bad record: stop (default), or leave it out and report it at the end",
    )
    parser.add_argument(
        "--processes", metavar="N", type=values.whole, help="processes (default: the cores, at most 8)"
    )
    parser.add_argument("--replace", action="store_true", help="put it in place of one that is there")
    options.quiet(parser)
    options.as_json(parser, "print the card as JSON")
    options.wiki(parser)
    options.engine(parser)


def _configure_choice(parser: Parser) -> None:
    from entlink.datasets.captions.options import CaptionOptions

    group = parser.add_argument_group("which captions and mentions")
    add_fields(group, CaptionOptions, "min_words", "min_mentions", "nil")
    group.add_argument(
        "--profanity",
        metavar="FILE",
        help="words that take a caption out, one a line (default: none, with a warning)",
    )
    add_fields(group, CaptionOptions, "type_list")
    group.add_argument(
        "--types",
        metavar="FILE",
        help="rows of a type of the list and a type of the knowledge base, which may end in *; they come first",
    )
    group.add_argument(
        "--topics",
        metavar="FILE",
        help="rows of a topic and a type or category of pages, which may end in * (default: the page's coarse type)",
    )


def _configure_pictures(parser: Parser) -> None:
    from entlink.datasets.captions.options import CaptionOptions

    group = parser.add_argument_group("pictures")
    add_fields(group, CaptionOptions, "missing", "same_picture")
    group.add_argument(
        "--near-copies",
        metavar="COSINE",
        type=values.share,
        help="take pictures with a cosine above this for the same, by the knowledge base's index over pictures, such "
        "as 0.7 (default: compare names and contents only)",
    )
    group.add_argument(
        "--copy-pictures",
        action="store_true",
        default=None,
        help="copy the pictures into the set (default: of a tar)",
    )


def _build(arguments: Namespace) -> None:
    from entlink.datasets.captions.build import build_captions

    chosen = _chosen(arguments)
    started = monotonic()
    with building(arguments) as (report, engine):
        made = build_captions(
            arguments.sources,
            arguments.output,
            chosen,
            kb=arguments.kb,
            pictures=arguments.pictures,
            replace=arguments.replace,
            command=shlex.join(["entlink", *arguments.words]),
            progress=report,
            engine=engine,
        )
    _summarise(arguments, made, monotonic() - started)


def _chosen(arguments: Namespace) -> CaptionOptions:
    from entlink.datasets.captions.entity_types import read_rows
    from entlink.datasets.captions.options import CaptionOptions
    from entlink.datasets.conversations.options import read_word_list

    given: dict[str, Any] = given_fields(arguments, CaptionOptions)
    given |= {name: read_rows(given[name]) for name in ("types", "topics") if name in given}
    if "profanity" in given:
        given["profanity"] = read_word_list(given["profanity"])
    return CaptionOptions(**given | {"wiki": options.wiki_options(arguments)})


def _summarise(arguments: Namespace, made: CaptionsReport, seconds: float) -> None:
    if arguments.json:
        say_json(made)
    elif not arguments.quiet:
        say(f"{arguments.output} built in {seconds:.1f} s", *_facts(made))
        last = Path(arguments.output) / [file.name for file in made.files if file.statistics.pairs][-1]
        words = ["entlink", "link", arguments.kb, str(last), "--mentions", "given", "-o", "linked.jsonl"]
        say("", "Try next:", f"  {shlex.join(words)}")


def _facts(made: CaptionsReport) -> list[str]:
    rows = [("captions", _counted(made.captions))]
    if made.mentions:
        rows.append(("left out", f"mentions: {_counted(made.mentions)}"))
    if made.total.same_picture:
        rows.append(("pictures", f"of the caption's own entity: {_counted(made.total.same_picture)}"))
    for file in made.files:
        counts = file.statistics
        mentions = f"{number_of(counts.mentions, 'mention')} ({counts.nil:,} NIL)"
        rows.append(("file", f"{file.name}: {number_of(counts.pairs, 'caption')}, {mentions}, {size(file.bytes)}"))
    skipped = sum(source.skipped for source in made.sources)
    if skipped:
        rows.append(("skipped", number_of(skipped, "bad record")))
    lines = columns(rows, "  ") + [f"    {problem}" for problem in made.problems[:_PROBLEMS_SHOWN]]
    return lines + (["    …"] if len(made.problems) > _PROBLEMS_SHOWN else [])


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


COMMANDS = {
    "datasets build captions": Command(
        _build,
        _configure,
        "Make a set of captioned pictures with gold, in the way of WikiDiverse (paper 4): captions in which authors "
        "linked names, with their pictures. The folder has train.jsonl, dev.jsonl and test.jsonl, split by page, "
        "card.json and DATASHEET.md, and pictures that had to be made readable. No picture is fetched. It is there "
        "whole or not at all; a build that was interrupted goes on where it stopped when the same command is run "
        "again.",
        (
            "entlink datasets build captions samples/wiki/samplewiki.xml --kb wiki.kb --pictures samples/pictures "
            "-o captions",
            "entlink datasets build captions samples/captions.jsonl --kb wiki.kb -o all-captions --split all=1",
        ),
    ),
}
