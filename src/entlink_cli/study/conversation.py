"""`entlink study conversation`: linking in conversations by several systems, as a paper measures it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from entlink_cli import options, scoring, values
from entlink_cli.fields import given_fields
from entlink_cli.parsing import Command
from entlink_cli.study.output import (
    check_targets,
    facts_told,
    noted,
    output_options,
    shown,
    systems_option,
    tell,
    write_text,
)
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.studies.conversations.results import ConversationOptions, ConversationStudy
    from entlink.studies.systems import System
    from entlink_cli.parsing import Namespace, Parser

_PATIENCE = 2.0


def _configure(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument(
        "data",
        metavar="DATA",
        nargs="+",
        help="a set of conversations with gold, FILE or NAME=FILE; files under one name are one set. ConEL's files "
        "have the names of the published tables: conel1-all, conel2-val, conel2-test",
    )
    parser.add_argument("--format", metavar="F", help="format of the data (default: told from its content)")
    _of_systems(parser)
    _of_gold(parser)
    _of_intervals(parser)
    parser.add_argument("--latex", metavar="FILE", help="write the tables to this file")
    output_options(parser)


def _of_systems(parser: Parser) -> None:
    systems_option(parser, "; with --run, none)")
    parser.add_argument(
        "--run",
        metavar="NAME=FILE",
        type=values.pair,
        action="append",
        default=[],
        help="score another system's answers, too, in any format that entlink reads, such as a run of ConEL; "
        "SET:NAME=FILE says of which set they are; can be repeated",
    )


def _of_gold(parser: Parser) -> None:
    parser.add_argument(
        "--turns",
        metavar="SPEAKER",
        action="append",
        default=[],
        help="count only the turns of this speaker, such as USER; can be repeated (default: all that were annotated)",
    )
    scoring.match_gold(parser)
    parser.add_argument("--personal", action="store_true", help="count personal mentions ('my dog'), too")
    parser.add_argument(
        "--limit", metavar="N", type=values.whole, help="take the first N conversations of each set (by domain: each)"
    )
    parser.add_argument(
        "--no-domains", action="store_true", help="do not link sets that have domains once more, domain by domain"
    )


def _of_intervals(parser: Parser) -> None:
    parser.add_argument(
        "--rounds", metavar="N", type=values.weight, default=1000, help="bootstrap resamples (default: 1000; 0: none)"
    )
    parser.add_argument("--level", metavar="P", type=values.level, default=0.95, help="of intervals (default: 0.95)")
    parser.add_argument(
        "--seed", metavar="S", type=values.weight, default=0, help="what chance depends on (default: 0)"
    )


def _conversation(arguments: Namespace) -> None:
    from pathlib import Path

    from entlink.studies.conversations.runs import RunSource
    from entlink.studies.conversations.study import study_conversations
    from entlink.studies.conversations.tables import conversation_lines, conversation_tables
    from entlink.studies.writing import csv_text, latex_text

    check_targets(arguments.csv, arguments.latex)
    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        study = study_conversations(
            arguments.kb,
            arguments.data,
            _systems(arguments),
            [RunSource(name, Path(path)) for name, path in arguments.run],
            _options(arguments),
            command=shlex.join(["entlink", *arguments.words]),
            progress=report,
        )
    tables, head = conversation_tables(study), list(_head(study))
    if arguments.csv:
        write_text(arguments.csv, csv_text(conversation_lines(study)))
    if arguments.latex:
        write_text(arguments.latex, latex_text(tables, [*head, *study.notes]))
    tell(arguments, study, [*head, *shown(tables), *noted(study.notes)])


def _systems(arguments: Namespace) -> list[System] | None:
    from entlink.studies.systems import ConfiguredSystem

    if not arguments.system:
        return None
    return [ConfiguredSystem(name, config) for name, config in arguments.system]


def _options(arguments: Namespace) -> ConversationOptions:
    from entlink.evaluation.scoring.conventions import GoldMatch
    from entlink.studies.conversations.results import ConversationOptions

    return ConversationOptions(
        **given_fields(arguments, ConversationOptions)
        | {
            "turns": tuple(arguments.turns),
            "domains": not arguments.no_domains,
            "match_gold": GoldMatch(arguments.match_gold),
        }
    )


def _head(study: ConversationStudy) -> Iterator[str]:
    yield from facts_told(study.facts)
    turns = f"of {', '.join(study.options.turns)}" if study.options.turns else "that were annotated"
    personal = "with" if study.options.personal else "without"
    yield f"turns {turns}, each with the turns before it as context; {personal} personal mentions"
    for matching, description in study.conventions.items():
        yield f"{matching}: {description}"
    yield "MD counts every span, NIL or not; 'without NIL' only spans with an entity"
    yield "covered gold: gold that the knowledge base lacks is left out, and so is what is said there"


COMMANDS = {
    "study conversation": Command(
        _conversation,
        _configure,
        "Link sets of conversations by several systems and score mention detection and linking by strict spans and "
        "by ConEL's strings, on all gold and on what the knowledge base has, with intervals over conversations and "
        "where gold was lost. Runs of other systems and published scores stand beside. A set whose conversations "
        "have a domain is also linked domain by domain.",
        (
            "entlink study conversation wiki.kb samples/conversations.jsonl --system names=lexical",
            "entlink study conversation wiki.kb chats=samples/conversations.jsonl --turns ana --csv chats.csv",
        ),
    ),
}
