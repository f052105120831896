"""`entlink datasets build conversations`: threads with gold from corpora of Reddit."""

from __future__ import annotations

import shlex
from argparse import ArgumentTypeError
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.failures import is_interruption
from entlink_cli.fields import add_fields, given_fields
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, number_of, say, say_json, size
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.datasets.conversations.build import ConversationOptions, ConversationsReport
    from entlink.datasets.conversations.domains import Domain
    from entlink_cli.parsing import Namespace, Parser

_PATIENCE = 2.0
_PROBLEMS_SHOWN = 5


def domain(value: str) -> Domain:
    """TITLE, TITLE=WIKI,… or TITLE=WIKI,…:TYPE."""
    from entlink.datasets.conversations.domains import Domain

    title, equals, rest = values.text(value).partition("=")
    wikis, _, type = rest.partition(":")
    named = tuple(wiki.strip().lower() for wiki in wikis.split(",") if wiki.strip())
    if not title.strip() or (equals and not (named or type)):
        raise ArgumentTypeError(f"{value!r} is no domain such as 'Star Trek' or 'Star Trek=memory-alpha:star_trek'")
    return Domain(title.strip(), named, type.strip() or None)


def day(value: str) -> str:
    """A day."""
    from entlink.datasets.conversations.options import last_second
    from entlink.errors import InputError

    try:
        last_second(value)
    except InputError:
        raise ArgumentTypeError(f"{value!r} is not a day such as 2015-01-01") from None
    return value


def _configure(parser: Parser) -> None:
    from entlink.datasets.conversations.options import ConversationOptions

    parser.add_argument(
        "corpora", metavar="CORPUS", nargs="+", help="folders of ConvoKit's corpora, or folders of such folders"
    )
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder to make")
    parser.add_argument("--kb", metavar="NAME.kb", required=True, help="the knowledge base that has the wiki's pages")
    _configure_links(parser)
    _configure_texts(parser)
    _configure_threads(parser)
    add_fields(parser, ConversationOptions, "on_error")
    parser.add_argument("--replace", action="store_true", help="put it in place of one that is there")
    options.quiet(parser)
    options.as_json(parser, "print the card as JSON")


def _configure_links(parser: Parser) -> None:
    from entlink.datasets.conversations.options import ConversationOptions

    group = parser.add_argument_group("which subreddits and links")
    group.add_argument(
        "--domain",
        metavar="TITLE[=WIKI,…[:TYPE]]",
        action="append",
        default=[],
        type=domain,
        help="take subreddits with this title in their name, links to these wikis (default: to any) and entities of "
        "this type (default: of any); can be repeated (default: all subreddits)",
    )
    group.add_argument("--zeshel", action="store_true", help="the sixteen domains of ZESHEL, as published")
    group.add_argument(
        "--url-pattern",
        metavar="URL",
        action="append",
        default=[],
        type=values.text,
        help="addresses of the wiki's pages, such as https://my.wiki/{language}/{title}; can be repeated (default: "
        "those of Fandom, https://{wiki}.fandom.com/wiki/{title}, and its older ones)",
    )
    group.add_argument(
        "--url-language",
        metavar="L",
        action="append",
        default=[],
        type=values.text,
        help="take pages whose address names this language; can be repeated (default: en)",
    )
    add_fields(group, ConversationOptions, "bare_urls")
    group.add_argument("--nonsense", metavar="FILE", help="mentions that name nothing, one a line (default: a list)")


def _configure_texts(parser: Parser) -> None:
    from entlink.datasets.conversations.options import ConversationOptions

    group = parser.add_argument_group("cleaning and pruning of utterances")
    add_fields(group, ConversationOptions, "characters", "max_repeats")
    group.add_argument(
        "--profanity",
        metavar="FILE",
        help="words that prune an utterance, one a line (default: none, with a warning)",
    )
    add_fields(group, ConversationOptions, "min_tokens", "max_tokens", "max_characters", "pruned", "titles")


def _configure_threads(parser: Parser) -> None:
    from entlink.datasets.conversations.options import ConversationOptions

    group = parser.add_argument_group("threads and splits")
    add_fields(group, ConversationOptions, "augment", "min_utterances", "min_annotations", "exact_share")
    group.add_argument(
        "--split-date", metavar="DAY", type=day, help="conversations up to it are for training (default: 2015-01-01)"
    )
    add_fields(group, ConversationOptions, "test_limit")
    group.add_argument("--speakers", action="store_true", help="name speakers as on Reddit (default: by number)")
    add_fields(group, ConversationOptions, "seed")


def _build(arguments: Namespace) -> None:
    from entlink.datasets.conversations.build import build_conversations

    chosen = _chosen(arguments)
    started = monotonic()
    try:
        with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
            made = build_conversations(
                arguments.corpora,
                arguments.output,
                chosen,
                kb=arguments.kb,
                replace=arguments.replace,
                command=shlex.join(["entlink", *arguments.words]),
                progress=report,
            )
    except (KeyboardInterrupt, RuntimeError) as problem:
        if is_interruption(problem):
            note("what was done is kept; the same command goes on from there")
        raise
    _summarise(arguments, made, monotonic() - started)


def _chosen(arguments: Namespace) -> ConversationOptions:
    from entlink.datasets.conversations.build import ZESHEL_DOMAINS, ConversationOptions
    from entlink.datasets.conversations.options import read_word_list

    given = given_fields(arguments, ConversationOptions)
    given |= {name: read_word_list(given[name]) for name in ("profanity", "nonsense") if name in given}
    domains = (*(ZESHEL_DOMAINS if arguments.zeshel else ()), *arguments.domain)
    others = {
        "domains": domains,
        "patterns": tuple(arguments.url_pattern),
        "languages": tuple(arguments.url_language),
    }
    given |= {name: value for name, value in others.items() if value}
    return ConversationOptions(**given, anonymous=not arguments.speakers)


def _summarise(arguments: Namespace, made: ConversationsReport, seconds: float) -> None:
    if arguments.json:
        say_json(made)
    elif not arguments.quiet:
        say(f"{arguments.output} built in {seconds:.1f} s", *_facts(made))
        test = Path(arguments.output) / "test.jsonl"
        words = ["entlink", "link", arguments.kb, str(test), "--mentions", "given", "-o", "linked.jsonl"]
        say("", "Try next:", f"  {shlex.join(words)}")


def _facts(made: ConversationsReport) -> list[str]:
    utterances = number_of(sum(corpus.utterances for corpus in made.corpora), "utterance")
    corpora = number_of(len(made.corpora), "corpus", "corpora")
    corpora += f" ({made.other_corpora:,} others about no domain)" if made.other_corpora else ""
    rows = [
        ("read", f"{utterances} of {corpora}, {number_of(made.conversations, 'conversation')}"),
        ("links", _told(made.links)),
        ("pruned", _told(made.pruned)),
        ("threads", _told(made.threads)),
    ]
    for file in made.files:
        counts = file.statistics
        told = f"{number_of(counts.threads, 'thread')}, {number_of(counts.annotations, 'annotation')}"
        rows.append(("file", f"{file.name}: {told}, {size(file.bytes)}"))
    skipped = sum(corpus.skipped for corpus in made.corpora)
    if skipped or made.faults:
        lost = sum(made.faults.values())
        rows.append(
            ("left out", f"{number_of(skipped, 'bad record')}, {number_of(lost, 'lost reply', 'lost replies')}")
        )
    lines = columns(rows, "  ") + [f"    {problem}" for problem in made.problems[:_PROBLEMS_SHOWN]]
    return lines + (["    …"] if len(made.problems) > _PROBLEMS_SHOWN else [])


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


COMMANDS = {
    "datasets build conversations": Command(
        _build,
        _configure,
        "Make a set of conversations from ConvoKit's corpora of Reddit, as paper 1 describes: each path from a post "
        "to a last reply becomes a document whose gold is what users linked to a wiki. The folder has train.jsonl "
        "and test.jsonl, split as published, train.apart.jsonl for a split whose conversations do not cross, "
        "card.json and DATASHEET.md. It is there whole or not at all; a build that was interrupted goes on where it "
        "stopped when the same command is run again.",
        (
            "entlink datasets build conversations samples/subreddit-BackyardAstronomy --kb wiki.kb -o threads",
            "entlink datasets build conversations samples --kb wiki.kb -o astronomy "
            "--domain Astronomy=samplewiki --augment conversation --exact-share 1",
        ),
    ),
}
