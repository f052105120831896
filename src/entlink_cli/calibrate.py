"""`entlink calibrate`: probabilities and thresholds for NIL from a knowledge base alone."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.fields import given_fields
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, say, say_json
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.learning.fit.calibration import Calibration
    from entlink_cli.parsing import Namespace, Parser

_PATIENCE = 2.0
_FEWEST = 100  # as in `entlink.learning.fit.calibration`, which help must not wait for
_PLOT = "reliability.svg"  # as in `entlink.learning.fit.saving`


def _configure(parser: Parser) -> None:
    options.kb_argument(parser)
    options.saved_linker(parser)
    parser.add_argument(
        "--mentions", metavar="N", type=_enough, default=2000, help="mentions to calibrate on (default: 2000)"
    )
    parser.add_argument(
        "--nil-share",
        metavar="S",
        type=values.level,
        default=0.2,
        help="which share of mentions is NIL in the texts to come (default: 0.2)",
    )
    parser.add_argument(
        "--precision",
        metavar="P",
        type=values.level,
        help="choose the lowest threshold at which so many of the links are right (default: the one with the most "
        "right decisions)",
    )
    parser.add_argument(
        "--per-type", action="store_true", help="thresholds of their own for types with enough mentions"
    )
    parser.add_argument("--plot", metavar="FILE.svg", help=f"write the plot here, too (default: {_PLOT} in DIR)")
    parser.add_argument(
        "--seed", metavar="S", type=values.weight, default=0, help="what chance depends on (default: 0)"
    )
    options.as_json(parser)
    options.quiet(parser)


def _enough(value: str) -> int:
    from argparse import ArgumentTypeError

    number = values.whole(value)
    if number < _FEWEST:
        raise ArgumentTypeError(f"{value} mentions are too few: give {_FEWEST} or more")
    return number


def _calibrate(arguments: Namespace) -> None:
    import msgspec

    from entlink.learning.fit.calibration import CalibrationOptions
    from entlink.learning.fit.saving import calibrate_on_kb
    from entlink.linking.config import linker_beside

    _tell_of_another_kb(arguments, Path(arguments.output) if arguments.output else linker_beside(arguments.kb))
    wanted = CalibrationOptions(**given_fields(arguments, CalibrationOptions))
    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        folder, found = calibrate_on_kb(
            arguments.kb,
            wanted,
            config=arguments.config,
            output=arguments.output,
            plot=arguments.plot,
            command=shlex.join(["entlink", *arguments.words]),
            progress=report,
        )
    if arguments.json:
        say_json(msgspec.to_builtins(found))
    elif not arguments.quiet:
        say(*_lines(found))
    if not arguments.quiet:
        options.note_saved(folder)


def _tell_of_another_kb(arguments: Namespace, folder: Path) -> None:
    """A linker tuned on another knowledge base may do, but most likely a name was mistaken."""
    from entlink.linking.saved import read_card

    name = Path(arguments.kb).name
    given = Path(arguments.config) if arguments.config else folder
    for place in dict.fromkeys((given, folder)):
        other = read_card(place).kb if place.is_dir() else ""
        if other and other != name:
            note(f"warning: {place} was made for {other}, not for {name}")


def _lines(found: Calibration) -> list[str]:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in found.kinds.items())
    rows = [("", "before", "calibrated")]
    for name, field in _FIGURES.items():
        rows.append((name, f"{getattr(found.before, field):.3f}", f"{getattr(found.after, field):.3f}"))
    weights = ", ".join(f"{name} {weight:.3g}" for name, weight in found.weights.items())
    own = ", ".join(f"{name} {threshold:.2f}" for name, threshold in found.types.items())
    return [
        f"{found.mentions:,} mentions of the knowledge base itself: {kinds}; one half to fit, the other to measure",
        *columns(rows),
        f"threshold: {found.threshold:.3f}" + (f"; of types: {own}" if own else ""),
        f"probability from: {weights}, bias {found.bias:.3g}",
    ]


_FIGURES = {
    "expected calibration error": "ece",
    "Brier score": "brier",
    "right decisions, NIL included": "accuracy",
    "precision of links": "precision",
    "recall of links": "recall",
    "precision of NIL": "nil_precision",
    "recall of NIL": "nil_recall",
    "F1 of NIL": "nil_f1",
}

COMMANDS = {
    "calibrate": Command(
        _calibrate,
        _configure,
        "Fit probabilities and a threshold for NIL to a linker, without annotated data: on names in the knowledge "
        "base's own descriptions, some altered, some with their entity taken out, and on names that no entity has. "
        "The linker is saved beside the knowledge base, where `entlink link --mentions given` finds it, with a "
        "plot of how reliable its probabilities are.",
        (
            "entlink calibrate wiki.kb --config lexical -o calibrated.linker --mentions 400",
            "entlink link wiki.kb samples/conversations.jsonl --config calibrated.linker -o calibrated.jsonl",
        ),
    ),
}
