"""Training a map over the vectors of an encoder whose weights cannot be trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import torch

from entlink.encoders.dual import PlainDual, load_dual
from entlink.encoders.models.card import CARD, ModelCard, file_cards, write_card
from entlink.encoders.trained.folder import HEAD
from entlink.errors import ConfigError
from entlink.learning.checkpoints import Checkpoints, State
from entlink.learning.export import TOLD, commit
from entlink.learning.loop import Loop
from entlink.learning.maps.learner import LowRankMap, MapLearner
from entlink.learning.maps.material import MapMaterial
from entlink.learning.pairs.learners import with_rivals
from entlink.version import __version__

if TYPE_CHECKING:
    from entlink.io.progress import Progress
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.pairs.examples import Example
    from entlink.learning.train_config import TrainConfig

_RANK = 64  # of the map, where the configuration says 0


def plain_base(spec: str) -> PlainDual:
    """The encoder that a map is laid over: one of texts."""
    dual = load_dual(spec)
    if not isinstance(dual, PlainDual) or dual.spec is None:
        raise ConfigError(f"model.base = {spec!r} does not fit a map: give the name or folder of an encoder of texts")
    return dual


class MapTraining:
    """One training of a map, from examples to the finished folder."""

    def __init__(self, config: TrainConfig, kb: KnowledgeBase, device: torch.device, progress: Progress) -> None:
        self._config, self._kb, self._device, self._progress = config, kb, device, progress
        self._dual = plain_base(config.model.base)
        torch.manual_seed(config.training.seed)
        self.network = LowRankMap(self._dual.dimension, config.model.dimension or _RANK).to(device)

    def run(
        self,
        examples: Sequence[Example],
        held_out: Sequence[Example],
        checkpoint: Path,
        *,
        minutes: float | None,
        restart: bool,
        spent: float,
    ) -> tuple[State, int]:
        """Train; how it went, and how many held-out mentions were looked at."""
        config, model = self._config, self._config.model
        taught, silent = [one for one in examples if one.weight], [one for one in examples if not one.weight]
        material = MapMaterial(self._kb, self._dual, taught, self._progress, "reading examples", silent)
        aside = None
        if held_out:
            aside = MapMaterial(self._kb, self._dual, held_out, self._progress, "reading what is held out")
        looked_at = with_rivals(aside, config.training.batch) if aside is not None else 0  # type: ignore[arg-type]
        facts = {
            **msgspec.to_builtins(config),
            "encoder": self._dual.identity,
            "examples": material.digest(),
            "held-out examples": aside.digest() if looked_at and aside is not None else "",
            "commit": commit(),
        }
        checkpoints = Checkpoints(checkpoint, facts)
        if restart:
            checkpoints.remove()
        learner = MapLearner(self.network, self._device, model.scale, config.training.batch)
        loop: Loop[Any] = Loop(
            learner,
            material,
            aside if looked_at else None,
            config.training,
            checkpoints,
            self._progress,
            minutes=minutes,
            spent=spent,
        )
        return loop.run(look_first=True), looked_at

    def export(self, folder: Path, told: Mapping[str, Any], *, name: str, command: str) -> ModelCard:
        """Write the folder: two small matrices, and a card that names the encoder; without a card it is no model."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        (folder / CARD).unlink(missing_ok=True)
        arrays = {key: value.detach().float().cpu().numpy() for key, value in self.network.state_dict().items()}
        save_file(arrays, folder / HEAD)
        facts = {"config": msgspec.to_builtins(self._config), "commit": commit(), **told}
        (folder / TOLD).write_bytes(msgspec.json.format(msgspec.json.encode(facts)) + b"\n")
        cards = file_cards(folder)
        card = ModelCard(
            name=name,
            kind="map",
            source=str(self._dual.spec),
            dimension=self._dual.dimension,
            files={file: cards[file] for file in (HEAD, TOLD)},
            weights=self._dual.identity,
            entlink=__version__,
            command=command,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            settings={"encoder": self._dual.spec, "identity": self._dual.identity},
        )
        write_card(folder, card)
        return card
