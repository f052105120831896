"""`entlink probe`: what the vectors of encoders know of entities."""

from __future__ import annotations

import shlex
from argparse import ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.study.output import noted, shown
from entlink_cli.terminal.output import note, say, write_bytes
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entlink.evaluation.probes import ProbeOptions, ProbeResult, ProbeTask
    from entlink.evaluation.report.table import Cell, Table
    from entlink.interfaces import LayeredEncoder
    from entlink_cli.parsing import Namespace, Parser
    from entlink_cli.terminal.progress import Report

_PATIENCE = 2.0
_CARD = "task.toml"


def _configure(parser: Parser) -> None:
    parser.add_argument(
        "encoders",
        metavar="ENCODER",
        nargs="+",
        help="a model, as `entlink models list` names it; a folder with a model; a trained bi-encoder; or a file of "
        "word vectors. NAME=ENCODER says what to call it",
    )
    parser.add_argument(
        "--tasks",
        metavar="FOLDER",
        nargs="+",
        required=True,
        help="folders of tasks, or folders that have them in them",
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="write a JSON file a task into this folder")
    _of_vectors(parser)
    _of_probes(parser)
    options.as_json(parser, "print all results as JSON")
    options.quiet(parser)


def _of_vectors(parser: Parser) -> None:
    parser.add_argument(
        "--layers",
        metavar="L",
        type=_layers,
        default="mix",
        help="mix: weights of the layers are learnt; all: each layer, and the mix; last; or numbers, such as 0,6 "
        "(default: mix)",
    )
    parser.add_argument(
        "--pooling",
        choices=("cls", "mean"),
        help="how a transformer gives a vector: its first token, the mention being read once more after its "
        "sentence; or the mean of the mention's or the description's tokens (default: as the model is made)",
    )
    parser.add_argument(
        "--names", action="store_true", help="also read the name of an entity in place of its description"
    )
    parser.add_argument(
        "--entity-vectors",
        metavar="FILE",
        help="also let vectors of this file stand for candidates, through a linear map that is learnt: word2vec or "
        "GloVe, the lines by entity id or title",
    )
    parser.add_argument(
        "--precision",
        choices=("fp32", "int8"),
        default="fp32",
        help="of a folder's model, which is converted once (default: fp32)",
    )
    parser.add_argument("--threads", metavar="N", type=values.whole, help="cores of an encoder (default: all)")
    parser.add_argument(
        "--cache", metavar="FOLDER", help="keep vectors here, to use them again (default: in the user's cache)"
    )
    parser.add_argument("--no-cache", action="store_true", help="keep no vectors on disk")


def _of_probes(parser: Parser) -> None:
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=values.whole,
        default=3,
        help="probes of each layer; all but the first are trained on nine tenths of the rows (default: 3)",
    )
    parser.add_argument(
        "--seed", metavar="S", type=values.weight, default=0, help="what chance depends on (default: 0)"
    )
    parser.add_argument(
        "--rounds", metavar="N", type=values.whole, default=1000, help="resamples for intervals (default: 1000)"
    )
    parser.add_argument(
        "--most-candidates",
        metavar="N",
        type=values.whole,
        default=30,
        help="candidates of a mention, those of the highest prior (default: 30; the paper's Table 1: 80)",
    )
    parser.add_argument(
        "--description-words",
        metavar="N",
        type=values.whole,
        default=100,
        help="of a description that are read (default: 100)",
    )


def _layers(value: str) -> str | tuple[int, ...]:
    if value in ("mix", "all", "last"):
        return value
    try:
        return tuple(int(one) for one in value.split(","))
    except ValueError:
        raise ArgumentTypeError(f"{value!r} is neither mix, all, last nor numbers such as 0,6") from None


def _probe(arguments: Namespace) -> None:
    from entlink.evaluation.probes.tables import tables
    from entlink.studies.data import published_figures

    tasks = _tasks(arguments)
    results: list[ProbeResult] = []
    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        for label, spec in _encoders(arguments):
            results += _results(arguments, label, _loaded(arguments, spec), tasks, report)
    if arguments.json:
        import msgspec

        write_bytes(msgspec.json.format(msgspec.json.encode(results)) + b"\n")
    elif not arguments.quiet:
        made = map(_with_intervals, tables(results, published_figures("enteval", ("3", "4", "5"))))
        notes = dict.fromkeys(f"{one.card.name}: {text}" for one in results for text in one.notes)
        say(*list(shown(made))[1:], *noted(notes))


def _with_intervals(table: Table) -> Table:
    """The table with each score's interval beside it, as a terminal shows nothing below a cell."""
    from entlink.evaluation.report.table import Score, words

    def cell(one: Cell) -> Cell:
        if not isinstance(one, Score) or one.interval is None:
            return one
        value, span = words(one)
        return f"{value} ({span})"

    groups = [group._replace(rows=[tuple(map(cell, row)) for row in group.rows]) for group in table.groups]
    return table._replace(groups=groups)


def _tasks(arguments: Namespace) -> list[ProbeTask]:
    """All tasks are read, and their coverage is said, before anything is encoded."""
    from entlink.errors import InputError
    from entlink.evaluation.probes import read_task
    from entlink.evaluation.probes.probing import notes_on

    found = []
    for folder in (folder for given in arguments.tasks for folder in _folders(Path(given))):
        task = read_task(folder)
        found.append(task)
        if not arguments.quiet:
            for text in notes_on(task):
                note(f"{task.card.name}: {text}")
    names = [task.card.name for task in found]
    if doubled := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two of the tasks are called {doubled[0]!r}. Leave one out")
    return found


def _folders(given: Path) -> list[Path]:
    from entlink.errors import InputError

    if (given / _CARD).is_file():
        return [given]
    found = [path.parent for path in sorted(given.glob(f"*/{_CARD}"))]
    if not found:
        hint = "Build some with `entlink datasets build probes`, or write them as docs/probes.md shows"
        raise InputError(f"{given}: no {_CARD} is here, nor in the folders below: this is no task. {hint}")
    return found


def _encoders(arguments: Namespace) -> list[tuple[str, str]]:
    """What each encoder is called, and what it is loaded by."""
    from entlink.errors import InputError

    found = []
    for given in arguments.encoders:
        label, is_named, spec = given.partition("=")
        found.append((label, spec) if is_named and not Path(given).exists() else (_label(given), given))
    names = [label for label, _ in found]
    if doubled := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two encoders are called {doubled[0]!r}. Write NAME=ENCODER to name one of them")
    return found


def _label(spec: str) -> str:
    from entlink.encoders.identities import slug

    return slug(Path(spec).name)


def _loaded(arguments: Namespace, spec: str) -> LayeredEncoder:
    from entlink.evaluation.probes import load_layered

    return load_layered(spec, pooling=arguments.pooling, precision=arguments.precision, threads=arguments.threads)


def _results(
    arguments: Namespace, label: str, encoder: LayeredEncoder, tasks: list[ProbeTask], report: Report
) -> Iterator[ProbeResult]:
    """One after the other; each is written as soon as it is there."""
    from entlink.encoders.identities import slug
    from entlink.encoders.layered.cached import probes_folder
    from entlink.evaluation.probes import probe, write_result

    cache = None if arguments.no_cache else Path(arguments.cache) if arguments.cache else probes_folder()
    command = shlex.join(["entlink", *arguments.words])
    for result in probe(
        encoder, tasks, _options(arguments), name=label, cache=cache, command=command, progress=report
    ):
        if arguments.output:
            write_result(Path(arguments.output) / slug(label) / f"{slug(result.card.name)}.json", result)
        yield result


def _options(arguments: Namespace) -> ProbeOptions:
    from entlink.evaluation.probes import ProbeOptions
    from entlink_cli.fields import given_fields

    return ProbeOptions(**given_fields(arguments, ProbeOptions))


COMMANDS = {
    "probe": Command(
        _probe,
        _configure,
        "Measure what the vectors of encoders know of entities, as EntEval does: encoders are frozen, and linear "
        "models of their vectors are fitted for each task. Scores have intervals over seeds and rows; vectors are "
        "kept, so that the next run is fast. `entlink report` makes a page of what -o wrote.",
        (
            "entlink probe samples/probes/words.txt --tasks samples/probes -o probes",
            "entlink report probes -o probes.html",
        ),
    ),
}
