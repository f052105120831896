"""Training a multimodal model, from examples to the finished folder."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy
import torch

from entlink.encoders.cache import VectorCache
from entlink.encoders.images.loading import load_picture_encoder
from entlink.encoders.images.pictures import Pictures
from entlink.encoders.models.card import CARD, ModelCard, file_cards, write_card
from entlink.encoders.multimodal.graph import side_graph, together_graph
from entlink.encoders.multimodal.inputs import InputReader, PictureCells, StateEncoder, TextStates, check_cells
from entlink.encoders.multimodal.settings import INPUTS, MultimodalSettings
from entlink.encoders.text.backends import OnnxBackend
from entlink.encoders.text.bert_graph import BertConfig, bert_graph
from entlink.encoders.trained.folder import GRAPH, HEAD, TOKENIZER
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.errors import ConfigError, InputError
from entlink.io.caching import cache_folder
from entlink.kb.indexes.entity_vectors.dual import WordAndEntityVectors
from entlink.kb.indexes.vectors.pictures import pictures_of_entities
from entlink.learning.checkpoints import Checkpoints, State
from entlink.learning.export import PARTIAL, TOLD, WRITTEN, commit
from entlink.learning.loop import Loop
from entlink.learning.multimodal.learner import MultimodalLearner
from entlink.learning.multimodal.material import PicturedMaterial
from entlink.learning.multimodal.network import SIDES, Directions, MultimodalNetwork
from entlink.version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.encoders.multimodal.inputs import IdVectors
    from entlink.interfaces import PictureEncoder
    from entlink.io.progress import Progress
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.base import Base
    from entlink.learning.multimodal.examples import PicturedExample
    from entlink.learning.train_config import TrainConfig

_MOST_FOR_DIRECTIONS = 4_000  # texts and pictures a side that the first projections are made of
_log = logging.getLogger(__name__)


class MultimodalTraining:
    """One training of a multimodal model.

    States of texts are kept in the user's cache by what the text says, so that a second training reads them.
    """

    def __init__(
        self,
        config: TrainConfig,
        kb: KnowledgeBase,
        base: Base,
        device: torch.device,
        progress: Progress,
        vectors: IdVectors | None = None,
    ) -> None:
        self._config, self._kb, self._base = config, kb, base
        self._device, self._progress = device, progress
        if vectors is None and config.multimodal.entity_text == "vectors":
            vectors = WordAndEntityVectors(kb)
        self._graph = _base_graph(base, config)
        backend = OnnxBackend(self._graph)
        self.settings = _settings(config, kb, backend.dimension, vectors)
        model = config.model
        tokens = max(model.mention_tokens, model.entity_tokens)
        identity = f"states-{base.identity}-{config.multimodal.base_layers}-{config.training.export}-{tokens}"
        cache = VectorCache(states_folder(), StateEncoder(backend, identity, tokens), memory_rows=64, scaled=False)
        self._cache = cache
        self._inputs = InputReader(
            self.settings,
            PairReader(base.tokenizer, model.pairs),
            TextStates(cache, tokens),
            PictureCells(self.settings, Pictures()),
            PictureCells(self.settings, Pictures(Path(self.settings.picture_folder))),
            vectors,
        )
        torch.manual_seed(config.training.seed)
        self.network = MultimodalNetwork(self.settings, model.dropout).to(device)

    def run(
        self,
        examples: Sequence[PicturedExample],
        held_out: Sequence[PicturedExample],
        checkpoint: Path,
        *,
        minutes: float | None,
        restart: bool,
        spent: float,
    ) -> tuple[State, int]:
        """Train; how it went, and how many held-out mentions were looked at."""
        config = self._config
        material = self._material([one for one in examples if one.weight], "reading examples")
        self._check_pictures(material)
        looked = [one for one in held_out if one.wrong(1)][: config.training.held_out]
        aside = self._material(looked, "reading what is held out") if looked else None
        self._cache.close()
        self.network.start_alike(*_directions(material, self.settings, self._device))
        facts = {
            **msgspec.to_builtins(config),
            "base weights": self._base.identity,
            "pictures": self.settings.picture_identity,
            "entity vectors": self.settings.entity_vectors,
            "examples": material.digest(),
            "held-out examples": aside.digest() if aside else "",
            "commit": commit(),
        }
        checkpoints = Checkpoints(checkpoint, facts)
        if restart:
            checkpoints.remove()
        learner = MultimodalLearner(self.network, config, self._device)
        lessons = (learner, material, aside, config.training, checkpoints, self._progress)
        loop: Loop[Any] = Loop(*lessons, minutes=minutes, spent=spent)
        return loop.run(look_first=False), len(looked)

    def _material(self, examples: Sequence[PicturedExample], stage: str) -> PicturedMaterial:
        training = self._config.training
        hides = training.masked > 0
        if hides and not self._inputs.reader.knows_a_mask:
            _log.warning("%s has no mask: no name is hidden in training", self._base.source)
        return PicturedMaterial(
            self._kb, self._inputs, examples, training.negatives, self._progress, stage, hides=hides
        )

    def _check_pictures(self, material: PicturedMaterial) -> None:
        if "entity-picture" in self.settings.uses and not material.entities.pictures:
            raise InputError(
                f"{self.settings.picture_folder or 'the working directory'}: no picture of an entity was found. Name "
                'their folder with multimodal.picture_folder, or train with "entity-picture" in multimodal.without'
            )

    def export(self, folder: Path, told: Mapping[str, Any], *, name: str, command: str) -> ModelCard:
        """Write the model folder; its card comes last, and without a card it is no model."""
        partial = folder / PARTIAL
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        self._write(partial)
        facts = {"config": msgspec.to_builtins(self._config), "commit": commit(), **told}
        (partial / TOLD).write_bytes(msgspec.json.format(msgspec.json.encode(facts)) + b"\n")
        card = self._card(partial, name, command)
        write_card(partial, card)
        (folder / CARD).unlink(missing_ok=True)
        for file in WRITTEN:
            (folder / file).unlink(missing_ok=True)
            if (partial / file).is_file():
                (partial / file).rename(folder / file)
        (partial / CARD).rename(folder / CARD)
        partial.rmdir()
        return card

    def _write(self, folder: Path) -> None:
        from safetensors.numpy import save_file

        weights = {name: _array(value) for name, value in self.network.state_dict().items()}
        (folder / GRAPH).write_bytes(self._graph)
        if self.network.together:
            (folder / "pair.onnx").write_bytes(together_graph(_of(weights, "pair"), self.settings))
        else:
            for side in SIDES:
                (folder / f"{side}.onnx").write_bytes(side_graph(_of(weights, side), self.settings, side))
        save_file({name: value for name, value in weights.items() if name.startswith("scorer.")}, folder / HEAD)
        self._base.tokenizer.save(str(folder / TOKENIZER))

    def _card(self, folder: Path, name: str, command: str) -> ModelCard:
        base, model = self._base, self._config.model
        return ModelCard(
            name=name,
            kind="multimodal",
            source=base.source,
            dimension=self.settings.vector_width,
            files=file_cards(folder),
            precision=self._config.training.export,
            max_length=max(model.mention_tokens, model.entity_tokens),
            licence=base.licence,
            languages=base.languages,
            weights=base.identity,
            entlink=__version__,
            command=command,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            settings=msgspec.to_builtins(self.settings),
        )


def states_folder() -> Path:
    """Where states of texts are kept: in the user's cache."""
    return cache_folder("states")


def picture_encoder(config: TrainConfig) -> PictureEncoder | None:
    """The encoder of pictures that a configuration names, if it fits; None where no picture is looked at."""
    own = config.multimodal
    if {"mention-picture", "entity-picture"} <= set(own.without):
        return None
    encoder = load_picture_encoder(own.pictures)
    check_cells(own.cells, encoder.grid[0])
    return encoder


def _settings(config: TrainConfig, kb: KnowledgeBase, width: int, vectors: IdVectors | None) -> MultimodalSettings:
    own = config.multimodal
    uses = tuple(one for one in INPUTS if one not in own.without)
    encoder = picture_encoder(config)
    identity, picture_width, cells = "", 1, 1
    if encoder is not None:
        identity, picture_width, cells = encoder.identity, encoder.grid[1], own.cells
    wide, vectors_identity = width, ""
    if own.entity_text == "vectors":
        if vectors is None:
            raise ConfigError('multimodal.entity_text = "vectors" needs vectors of entities. Give `vectors`')
        wide, vectors_identity = vectors.dimension, vectors.identity
    return MultimodalSettings(
        pairs=config.model.pairs,
        fusion=own.fusion,
        pooling=own.pooling,
        base_layers=own.base_layers,
        text_width=width,
        entity_width=wide,
        entity_text=own.entity_text,
        entity_vectors=vectors_identity,
        pictures=own.pictures if identity else "",
        picture_identity=identity,
        picture_folder=_picture_folder(config, kb),
        cells=cells,
        picture_width=picture_width,
        width=own.width,
        heads=own.heads,
        own_layers=own.own_layers,
        layers=own.layers,
        shortcuts=own.shortcuts,
        prior=own.prior,
        uses=uses,
    )


def _picture_folder(config: TrainConfig, kb: KnowledgeBase) -> str:
    """Where the pictures of entities are; empty for the working directory, wherever that will be."""
    named = config.multimodal.picture_folder
    folder = named or pictures_of_entities(kb).folder
    return "" if folder == Path() else str(Path(folder).resolve())


def _base_graph(base: Base, config: TrainConfig) -> bytes:
    """The first layers of the base, or its embeddings alone, as a graph."""
    shape = msgspec.convert(base.config, BertConfig)
    layers = config.multimodal.base_layers
    if layers > shape.num_hidden_layers:
        raise ConfigError(
            f"multimodal.base_layers = {layers} does not fit: {config.model.base} has {shape.num_hidden_layers}"
        )
    weights = base.towers.get("shared") or base.towers["mention"]
    return bert_graph(weights, msgspec.structs.replace(shape, num_hidden_layers=layers), config.training.export)


def _directions(
    material: PicturedMaterial, settings: MultimodalSettings, device: torch.device
) -> tuple[Directions | None, Directions | None]:
    """The directions in which texts and pictures differ most, as the first projections of the shortcuts."""
    if not settings.shortcuts:
        return None, None
    sides = [table.means(_MOST_FOR_DIRECTIONS) for table in (material.mentions, material.entities)]
    found = []
    for at, wide in ((0, settings.text_width), (1, settings.picture_width)):
        fitting = [side[at] for side in sides if side[at].shape[1] == wide]
        rows = numpy.concatenate([numpy.zeros((0, wide), numpy.float32), *fitting])
        found.append(_main_directions(rows, settings.width, device))
    return found[0], found[1]


def _main_directions(rows: NDArray[Any], count: int, device: torch.device) -> Directions | None:
    """The first `count` directions of rows around their mean; None where there are too few rows or numbers."""
    if min(rows.shape) < 2:
        return None
    covariance = numpy.cov(rows.astype(numpy.float64), rowvar=False)
    _, vectors = numpy.linalg.eigh(covariance)
    best = vectors[:, ::-1][:, :count].T
    whole = numpy.zeros((count, rows.shape[1]))
    whole[: len(best)] = best
    shift = -whole @ rows.mean(axis=0)
    weight, bias = (torch.from_numpy(one.astype(numpy.float32)).to(device) for one in (whole, shift))
    return Directions(weight, bias)


def _of(weights: Mapping[str, NDArray[Any]], encoder: str) -> dict[str, NDArray[Any]]:
    before = f"encoders.{encoder}."
    return {name.removeprefix(before): value for name, value in weights.items() if name.startswith(before)}


def _array(value: torch.Tensor) -> NDArray[Any]:
    return numpy.ascontiguousarray(value.detach().float().cpu().numpy())
