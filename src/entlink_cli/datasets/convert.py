"""`entlink datasets convert`: documents from one format to another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from entlink_cli import options, scoring
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, number_of
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.documents import Document
    from entlink.evaluation.few_shot import FewShot, SetCounts
    from entlink_cli.parsing import Namespace, Parser

# Those of `entlink.formats.public.catalogue` that are written, which help must not wait for.
WRITTEN = ("elevant", "blink", "aida", "nif", "neleval", "jsonl")
_PATIENCE = 2.0
_PROBLEMS_SHOWN = 5


def _configure(parser: Parser) -> None:
    parser.add_argument("source", metavar="FILE", help="documents of any format that entlink reads")
    parser.add_argument("--to", choices=WRITTEN, required=True, help="the format to write")
    parser.add_argument("-o", "--output", metavar="OUT", help="the file to make (default: stdout)")
    parser.add_argument("--format", metavar="F", help="format of FILE (default: told from its content)")
    parser.add_argument(
        "--write",
        choices=("gold", "links"),
        help="write only the gold, or only the links of a linker (default: gold if there is any, else links; "
        "jsonl has both)",
    )
    parser.add_argument(
        "--few-shot",
        metavar="NAME.kb",
        help="keep only gold whose most popular entity in this knowledge base is another, and count what is left",
    )
    scoring.match_gold(parser)
    parser.add_argument(
        "--on-error", choices=("stop", "skip"), default="stop", help="at a bad record: stop (default) or leave it out"
    )
    options.quiet(parser)


class _Kept:
    """Takes the few-shot part of each document, and counts the whole and the part."""

    def __init__(self, few_shot: FewShot) -> None:
        from entlink.evaluation.few_shot import SetCounter

        self._few_shot = few_shot
        self._counters = {"all gold": SetCounter(), "few-shot": SetCounter()}

    def __call__(self, document: Document) -> Document | None:
        part = self._few_shot.part(document)
        for counter, one in zip(self._counters.values(), (document, part), strict=True):
            counter.add(one)
        return part if part.gold else None

    def told(self) -> list[str]:
        head = ("", "mentions", "distinct mentions", "documents", "entities")
        return columns([head, *(_sizes(name, one.counts()) for name, one in self._counters.items())])


def _sizes(name: str, counts: SetCounts) -> tuple[str, ...]:
    three = (counts.mentions, counts.distinct_mentions, counts.documents)
    sizes = (f"{one.total:,} (in-KB {one.in_kb:,}, NIL {one.nil:,})" for one in three)
    return (name, *sizes, f"{counts.entities:,}")


@contextmanager
def _kept(arguments: Namespace) -> Iterator[_Kept | None]:
    """What keeps the few-shot part, while its knowledge base is open."""
    if not arguments.few_shot:
        yield None
        return
    if arguments.write == "links":
        arguments.parser.error("--few-shot keeps some of the gold: it does not go with --write links")
    from entlink.evaluation.few_shot import FewShot, Popularity
    from entlink.evaluation.identities import Identities
    from entlink.evaluation.scoring.conventions import GoldMatch
    from entlink.kb.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(arguments.few_shot) as kb:
        yield _Kept(FewShot(Identities(kb, GoldMatch(arguments.match_gold)), Popularity(kb)))


def _convert(arguments: Namespace) -> None:
    from entlink.formats.converting import convert
    from entlink_cli.terminal.sink import as_file, sink

    skipped: list[str] = []
    with (
        _kept(arguments) as kept,
        progress(quiet=arguments.quiet, patience=_PATIENCE) as report,
        sink(arguments.output) as write,
    ):
        made = convert(
            arguments.source,
            as_file(write),
            arguments.to,
            format=arguments.format,
            write=arguments.write,
            change=kept,
            on_error=arguments.on_error,
            on_problem=lambda error: skipped.append(str(error)),
            progress=report,
        )
    for problem in skipped[:_PROBLEMS_SHOWN]:
        note(f"left out: {problem}")
    if len(skipped) > _PROBLEMS_SHOWN:
        note(f"left out: {len(skipped) - _PROBLEMS_SHOWN:,} more, {len(skipped):,} in all")
    if not arguments.quiet:
        size = f"{number_of(made.documents, 'document')}, {number_of(made.gold, 'gold link')}"
        note(f"{made.source} to {made.target}: {size}, {number_of(made.links, 'link')}")
        for line in kept.told() if kept is not None else ():
            note(line)


COMMANDS = {
    "datasets convert": Command(
        _convert,
        _configure,
        "Write documents in another format: gold if there is any, else links, or what `--write` says. What a format "
        "cannot hold is an error, or left out, as the pages on formats say. With --few-shot, only gold that the most "
        "popular entity of its name gets wrong.",
        (
            "entlink datasets convert samples/conversations.jsonl --to neleval -o gold.tsv",
            "entlink datasets convert samples/article.gold.jsonl --to nif -o article.ttl",
            "entlink datasets convert samples/conversations.jsonl --to jsonl --few-shot wiki.kb -o hard.jsonl",
        ),
    ),
}
