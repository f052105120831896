"""Training a model from examples to the finished folder."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
import numpy
import torch

from entlink.encoders.model_card import CARD
from entlink.encoders.pair_tokens import PairReader
from entlink.encoders.reporting import Progress, ignore_progress
from entlink.errors import ExistsError, InputError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.writing import write_lock
from entlink.learning.base import load_base
from entlink.learning.batches import Material
from entlink.learning.building import make_network
from entlink.learning.checkpoints import Checkpoints, Look, State, has_checkpoint
from entlink.learning.examples import Example
from entlink.learning.export import export
from entlink.learning.learners import BiLearner, CrossLearner, Learner
from entlink.learning.loop import Loop
from entlink.learning.networks import BiEncoder, CrossEncoder
from entlink.learning.train_config import TrainConfig, checked

if TYPE_CHECKING:
    from entlink.learning.base import Base

CHECKPOINT = "checkpoint"


class TrainReport(msgspec.Struct, frozen=True):
    """What became of a training: `best` is the share of held-out mentions whose entity beats its negatives."""

    folder: str
    kind: str
    steps: int
    loss: float | None
    best: float | None
    best_step: int
    history: list[Look]
    examples: int
    held_out: int
    seconds: float


def train(
    config: TrainConfig,
    kb: KnowledgeBase,
    examples: Sequence[Example],
    held_out: Sequence[Example],
    folder: Path | str,
    *,
    progress: Progress = ignore_progress,
    name: str = "",
    command: str = "",
    minutes: float | None = None,
    restart: bool = False,
    data: Mapping[str, Any] | None = None,
) -> TrainReport:
    """Train a model on examples and write its folder; the best weights on `held_out`, or the last without any.

    A checkpoint in the folder is gone on from, unless `restart`. With `minutes`, training ends when they are over,
    and the learning rate falls by the clock. `data` is noted in the folder: where the examples are from.
    """
    began, folder = monotonic(), Path(folder)
    device = check_start(config, folder, restart=restart)
    _check_examples(config, examples)
    with write_lock(folder, "training.lock"):
        base = load_base(config.model.base, progress)
        reader = PairReader(base.tokenizer, config.model.pairs)
        if config.training.masked > 0 and not reader.knows_a_mask:
            logging.getLogger(__name__).warning("%s has no mask: no name is hidden in training", base.source)
        material = Material(kb, reader, _teaching(examples, config), progress, "reading examples")
        looked = _drawn(held_out, config)
        aside = Material(kb, reader, looked, progress, "reading what is held out") if looked else None
        facts = {**msgspec.to_builtins(config), "base weights": base.identity, "examples": material.digest()}
        facts["held-out examples"] = aside.digest() if aside else ""
        checkpoints = Checkpoints(folder / CHECKPOINT, facts)
        if restart:
            checkpoints.remove()
        bf16 = config.training.precision == "bf16"
        network = make_network(config.model, base, config.training.seed, bf16=bf16).to(device)
        learner = _learner(network, config, device)
        spent = monotonic() - began
        loop = Loop(learner, material, aside, config.training, checkpoints, progress, minutes=minutes, spent=spent)
        state = loop.run(look_first=_knows_already(config, base))
        report = _report(folder, config, state, len(material), len(looked))
        progress("writing the model", 0, 0)
        told = {
            "base": {"source": base.source, "identity": base.identity},
            "data": {"kb": kb_name(kb), "examples": facts["examples"], "held_out": facts["held-out examples"]}
            | dict(data or {}),
            "report": msgspec.to_builtins(report),
            "torch": str(torch.__version__),
        }
        export(folder, network, base, config, told, name=name or folder.resolve().name, command=command)
        checkpoints.remove()
    (folder / "training.lock").unlink(missing_ok=True)
    return report


def check_start(config: TrainConfig, folder: Path, *, restart: bool = False) -> torch.device:
    """Whether training can begin, as far as can be told before its examples are there; the device it will be on."""
    checked(config)
    device = device_of(config.training.device)
    _check_folder(folder, restart)
    return device


def device_of(name: str) -> torch.device:
    """The device of a name, if it is here."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as problem:
        raise InputError(
            f"the device {name!r} is not here ({str(problem).splitlines()[0]}). "
            "Set training.device to cpu (--device cpu)"
        ) from problem
    return device


def _report(folder: Path, config: TrainConfig, state: State, examples: int, held_out: int) -> TrainReport:
    return TrainReport(
        folder=str(folder),
        kind=config.model.kind,
        steps=state.step,
        loss=next((look.loss for look in reversed(state.history) if look.loss is not None), None),
        best=state.best,
        best_step=state.best_step,
        history=state.history,
        examples=examples,
        held_out=held_out,
        seconds=round(state.seconds, 1),
    )


def kb_name(kb: KnowledgeBase) -> str:
    return kb.folder.name


def _learner(network: BiEncoder | CrossEncoder, config: TrainConfig, device: torch.device) -> Learner:
    if isinstance(network, CrossEncoder):
        return CrossLearner(network, device, binary=config.model.loss == "binary")
    model, batch = config.model, config.training.batch
    return BiLearner(network, device, model.scale, batch, fixed_entities=model.fixed_entities)


def _knows_already(config: TrainConfig, base: Base) -> bool:
    """Whether a look before the first step tells anything: a cross-encoder with a new head only guesses."""
    return config.model.kind == "bi-encoder" or base.kind == "cross"


def _drawn(held_out: Sequence[Example], config: TrainConfig) -> list[Example]:
    """As many of the held-out examples as are looked at."""
    most = config.training.held_out
    if config.model.kind == "cross-encoder":
        held_out = [one for one in held_out if one.negatives]
    if len(held_out) <= most:
        return list(held_out)
    rows = numpy.random.default_rng([config.training.seed, 1]).choice(len(held_out), most, replace=False)
    return [held_out[row] for row in sorted(rows.tolist())]


def _teaching(examples: Sequence[Example], config: TrainConfig) -> Sequence[Example]:
    """The examples that can change anything: an entity alone is certain by the softmax of a cross-encoder."""
    if config.model.kind == "cross-encoder" and config.model.loss == "softmax":
        return [one for one in examples if one.negatives]
    return examples


def _check_examples(config: TrainConfig, examples: Sequence[Example]) -> None:
    if not examples:
        raise InputError(
            "there is no example to train on: no gold mention whose entity the knowledge base has. Check that the "
            "documents have gold, and that its ids are those of the knowledge base"
        )
    if config.model.kind == "cross-encoder" and not any(one.negatives for one in examples):
        raise InputError(
            "no example has negatives, so a cross-encoder has nothing to tell apart. Mine some (training.negatives), "
            "or train on names that several entities share"
        )
    if not any(one.weight > 0 for one in examples):
        raise InputError("all examples weigh 0, so nothing is learnt. Give some a weight above 0")


def _check_folder(folder: Path, restart: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: this is a file. Give a folder for the model")
    if (folder / CARD).is_file() and not restart and not has_checkpoint(folder / CHECKPOINT):
        raise ExistsError(f"{folder}: a trained model is there already. Give another folder, or --restart")
