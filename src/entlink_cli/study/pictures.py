"""`entlink study pictures`: what texts, pictures and P(e|m) are worth for linking captioned pictures."""

from __future__ import annotations

import shlex
from argparse import ArgumentTypeError
from collections.abc import Iterator
from typing import TYPE_CHECKING

from entlink_cli import options, scoring, values
from entlink_cli.fields import given_fields
from entlink_cli.parsing import Command
from entlink_cli.study.output import facts_told, noted, shown, tell
from entlink_cli.terminal.output import number_of
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.studies.pictures.results import PictureOptions, PictureStudy
    from entlink_cli.parsing import Namespace, Parser

_PATIENCE = 2.0


def _configure(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument(
        "data",
        metavar="CAPTIONS",
        nargs="+",
        help="a folder with train.jsonl, dev.jsonl and test.jsonl, or files of captions with gold, which are split "
        "8:1:1 by page",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="a folder for the models, the results and the page"
    )
    _of_candidates(parser)
    _of_models(parser)
    parser.add_argument(
        "--run",
        metavar="NAME=FILE",
        type=values.pair,
        action="append",
        default=[],
        help="score what another system said of the test captions, in any format of links; can be repeated",
    )
    _of_results(parser)
    options.as_json(parser, "print all that was measured as JSON")
    options.quiet(parser)


def _of_candidates(parser: Parser) -> None:
    parser.add_argument(
        "--config",
        metavar="C",
        help="the retrieval that gives every mention its candidates: a TOML file, a saved linker, or one in the box "
        "(default: the linker beside the knowledge base, else zero-shot)",
    )
    parser.add_argument(
        "--k",
        metavar="K",
        type=values.whole,
        default=10,
        help="candidates of a mention, for all rankers (default: 10)",
    )
    parser.add_argument(
        "--near-copy",
        metavar="C",
        type=values.positive,
        default=0.7,
        help="leave out mentions whose entity's picture has this cosine with the caption's (default: 0.7; 2: none)",
    )
    scoring.match_gold(parser)
    parser.add_argument("--format", metavar="F", help="format of the captions (default: told from their content)")
    parser.add_argument("--limit", metavar="N", type=values.whole, help="take the first N captions of each part only")


def _of_models(parser: Parser) -> None:
    parser.add_argument(
        "--no-models", action="store_true", help="train nothing: sums of weighed evidence and runs only"
    )
    parser.add_argument(
        "--preset",
        metavar="P",
        default="multimodal",
        help="how models are trained: one in the box, or a TOML file (default: multimodal)",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        type=values.pair,
        action="append",
        default=[],
        help="another setting of all trainings, such as training.epochs=4; can be repeated",
    )
    parser.add_argument(
        "--seeds", metavar="N", type=values.whole, default=5, help="train each model so often (default: 5)"
    )
    parser.add_argument("--minutes", metavar="M", type=values.positive, help="end each training after this time")


def _of_results(parser: Parser) -> None:
    parser.add_argument(
        "--only",
        metavar="PART,…",
        type=_names,
        default=(),
        help="these parts only: candidates, rankers, cases, ablation, removal, slices, curves, pooling, robustness",
    )
    parser.add_argument(
        "--folds",
        metavar="N",
        type=values.whole,
        default=1,
        help="make the table of robustness of N folds by page, so that every mention is tested (default: 1, the test "
        "part)",
    )
    parser.add_argument(
        "--slice",
        metavar="S,…",
        type=_names,
        help="score these parts of the gold apart (default: title,ambiguous,gold:clue,type,meta:topic)",
    )
    parser.add_argument(
        "--cases", metavar="N", type=values.whole, default=12, help="cases of each kind on the page (default: 12)"
    )
    parser.add_argument(
        "--rounds", metavar="N", type=values.weight, default=1000, help="bootstrap resamples (default: 1000; 0: none)"
    )
    parser.add_argument("--level", metavar="P", type=values.level, default=0.95, help="of intervals (default: 0.95)")
    parser.add_argument(
        "--seed", metavar="S", type=values.weight, default=0, help="what chance depends on (default: 0)"
    )
    parser.add_argument("--replace", action="store_true", help="begin anew, whatever study the folder holds")


def _names(value: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in values.text(value).split(",") if part.strip())
    if not names:
        raise ArgumentTypeError(f"{value!r} names nothing")
    return names


def _pictures(arguments: Namespace) -> None:
    from pathlib import Path

    from entlink.studies.conversations.runs import RunSource
    from entlink.studies.pictures.page import write_study
    from entlink.studies.pictures.study import study_pictures
    from entlink.studies.pictures.tables import picture_tables

    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        study = study_pictures(
            arguments.kb,
            arguments.data,
            arguments.output,
            arguments.config,
            [RunSource(name, Path(path)) for name, path in arguments.run],
            _options(arguments),
            replace=arguments.replace,
            command=shlex.join(["entlink", *arguments.words]),
            progress=report,
        )
    page, *others = write_study(study, arguments.output)
    end = f"{page}: the page; beside it {', '.join(one.name for one in others)}"
    tell(arguments, study, [*_head(study), *shown(picture_tables(study)), *noted(study.notes), "", end])


def _options(arguments: Namespace) -> PictureOptions:
    from entlink.evaluation.scoring.conventions import GoldMatch
    from entlink.studies.pictures.results import SLICES, PictureOptions

    return PictureOptions(
        **given_fields(arguments, PictureOptions)
        | {
            "models": not arguments.no_models,
            "settings": dict(arguments.set),
            "slices": arguments.slice or SLICES,
            "match_gold": GoldMatch(arguments.match_gold),
        }
    )


def _head(study: PictureStudy) -> Iterator[str]:
    yield from facts_told(study.facts)
    yield f"evidence of texts: {', '.join(study.text_evidence) or 'none'}"
    if study.left_out:
        yield f"left out: {', '.join(f'{why} {count:,}' for why, count in study.left_out.items())}"
    trained = f"{number_of(study.options.seeds, 'seed')} of each model" if study.options.models else "no models"
    yield f"{trained}; took {study.seconds / 60:.1f} minutes, without what was done before"


COMMANDS = {
    "study pictures": Command(
        _pictures,
        _configure,
        "Measure what texts, pictures and P(e|m) are worth for captioned pictures, as the tables and figures of "
        "WikiDiverse do: candidate retrieval; rankers over one fixed set of candidates, from weighed evidence to the "
        "fusions of the multimodal model; training and linking without inputs; slices by clue, type and topic; "
        "masked names and wrong pictures. Writes a page with cases. A study that was interrupted goes on where it "
        "was when the command is given again. Models need pip install 'entlink[train]'.",
        (
            "entlink study pictures wiki.kb all-captions/all.jsonl --no-models --seed 25 -o captions-study",
            "entlink study pictures wiki.kb all-captions/all.jsonl --no-models --seed 25 --only rankers,slices "
            "--slice title,type -o captions-study",
        ),
    ),
}
