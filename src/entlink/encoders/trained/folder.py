"""The folders of models that were trained on mentions and entities: what is common to all kinds of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
import numpy

from entlink.encoders.loading import card_of
from entlink.encoders.models.card import check_files
from entlink.encoders.models.hugging_face import read_tokenizer
from entlink.encoders.models.store import models_folder
from entlink.encoders.text.backends import OnnxBackend
from entlink.encoders.text.batching import batches
from entlink.encoders.text.transformer import encoded
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.encoders.trained.settings import pair_settings
from entlink.encoders.trained.type_names import TYPES
from entlink.errors import DamagedError, InputError, MissingModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.encoders.models.card import ModelCard
    from entlink.encoders.text.tokens import Tokens
    from entlink.encoders.trained.settings import PairPooling
    from entlink.interfaces import Vectors

    Head = Mapping[str, NDArray[numpy.float32]]

Kind = Literal["dual", "cross", "joint", "map", "multimodal"]
GRAPH, MENTION_GRAPH, ENTITY_GRAPH, PAIR_GRAPH = "model.onnx", "mention.onnx", "entity.onnx", "pair.onnx"
TOKENIZER, HEAD = "tokenizer.json", "head.safetensors"
_READ = (
    GRAPH,
    MENTION_GRAPH,
    ENTITY_GRAPH,
    PAIR_GRAPH,
    TOKENIZER,
    HEAD,
    TYPES,
)  # weights to train on from may be beside them, larger
_WANTED = {
    "dual": "an encoder of mentions and entities",
    "cross": "a cross-encoder, which scores pairs of a mention and an entity",
    "joint": "a joint model, which finds mentions and links them",
    "map": "a map over the vectors of an encoder",
    "multimodal": "a multimodal model, which scores pairs by text and picture",
}


class TrainedFolder(NamedTuple):
    """A folder with its card, and what the card says of how to read."""

    folder: Path
    card: ModelCard

    def reader(self) -> PairReader:
        """How the model reads mentions and entities; longer texts than it can take are told."""
        reader = PairReader(read_tokenizer(self.folder), pair_settings(self.card, self.folder))
        settings, most = reader.settings, self.card.max_length
        longest = max(settings.mention_tokens, settings.entity_tokens)
        if self.card.kind == "cross":
            longest = reader.most_tokens
        if most and longest > most:
            raise DamagedError(
                f"{self.folder}: its settings want {longest} tokens read at once, and the model takes {most}. "
                "Lower mention_tokens or entity_tokens and train it again"
            )
        return reader

    def checksums(self, *names: str) -> str:
        """What the named files are, those that are there, as one text."""
        return " ".join(f"{name} {self.card.files[name].sha256}" for name in names if name in self.card.files)

    def head(self) -> Head:
        """The layers after the pooling, by name; none where there are none."""
        path = self.folder / HEAD
        if not path.is_file():
            return {}
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            found: Head = {name: value.astype(numpy.float32) for name, value in load_file(path).items()}
        except (SafetensorError, TypeError, KeyError) as problem:
            raise DamagedError(f"{path}: cannot be read ({problem}). Export the model again") from problem
        return found

    def layer(self, head: Head, name: str, *shape: int) -> Layer | None:
        """One layer of the head, if it is of that shape; None where there is none of that name."""
        weight, bias = head.get(f"{name}.weight"), head.get(f"{name}.bias")
        if weight is None:
            return None
        if bias is None:
            bias = numpy.zeros(shape[0], numpy.float32)
        if weight.shape != shape or bias.shape != shape[:1]:
            raise DamagedError(
                f"{self.folder / HEAD}: the layer {name!r} is of {weight.shape} and {bias.shape}, and {shape} and "
                f"{shape[:1]} were due. Export the model again"
            )
        if not (numpy.isfinite(weight).all() and numpy.isfinite(bias).all()):
            raise DamagedError(
                f"{self.folder / HEAD}: the layer {name!r} has NaN or infinity in it. Train the model again with a "
                "lower learning rate, or fetch it again"
            )
        return Layer(weight, bias)

    def tower(self, name: str, pooling: PairPooling, threads: int | None) -> Tower:
        path = self.folder / name
        if not path.is_file():
            raise DamagedError(f"{path}: this file of the model {self.card.name!r} is missing. Export it again")
        return Tower(OnnxBackend(path, threads), pooling, self.card.name)


class Layer(NamedTuple):
    """A linear layer."""

    weight: NDArray[numpy.float32]
    bias: NDArray[numpy.float32]

    def __call__(self, rows: Vectors) -> Vectors:
        found: Vectors = numpy.einsum("rh,dh->rd", rows, self.weight) + self.bias  # the same in any batch
        return found


class Tower:
    """A graph with the pooling it was trained with."""

    def __init__(self, backend: OnnxBackend, pooling: PairPooling, name: str) -> None:
        self.dimension, self._name = backend.dimension, name
        self._backend, self._pooling = backend, pooling

    def __call__(self, read: Sequence[Tokens], layer: Layer | None = None) -> Vectors:
        """A row for each, in their order, through the layer if there is one; like lengths are run together."""
        rows = numpy.zeros((len(read), self.dimension), numpy.float32)
        for batch in batches([len(one.ids) for one in read]):
            rows[batch] = encoded(self._backend, [read[at] for at in batch], self._pooling)
        found = rows if layer is None else layer(rows)
        if not numpy.isfinite(found).all():
            raise InputError(
                f"the model {self._name!r} gave NaN or infinity for some text. Its weights are broken: "
                "train it again with a lower learning rate, or fetch it again"
            )
        return found


def open_trained(spec: str | Path, kind: Kind) -> TrainedFolder:
    """The folder of a trained model by its name in the store or its path, whole and of the kind that is wanted."""
    name = str(spec)
    if not name:
        raise InputError(f"an empty name is no model. Give the name or the folder of {_WANTED[kind]}")
    found = card_of(spec)
    if found is None:
        raise _missing(name, kind)
    folder, card = found
    if card.kind != kind:
        raise InputError(
            f"the model {name!r} is of the kind {card.kind!r}, and {_WANTED[kind]} is wanted here (kind {kind!r}). "
            "`entlink models list` shows which there are"
        )
    read = {name: file for name, file in card.files.items() if name in _READ}
    check_files(folder, msgspec.structs.replace(card, files=read))
    return TrainedFolder(folder, card)


def _missing(name: str, kind: Kind) -> InputError | MissingModelError:
    if Path(name).is_dir():
        return InputError(
            f"{name}: no model.json is here, so it is no trained model, and {_WANTED[kind]} is wanted. "
            "Give the folder that training wrote"
        )
    if os.sep in name:
        return InputError(f"{name}: no such folder. Check the path")
    return MissingModelError(
        f"there is no model {name!r} in {models_folder()}, nor a folder of that name, and {_WANTED[kind]} is wanted. "
        "`entlink models list` shows what is here"
    )


def trained_identity(name: str, *parts: object) -> str:
    """A readable name, with a hash of all that changes what the model gives."""
    from entlink.encoders.identities import slug

    return f"{slug(name)[:40]}-{sha256(repr(parts).encode()).hexdigest()[:16]}"


def settings_of(reader: PairReader, *left_out: str) -> dict[str, Any]:
    """The settings by name, less those that change nothing here."""
    found: dict[str, Any] = msgspec.structs.asdict(reader.settings)
    return {name: value for name, value in found.items() if name not in left_out}
