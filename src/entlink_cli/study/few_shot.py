"""`entlink study few-shot`: linking where the most popular entity of a name is not the right one."""

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
    from entlink.studies.few_shot.results import FewShotStudy
    from entlink_cli.parsing import Namespace, Parser

_PATIENCE = 2.0


def _configure(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument(
        "data", metavar="GOLD", nargs="+", help="documents with gold, of any format that entlink reads"
    )
    parser.add_argument("--format", metavar="F", help="format of the gold (default: told from its content)")
    systems_option(parser, ")")
    scoring.match_gold(parser)
    parser.add_argument("--limit", metavar="N", type=values.whole, help="take the first N documents only")
    parser.add_argument(
        "--rounds", metavar="N", type=values.weight, default=1000, help="bootstrap resamples (default: 1000; 0: none)"
    )
    parser.add_argument("--level", metavar="P", type=values.level, default=0.95, help="of intervals (default: 0.95)")
    parser.add_argument(
        "--seed", metavar="S", type=values.weight, default=0, help="what chance depends on (default: 0)"
    )
    parser.add_argument("--latex", metavar="FILE", help="write the tables to this file")
    output_options(parser)


def _few_shot(arguments: Namespace) -> None:
    from entlink.evaluation.scoring.conventions import GoldMatch
    from entlink.studies.few_shot.results import FewShotOptions
    from entlink.studies.few_shot.study import study_few_shot
    from entlink.studies.few_shot.tables import few_shot_lines, few_shot_tables
    from entlink.studies.systems import ConfiguredSystem
    from entlink.studies.writing import csv_text, latex_text

    check_targets(arguments.csv, arguments.latex)
    systems = [ConfiguredSystem(name, config) for name, config in arguments.system]
    given = given_fields(arguments, FewShotOptions) | {"match_gold": GoldMatch(arguments.match_gold)}
    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        study = study_few_shot(
            arguments.kb,
            arguments.data,
            systems or None,
            FewShotOptions(**given),
            command=shlex.join(["entlink", *arguments.words]),
            progress=report,
        )
    tables, head = few_shot_tables(study), list(_head(study))
    if arguments.csv:
        write_text(arguments.csv, csv_text(few_shot_lines(study)))
    if arguments.latex:
        write_text(arguments.latex, latex_text(tables, [*head, *study.notes]))
    tell(arguments, study, [*head, *shown(tables), *noted(study.notes)])


def _head(study: FewShotStudy) -> Iterator[str]:
    yield from facts_told(study.facts)
    yield "AT: the entities of a name in the knowledge base, the most popular first; few-shot: its first is not right"


COMMANDS = {
    "study few-shot": Command(
        _few_shot,
        _configure,
        "Link the spans of gold by the most popular entity of each name (AT) and by linkers: recall at 1, 10 and "
        "100, accuracy with NIL and with NIL of the right type, on all gold and on its few-shot part, where AT is "
        "wrong. Says why entities were lost, and how what was said instead is related to them. Published rows stand "
        "beside.",
        (
            "entlink study few-shot wiki.kb samples/conversations.jsonl --system names=lexical",
            "entlink study few-shot wiki.kb samples/conversations.jsonl --system names=lexical --csv few-shot.csv",
        ),
    ),
}
