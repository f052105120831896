"""Training EntELMo on a WikiEnt set, to the folder of an encoder that needs no torch."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
import torch

from entlink.datasets.folder_target import CARD as SET_CARD
from entlink.encoders.models.card import CARD, ModelCard, file_cards, write_card
from entlink.encoders.recurrent.encoder import WEIGHTS
from entlink.io.checksums import checksum
from entlink.io.progress import Progress, ignore_progress
from entlink.learning.checkpoints import Checkpoints, Look, State
from entlink.learning.entelmo.config import EntElmoConfig, checked
from entlink.learning.entelmo.learner import EntElmoLearner, Measures
from entlink.learning.entelmo.material import EntElmoMaterial, read_material
from entlink.learning.entelmo.network import EntElmo
from entlink.learning.export import PARTIAL, TOLD, commit
from entlink.learning.loop import Loop
from entlink.learning.pairs.batches import epoch_order
from entlink.learning.train import CHECKPOINT, alone_in, check_folder
from entlink.version import __version__

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


class EntElmoReport(msgspec.Struct, frozen=True):
    """What became of a training: `tokens` were read in all steps, signs counted; `best` is one by the perplexity.

    `held_out` contexts are of pages that no step saw; their descriptions are seen wherever others link there, too.
    """

    folder: str
    variant: str
    steps: int
    tokens: int
    loss: float | None
    best: float | None
    best_step: int
    history: list[Look]
    contexts: int
    held_out: int
    parameters: int
    seconds: float
    measures: Measures | None = None


def train_entelmo(
    config: EntElmoConfig,
    wikient: Path | str,
    folder: Path | str,
    *,
    progress: Progress = ignore_progress,
    name: str = "",
    command: str = "",
    minutes: float | None = None,
    restart: bool = False,
) -> EntElmoReport:
    """Train EntELMo, or a variant of it, on the WikiEnt set `wikient`, and write its folder.

    A checkpoint in the folder is gone on from, unless `restart`. With `minutes`, training ends when they are over,
    and the learning rate falls by the clock. For variants that are to be compared give `training.steps`, and time
    enough: equal steps with one seed read the same contexts.
    """
    began, folder, source = monotonic(), Path(folder), Path(wikient)
    checked(config)
    check_folder(folder, None, restart)
    with alone_in(folder):
        training = config.training
        material, aside = read_material(source, config.model, training.held_out, training.seed, progress)
        torch.manual_seed(training.seed)
        network = make_entelmo(config, material.counts)
        facts = {
            **msgspec.json.decode(msgspec.json.encode(config)),  # as it will be read: lists within lists
            "contexts": material.digest(),
            "held-out contexts": aside.digest(),
            "commit": commit(),
        }
        checkpoints = Checkpoints(folder / CHECKPOINT, facts)
        if restart:
            checkpoints.remove()
        learner, looked_at = EntElmoLearner(network, config.model), aside if len(aside) else None
        spent = monotonic() - began
        loop: Loop[Any] = Loop(
            learner, material, looked_at, training, checkpoints, progress, minutes=minutes, spent=spent
        )
        state = loop.run(look_first=False)
        measures = None
        if looked_at is not None:
            network.eval()
            with torch.inference_mode():
                measures = learner.measure(aside, progress, "measuring what is held out")
        report = _report(folder, config, state, material, len(aside), network, measures)
        told = {
            "config": msgspec.to_builtins(config),
            "commit": facts["commit"],
            "data": {"wikient": source.name, "card": _card_of(source), "contexts": facts["contexts"]},
            "report": msgspec.to_builtins(report),
            "torch": str(torch.__version__),
        }
        export_entelmo(folder, network, config, told, name=name or folder.resolve().name, command=command)
        checkpoints.remove()
    return report


def make_entelmo(config: EntElmoConfig, counts: NDArray[numpy.int64]) -> EntElmo:
    """The network before its first step; `counts` say how often each word of its vocabulary comes."""
    model = config.model
    return EntElmo(
        model.shape,
        torch.from_numpy(counts),
        model.dropout,
        describes=model.describes,
        tells_contexts=model.tells_contexts,
        bf16=config.training.precision == "bf16",
    )


def export_entelmo(
    folder: Path, network: EntElmo, config: EntElmoConfig, told: Mapping[str, Any], *, name: str, command: str = ""
) -> ModelCard:
    """Write the folder of the language model, without what predicts words; the card comes last."""
    from safetensors.numpy import save_file

    partial = folder / PARTIAL
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    weights = {key: value.detach().float().cpu().numpy().copy() for key, value in network.lm.state_dict().items()}
    save_file(weights, partial / WEIGHTS)
    (partial / TOLD).write_bytes(msgspec.json.format(msgspec.json.encode(told)) + b"\n")
    shape = config.model.shape
    card = ModelCard(
        name=name,
        kind="recurrent",
        source=f"EntELMo, {config.model.variant}",
        dimension=2 * shape.projection,
        files=file_cards(partial),
        precision="fp32",
        pooling="mean",
        entlink=__version__,
        command=command,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        settings=msgspec.to_builtins(shape),
    )
    write_card(partial, card)
    (folder / CARD).unlink(missing_ok=True)
    for file in (WEIGHTS, TOLD, CARD):
        (partial / file).replace(folder / file)
    partial.rmdir()
    return card


def tokens_read(material: EntElmoMaterial, batch: int, seed: int, steps: int) -> int:
    """The words of all lessons that so many steps took."""
    sizes, taken, epoch = [material.tokens(at) for at in range(len(material))], 0, 0
    per_epoch, found = -(-len(sizes) // batch), 0
    while taken < steps:
        here = min(per_epoch, steps - taken)
        found += sum(sizes[at] for at in epoch_order(seed, epoch, len(sizes))[: here * batch].tolist())
        taken, epoch = taken + here, epoch + 1
    return found


def _report(
    folder: Path,
    config: EntElmoConfig,
    state: State,
    material: EntElmoMaterial,
    held_out: int,
    network: EntElmo,
    measures: Measures | None,
) -> EntElmoReport:
    training = config.training
    return EntElmoReport(
        folder=str(folder),
        variant=config.model.variant,
        steps=state.step,
        tokens=tokens_read(material, training.batch, training.seed, state.step),
        loss=next((look.loss for look in reversed(state.history) if look.loss is not None), None),
        best=state.best,
        best_step=state.best_step,
        history=state.history,
        contexts=len(material),
        held_out=held_out,
        parameters=sum(one.numel() for one in network.parameters()),
        seconds=round(state.seconds, 1),
        measures=measures,
    )


def _card_of(source: Path) -> str:
    """The checksum of the set's card, where it has one."""
    path = source / SET_CARD
    return checksum(path) if path.is_file() else ""
