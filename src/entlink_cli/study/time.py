"""`entlink study time`: bi-encoders and linkers on the snapshots of a temporal dataset."""

from __future__ import annotations

import shlex
from argparse import ArgumentTypeError
from collections.abc import Iterator
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.study.output import noted, shown, tell
from entlink_cli.terminal.output import note, number_of
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.studies.time.expected import Expected
    from entlink.studies.time.results import TimeStudy
    from entlink_cli.parsing import Namespace, Parser

_PATIENCE = 2.0


def _configure(parser: Parser) -> None:
    parser.add_argument("data", metavar="DIR", help="a folder made by entlink datasets build temporal")
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="a folder for the models, the results and the page"
    )
    parser.add_argument(
        "--snapshots", metavar="DATE,…", type=_dates, default=(), help="only these snapshots (default: all)"
    )
    parser.add_argument("--base", metavar="B", help="train from this: minilm or a folder (default: minilm)")
    parser.add_argument(
        "--preset",
        metavar="P",
        default="time-bi-encoder",
        help="how a bi-encoder is trained: one in the box, or a TOML file (default: time-bi-encoder; as in "
        "the paper: blink-bi-encoder)",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        type=values.pair,
        action="append",
        default=[],
        help="another setting of the training, such as training.learning_rate=1e-4; can be repeated",
    )
    how_long = parser.add_mutually_exclusive_group()
    how_long.add_argument(
        "--steps", metavar="N", type=values.whole, help="train so many steps on each snapshot at most (default: 150)"
    )
    how_long.add_argument(
        "--minutes-per-snapshot", metavar="M", type=values.positive, help="end each training after this time instead"
    )
    parser.add_argument(
        "--no-training", action="store_true", help="train nothing: the plain encoder and linkers only"
    )
    parser.add_argument(
        "--linker",
        metavar="NAME=CONFIG",
        type=values.pair,
        action="append",
        default=[],
        help="a linker in the bi-encoder's place, over the entities of each snapshot: a TOML file, a saved linker, "
        "or one in the box; can be repeated",
    )
    parser.add_argument(
        "--k",
        metavar="K,…",
        type=_ks,
        default=(1, 2, 4, 8, 16, 32, 64),
        help="accuracy at these (default: 1,2,4,…,64)",
    )
    parser.add_argument(
        "--tokens",
        metavar="N",
        type=values.whole,
        help="tokens that are read of a mention, and of an entity (default: 64)",
    )
    parser.add_argument(
        "--categories", metavar="FILE", help="patterns of the categories of new entities (default: those in the box)"
    )
    parser.add_argument("--no-emerging", action="store_true", help="leave out the table of new entities in use")
    parser.add_argument(
        "--rounds", metavar="N", type=values.weight, default=1000, help="rounds of the bootstrap; 0 for no intervals"
    )
    parser.add_argument(
        "--level", metavar="L", type=values.level, default=0.95, help="level of the intervals (default: 0.95)"
    )
    parser.add_argument("--seed", metavar="N", type=values.weight, default=0, help="seed (default: 0)")
    parser.add_argument("--replace", action="store_true", help="begin anew, whatever study the folder holds")
    options.as_json(parser, "print all that was measured as JSON")
    options.quiet(parser)


def _dates(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in values.text(value).split(",") if part.strip())


def _ks(value: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({values.whole(part.strip()) for part in value.split(",")}))
    except ArgumentTypeError:
        raise ArgumentTypeError(f"{value!r} are not whole numbers from 1 on such as 1,8,64") from None


def _time(arguments: Namespace) -> None:
    from entlink.studies.time.page import write_study
    from entlink.studies.time.results import STEPS, TimeOptions
    from entlink.studies.time.study import study_time
    from entlink.studies.time.tables import time_tables

    wanted = TimeOptions(
        snapshots=arguments.snapshots,
        base=arguments.base,
        preset=arguments.preset,
        settings=dict(arguments.set),
        steps=arguments.steps or STEPS,
        minutes=arguments.minutes_per_snapshot,
        train=not arguments.no_training,
        tokens=arguments.tokens,
        ks=arguments.k,
        categories=arguments.categories,
        emerging=not arguments.no_emerging,
        rounds=arguments.rounds,
        level=arguments.level,
        seed=arguments.seed,
    )

    def told(work: Expected) -> None:
        if not arguments.quiet:
            note(_expected(work))

    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        study = study_time(
            arguments.data,
            arguments.output,
            arguments.linker,
            wanted,
            replace=arguments.replace,
            command=shlex.join(["entlink", *arguments.words]),
            progress=report,
            tell=told,
        )
    page, *others = write_study(study, arguments.output)
    end = f"{page}: the page; beside it {', '.join(one.name for one in others)}"
    tell(arguments, study, [*_head(study), *shown(time_tables(study)), *noted(study.notes), "", end])


def _expected(work: Expected) -> str:
    texts = f"{number_of(work.texts, 'distinct text')} of entities"
    training = f", {work.steps:,} steps of training" if work.steps else ""
    return (
        f"{number_of(work.snapshots, 'snapshot')}: {texts} for {number_of(work.encoders, 'encoder')}{training}: "
        f"about {number_of(max(1, round(work.seconds / 60)), 'minute')}, and linkers beside; what was done before is "
        "not done again"
    )


def _head(study: TimeStudy) -> Iterator[str]:
    yield f"{study.dataset}: {number_of(len(study.snapshots), 'snapshot')}; entlink {study.entlink}"
    for name, what in study.systems.items():
        yield f"{name}: {what}"
    yield f"took {study.seconds / 60:.1f} minutes, without what was done before"


COMMANDS = {
    "study time": Command(
        _time,
        _configure,
        "Train a bi-encoder on each snapshot of a temporal dataset, and ask it about every snapshot, among all "
        "entities of that one: accuracy@K on continual and new entities, means in and out of snapshot, categories "
        "of new entities, and what adding new entities is worth beside building anew. Linkers can take the "
        "bi-encoder's place. A study that was interrupted goes on where it was when the command is given again. "
        "Training needs pip install 'entlink[train]' and entlink models pull minilm --weights.",
        (
            "entlink study time aurora --no-training --linker names=lexical -o aurora-time",
            "entlink study time aurora --no-training --linker names=lexical --k 1,4 --no-emerging -o aurora-time "
            "--replace",
        ),
    ),
}
