"""`entlink train entelmo`: an encoder of entities trained on hyperlinks with descriptions."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, number_of, say, say_json
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.learning.entelmo.config import EntElmoConfig
    from entlink.learning.entelmo.training import EntElmoReport
    from entlink_cli.parsing import Namespace, Parser

_MINUTES = 40.0
# Those of `entlink.learning.entelmo.config`, which help must not wait for.
VARIANTS = ("full", "baseline", "without-ctx", "etn")


def _configure(parser: Parser) -> None:
    parser.add_argument("data", metavar="WIKIENT", help="the folder that `entlink datasets build wikient` made")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder of the model")
    parser.add_argument(
        "--variant",
        choices=VARIANTS,
        help="which losses are added to the language model's: full (l_desc and l_ctx, default), baseline (none), "
        "without-ctx (l_desc), etn (l_desc and l_etn)",
    )
    parser.add_argument(
        "--config",
        metavar="C",
        default="entelmo",
        help="the sizes and settings: entelmo (default, small), entelmo-published, or a TOML file",
    )
    options.training_settings(parser, "change a setting, such as model.shape.hidden=512; can be repeated")
    parser.add_argument(
        "--minutes",
        metavar="M",
        type=values.positive,
        default=_MINUTES,
        help="end training after this time, if its steps are not done before (default: 40)",
    )
    parser.add_argument("--seed", metavar="S", type=values.weight, help="what chance depends on (default: 0)")
    parser.add_argument(
        "--restart", action="store_true", help="begin anew: forget the checkpoint or the model in the folder"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    options.as_json(parser)
    options.quiet(parser)


def _train(arguments: Namespace) -> None:
    from entlink.encoders.extras import require_retrieval, require_train

    config = _config(arguments)
    if arguments.dry_run:
        _tell(arguments, config)
        return
    require_retrieval("training a model")
    require_train("training a model")
    import msgspec

    from entlink.learning.entelmo.training import train_entelmo

    with progress(quiet=arguments.quiet) as report:
        found = train_entelmo(
            config,
            arguments.data,
            Path(arguments.output),
            progress=report,
            command=shlex.join(["entlink", *arguments.words]),
            minutes=arguments.minutes,
            restart=arguments.restart,
        )
    if arguments.json:
        say_json(msgspec.to_builtins(found))
    elif not arguments.quiet:
        say(*_lines(found))
    if not arguments.quiet:
        note(f"saved as {arguments.output}")


def _config(arguments: Namespace) -> EntElmoConfig:
    from entlink.learning.entelmo.config import read_entelmo_config

    settings = dict(arguments.set)
    if arguments.variant:
        settings["model.variant"] = arguments.variant
    if arguments.seed is not None:
        settings["training.seed"] = str(arguments.seed)
    return read_entelmo_config(arguments.config, settings)


def _tell(arguments: Namespace, config: EntElmoConfig) -> None:
    """What training would do, in words."""
    from entlink.datasets.wikient.rows import read_contexts, read_descriptions

    contexts = sum(1 for _ in read_contexts(arguments.data))
    described = sum(1 for _ in read_descriptions(arguments.data))
    training = config.training
    steps = training.steps or training.epochs * -(-contexts // training.batch)
    say(
        f"reads {number_of(contexts, 'context')} of {described:,} entities with a description",
        f"trains EntELMo ({config.model.variant}): up to {steps:,} steps of {training.batch} contexts with their "
        f"descriptions, at most {arguments.minutes:g} minutes",
        f"writes it to {arguments.output}",
    )


def _lines(found: EntElmoReport) -> list[str]:
    rows = [
        (f"{look.step:,}", "" if look.loss is None else f"{look.loss:.3f}", _perplexity(look.figure))
        for look in found.history
    ]
    lines = columns([("step", "loss per word", "held-out perplexity"), *rows])
    lines.append(
        f"{found.variant}: {found.parameters:,} parameters, {found.tokens:,} words in {found.steps:,} steps, "
        f"{found.seconds / 60:.1f} minutes"
    )
    if found.measures is not None:
        one = found.measures
        parts = [f"perplexity {one.contexts:.1f} of contexts and {one.descriptions:.1f} of descriptions"]
        losses = (("l_desc", one.l_desc), ("l_ctx", one.l_ctx))
        parts += [f"{name} {value:.3f} per word" for name, value in losses if value is not None]
        lines.append(f"on {found.held_out:,} contexts of pages held out: {', '.join(parts)}")
    return lines


def _perplexity(figure: float | None) -> str:
    return "" if not figure else f"{1 / figure:.1f}"


COMMANDS = {
    "train entelmo": Command(
        _train,
        _configure,
        "Train EntELMo (paper 2): a language model in both directions that reads words by their characters. It also "
        "learns to predict a description from its mention, and a context from its description. The folder is an "
        "encoder that needs no torch. A training that was interrupted goes on where it was when the command is given "
        "again. For variants that are to be compared, set training.steps alike and give time enough. Needs pip "
        "install 'entlink[train]'.",
        (
            "entlink datasets build wikient samples/wiki/samplewiki.xml -o wikient",
            "entlink train entelmo wikient -o entelmo --dry-run",
            "entlink train entelmo wikient -o baseline --variant baseline --set training.steps=800 --dry-run",
        ),
    ),
}
