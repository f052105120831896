"""`entlink adapt`: a linker that learns a knowledge base from its own texts and links."""

from __future__ import annotations

import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.failures import is_interruption
from entlink_cli.fields import given_fields
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, say, say_json
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.learning.adapt.adapt import AdaptOptions
    from entlink_cli.parsing import Namespace, Parser


def _configure(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument(
        "--minutes", metavar="M", type=values.positive, default=60.0, help="time for all of it (default: 60)"
    )
    parser.add_argument(
        "--config",
        metavar="C",
        default="zero-shot",
        help="what to start from: a TOML file or a saved linker with a fusion and the ranker combination (default: "
        "zero-shot, the one in the box)",
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="where to save the linker (default: NAME.linker beside NAME.kb)"
    )
    parser.add_argument(
        "--seed", metavar="S", type=values.weight, default=0, help="what chance depends on (default: 0)"
    )
    parser.add_argument(
        "--nil-share",
        metavar="S",
        type=values.level,
        default=0.02,
        help="which share of mentions is NIL in the texts to come (default: 0.02)",
    )
    parser.add_argument(
        "--no-train",
        action="store_true",
        help="train no models: only indexes, weights, senses of words and NIL are adapted",
    )
    options.training_settings(parser, "change a setting of the training, such as model.base=FOLDER; can be repeated")
    parser.add_argument(
        "--restart", action="store_true", help="begin anew: forget what was begun, and replace the linker there"
    )
    options.as_json(parser)
    options.quiet(parser)


def _adapt(arguments: Namespace) -> None:
    import msgspec

    from entlink.learning.adapt.adapt import AdaptOptions, adapt
    from entlink.learning.adapt.report import table

    wanted = AdaptOptions(
        **given_fields(arguments, AdaptOptions) | {"train": not arguments.no_train, "settings": dict(arguments.set)}
    )
    if wanted.train and not arguments.quiet:
        _tell_what_is_fetched(arguments.kb, wanted)
    command = shlex.join(["entlink", *arguments.words])
    try:
        with progress(quiet=arguments.quiet) as report:
            found = adapt(arguments.kb, wanted, report, restart=arguments.restart, command=command)
    except (KeyboardInterrupt, RuntimeError) as problem:
        if is_interruption(problem):
            again = "the same command without --restart" if arguments.restart else "the same command"
            note(f"what is done is kept; {again} goes on from there")
        raise
    if arguments.json:
        say_json(msgspec.to_builtins(found))
    elif not arguments.quiet:
        rows, told = table(found)
        say(*columns(rows), told)
    if not arguments.quiet:
        options.note_saved(found.folder)


def _tell_what_is_fetched(kb: str, wanted: AdaptOptions) -> None:
    from entlink.encoders.extras import require_train
    from entlink.errors import EntlinkError
    from entlink.learning.adapt.settings import config_of_training, encoder_of
    from entlink.linking.config import read_config
    from entlink.linking.saved import with_chosen_encoder

    with suppress(EntlinkError):  # without torch nothing is, and what else is wrong is told by adapting itself
        require_train("training a model")
        from entlink.learning.base import to_fetch

        encoder = encoder_of(with_chosen_encoder(read_config(wanted.config), kb))
        if fetched := to_fetch(config_of_training(wanted, links=False, encoder=encoder).model.base):
            note(fetched)


COMMANDS = {
    "adapt": Command(
        _adapt,
        _configure,
        "Learn a knowledge base from its own texts and links, without annotated data: examples are found in it, "
        "a bi-encoder is trained, weights are fitted to its links, and NIL is calibrated; each "
        "is kept only if it helps on what is held back. The linker is saved beside the knowledge base, where "
        "`entlink link --mentions given` finds it: it links spans that are given. Interrupted, the same "
        "command goes on. Training needs pip install 'entlink[train]'.",
        (
            "entlink adapt wiki.kb --no-train --minutes 5 -o adapted.linker",
            "entlink link wiki.kb samples/conversations.jsonl --config adapted.linker --mentions gold "
            "-o adapted.jsonl",
        ),
    ),
}
