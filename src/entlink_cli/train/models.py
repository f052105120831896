"""`entlink train`: a bi-encoder, a cross-encoder, a joint or a multimodal model trained on documents with gold."""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from entlink.errors import MissingExtraError
from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, number_of, say, say_json
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.gold_files import GoldFiles
    from entlink.learning.train import TrainReport
    from entlink.learning.train_config import TrainConfig
    from entlink.linking.linker import Linker
    from entlink_cli.parsing import Namespace, Parser

_MINED = {
    "names": "others of the same name",
    "vectors": "those with the nearest vectors",
    "linker": "those that a linker finds",
}


def _configure(parser: Parser) -> None:
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="what to train: bi-encoder, cross-encoder, joint, multimodal, another configuration in the box, or a "
        "TOML file",
    )
    parser.add_argument("data", metavar="DATA", nargs="+", help="documents with gold, of any format entlink reads")
    parser.add_argument("--kb", metavar="NAME.kb", required=True, help="the folder of the knowledge base")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder of the model")
    parser.add_argument(
        "--dev",
        metavar="FILE",
        action="append",
        default=[],
        help="other documents with gold, to choose the best weights on; can be repeated (default: a 20th of DATA)",
    )
    parser.add_argument("--format", metavar="F", help="format of the documents (default: told from their content)")
    options.training_settings(parser, "change a setting, such as training.epochs=3; can be repeated")
    parser.add_argument(
        "--config",
        metavar="C",
        help='the linker that is asked for wrong candidates, where training.mine is "linker": a TOML file, a saved '
        "linker, or one in the box (default: the linker beside the knowledge base, else zero-shot)",
    )
    parser.add_argument(
        "--from",
        metavar="DIR",
        dest="base",
        help="start from this model, trained before, or from any other base: the same as --set model.base=DIR",
    )
    parser.add_argument(
        "--turns",
        metavar="SPEAKER",
        action="append",
        default=[],
        help="of conversations, learn from the turns of this speaker only; can be repeated; of a joint model",
    )
    parser.add_argument("--minutes", metavar="M", type=values.positive, help="end training after this time")
    parser.add_argument("--device", metavar="D", help="where to train, such as cpu, cuda or mps (default: cpu)")
    parser.add_argument("--seed", metavar="S", type=values.weight, help="what chance depends on (default: 0)")
    parser.add_argument(
        "--restart", action="store_true", help="begin anew: forget the checkpoint or the model in the folder"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    options.as_json(parser)
    options.quiet(parser)


def _train(arguments: Namespace) -> None:
    config = _config(arguments)
    from entlink.learning.gold_files import GoldFiles

    train_files, dev_files = (GoldFiles(paths, arguments.format) for paths in (arguments.data, arguments.dev))
    if arguments.dry_run:
        with suppress(MissingExtraError):  # what would be done can be told without torch, too
            _check_start(arguments, config)
        _tell(arguments, config, train_files, dev_files)
        return
    _check_start(arguments, config)
    import msgspec

    from entlink.learning.pairs.data import prepare
    from entlink.learning.train import train

    folder = Path(arguments.output)
    _fetch(arguments, config)
    linker = _linker(arguments, config)
    try:
        with progress(quiet=arguments.quiet) as report:
            examples, held_out = prepare(
                config,
                linker.kb,
                train_files,
                dev_files if dev_files else None,
                retrieve=linker.retrieve,
                progress=report,
            )
            found = train(
                config,
                linker.kb,
                examples,
                held_out,
                folder,
                progress=report,
                command=shlex.join(["entlink", *arguments.words]),
                minutes=arguments.minutes,
                restart=arguments.restart,
                data={"files": train_files.facts(), "dev": dev_files.facts()},
            )
    finally:
        linker.kb.close()
    if arguments.json:
        say_json(msgspec.to_builtins(found))
    elif not arguments.quiet:
        say(*_lines(found))
    if not arguments.quiet:
        note(f"saved as {folder}")


def _check_start(arguments: Namespace, config: TrainConfig) -> None:
    """Whether training can begin: a base, a device or a folder that will not do is told before anything is mined."""
    from entlink.encoders.extras import require_retrieval, require_train

    require_retrieval("training a model")
    require_train("training a model")
    from entlink.learning.train import check_start

    check_start(config, Path(arguments.output), restart=arguments.restart)


def _fetch(arguments: Namespace, config: TrainConfig) -> None:
    """What is to be fetched is there before anything is mined, and can be looked at, too."""
    from entlink.learning.base import fetch_base, to_fetch

    if config.model.kind == "map" or not (fetched := to_fetch(config.model.base)):
        return
    if not arguments.quiet:
        note(fetched)
    with progress(quiet=arguments.quiet) as report:
        fetch_base(config.model.base, report)
    _check_start(arguments, config)


def _config(arguments: Namespace) -> TrainConfig:
    from entlink.learning.train_config import read_train_config

    settings = dict(arguments.set)
    if arguments.base:
        settings["model.base"] = json.dumps(arguments.base, ensure_ascii=False)
    if arguments.turns:
        settings["training.speakers"] = json.dumps(arguments.turns, ensure_ascii=False)
    if arguments.device:
        settings["training.device"] = arguments.device
    if arguments.seed is not None:
        settings["training.seed"] = str(arguments.seed)
    return read_train_config(arguments.model, settings)


def _linker(arguments: Namespace, config: TrainConfig) -> Linker:
    """The linker whose candidates are learnt from; where none is asked, one that needs no model."""
    from entlink.linking.config import read_config
    from entlink.linking.linker import load
    from entlink.linking.saved import starting_config

    if config.training.mine == "linker" and config.training.negatives:
        wanted = starting_config(arguments.config, arguments.kb)
    else:
        wanted = read_config("lexical")
    return load(arguments.kb, config=wanted, mentions="given")


def _tell(arguments: Namespace, config: TrainConfig, train_files: GoldFiles, dev_files: GoldFiles) -> None:
    """What training would do, in words."""
    from math import ceil

    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.base import to_fetch

    training = config.training
    joint = config.model.kind == "joint"
    with KnowledgeBase.open(arguments.kb) as kb:
        count, aside = (_count(config, kb, files) for files in (train_files, dev_files))
    steps = training.steps or training.epochs * ceil(count / (training.batch * training.accumulate))
    chosen_on = f"{aside:,} others" if dev_files else "a twentieth of them"
    lines = [f"reads {number_of(count, 'text' if joint else 'example')}, and chooses the best weights on {chosen_on}"]
    if training.negatives:
        lines.append(f"finds up to {training.negatives} wrong candidates for each: {_MINED[training.mine]}")
    if config.model.kind != "map" and (fetched := to_fetch(config.model.base)):
        lines.append(fetched)
    kind = f"{config.model.kind} model" if config.model.kind in ("joint", "multimodal") else config.model.kind
    lines.append(f"trains a {kind} from {config.model.base} on {training.device}: up to {steps:,} steps")
    lines.append(f"writes it to {arguments.output}")
    say(*lines)


def _count(config: TrainConfig, kb: KnowledgeBase, files: GoldFiles) -> int:
    """How many examples there are in files."""
    if config.model.kind == "joint":
        from entlink.learning.joint.texts import taught_texts

        return sum(1 for _ in taught_texts(kb, files, config.training.speakers))
    from entlink.learning.pairs.examples import gold_examples

    return sum(1 for _ in gold_examples(kb, files))


def _lines(found: TrainReport) -> list[str]:
    rows = [
        (f"{look.step:,}", "" if look.loss is None else f"{look.loss:.4f}", _shown(look.figure))
        for look in found.history
    ]
    joint = found.kind == "joint"
    what = "text" if joint else "example"
    told = f"{number_of(found.examples, what)}, {found.steps:,} steps, {found.seconds / 60:.1f} minutes"
    if found.best is not None and joint:
        told += f"; at step {found.best_step:,}, F1 was {found.best:.3f} on {found.held_out:,} held-out texts"
    elif found.best is not None and found.typed:
        told += (
            f"; at step {found.best_step:,}, {found.best:.3f} of the links and types of {found.held_out:,} held-out "
        )
        told += "examples were right"
    elif found.best is not None:
        told += f"; at step {found.best_step:,}, {found.best:.3f} of {found.held_out:,} held-out examples were right"
    return [*columns([("step", "loss", "held out"), *rows]), told, *(_joint_lines(found) if joint else ())]


def _joint_lines(found: TrainReport) -> list[str]:
    """What became of the gold of a joint model, and how the written one does."""
    lines = []
    if found.snapped or found.left_out:
        lines.append(
            f"of {number_of(found.mentions, 'gold mention')}, {found.snapped:,} were moved to the ends of words, and "
            f"{found.left_out:,} left out: without words, too long (model.longest), or beyond their turn"
        )
    fit = found.fit
    if fit is None:
        lines.append("nothing was held out, so that the scores are not calibrated and the thresholds are guesses")
    else:
        lines.append(
            f"as written, on {number_of(fit.mentions, 'held-out mention')}: F1 of detection {fit.detection:.3f} at "
            f"the threshold {fit.threshold:g}, of linking {fit.linking:.3f} at the joint threshold "
            f"{fit.joint_threshold:g}{'' if fit.calibrated else '; too few to calibrate on'}"
        )
    return lines


def _shown(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}"


COMMANDS = {
    "train": Command(
        _train,
        _configure,
        "Train a bi-encoder, which finds candidates by vectors, a cross-encoder, which orders a few of them, or a "
        "joint model, which finds mentions and links them in one reading, or a multimodal model, which orders "
        "candidates by text and picture, on documents with gold. A training that was interrupted goes on where it "
        "was when the command is given again. Gold that the knowledge base lacks teaches nothing and is left out; to "
        "a joint model it is a mention still. `entlink train personal` is a command of its own, for personal "
        "mentions. Needs pip install 'entlink[train]'.",
        (
            "entlink train cross-encoder samples/conversations.jsonl --kb wiki.kb -o wiki-cross --dry-run",
            "entlink train bi-encoder samples/conversations.jsonl --kb wiki.kb -o wiki-dual --set training.epochs=3 "
            "--dry-run",
            "entlink train joint samples/conversations.jsonl --kb wiki.kb -o wiki-joint --dry-run",
        ),
    ),
}
