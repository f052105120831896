"""Folders with an encoder of pictures, converted to ONNX without torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from entlink.encoders.images.clip import clip_picture_graph, clip_text_graph, text_limits
from entlink.encoders.images.efficientnet import LITE, checkpoint_in, efficientnet_graph
from entlink.encoders.images.layers import CHANNELS, Weights
from entlink.encoders.images.preparing import Preparation, read_preparation
from entlink.encoders.images.resnet import resnet_graph
from entlink.encoders.images.vit import vit_graph
from entlink.encoders.models.card import ModelCard, file_cards
from entlink.encoders.models.hugging_face import (
    TORCH_WEIGHTS,
    Layout,
    read_tokenizer,
    read_weights,
    weight_files,
    weights_hash,
)
from entlink.encoders.models.torch_weights import read_torch_weights
from entlink.errors import InputError
from entlink.version import __version__

PICTURES, TEXTS, TOKENIZER = "model.onnx", "texts.onnx", "tokenizer.json"


class _Family(NamedTuple):
    graph: Callable[[Weights, dict[str, Any]], bytes]
    part: str = ""  # of config.json that is about pictures


_FAMILIES = {
    LITE: _Family(efficientnet_graph),
    "resnet": _Family(resnet_graph),
    "vit": _Family(vit_graph),
    "clip": _Family(clip_picture_graph, "vision_config"),
}


def is_of_pictures(config: Mapping[str, Any]) -> bool:
    """Whether a config.json describes an encoder of pictures."""
    return config.get("model_type") in _FAMILIES


def picture_weights(folder: Path) -> list[Path]:
    """The files of weights of a folder, in safetensors or in the format of torch."""
    if found := weight_files(folder):
        return found
    checkpoint = checkpoint_in(folder)
    if checkpoint is not None:
        return [checkpoint]
    if (folder / TORCH_WEIGHTS).is_file():
        return [folder / TORCH_WEIGHTS]
    raise InputError(
        f"{folder}: no weights are here, in model.safetensors or {TORCH_WEIGHTS}. Fetch the whole folder"
    )


def convert_pictures(layout: Layout, folder: Path) -> None:
    """Write the graph of a model into a folder, and of a CLIP that of its texts with the tokenizer."""
    config, family = layout.config, _FAMILIES[str(layout.config["model_type"])]
    _check_channels(layout, family)
    weights = _read(layout.folder)
    try:
        (folder / PICTURES).write_bytes(family.graph(weights, config))
        if config["model_type"] == "clip":
            (folder / TEXTS).write_bytes(clip_text_graph(weights, config))
    except msgspec.ValidationError as problem:
        raise InputError(f"{layout.folder / 'config.json'}: {problem}. Check the folder") from problem
    if config["model_type"] == "clip":
        read_tokenizer(layout.folder).save(str(folder / TOKENIZER))


def describe_pictures(name: str, layout: Layout, folder: Path) -> ModelCard:
    """The card of what was converted."""
    from entlink.encoders.images.loading import opened

    kind = str(layout.config["model_type"])
    size = int(_about_pictures(layout).get("image_size") or 224)
    settings: dict[str, Any] = {
        "family": kind,
        "preparation": msgspec.to_builtins(read_preparation(layout.folder, kind, size)),
    }
    if kind == "clip":
        scale = _read(layout.folder).get("logit_scale")
        settings["texts"] = text_limits(layout.config, None if scale is None else float(scale))
    card = ModelCard(
        name=name,
        kind="picture",
        source=str(layout.folder.resolve()),
        dimension=0,
        files=file_cards(folder),
        precision="fp32",
        licence=layout.licence,
        weights=weights_hash(picture_weights(layout.folder)),
        entlink=__version__,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        settings=settings,
    )
    return msgspec.structs.replace(card, dimension=opened(folder, card).dimension)


def preparation_of(card: ModelCard) -> Preparation:
    return msgspec.convert(card.settings["preparation"], Preparation)


def _about_pictures(layout: Layout) -> dict[str, Any]:
    """The part of config.json that says how large the pictures are."""
    family = _FAMILIES[str(layout.config["model_type"])]
    about: dict[str, Any] = layout.config.get(family.part) or {} if family.part else layout.config
    return about


def _check_channels(layout: Layout, family: _Family) -> None:
    channels = _about_pictures(layout).get("num_channels", CHANNELS)
    if channels != CHANNELS:
        raise InputError(
            f"{layout.folder / 'config.json'}: the model reads pictures of {channels} channels, and "
            f"pictures have {CHANNELS}: red, green and blue. Use a model of {CHANNELS} channels"
        )


def _read(folder: Path) -> dict[str, Any]:
    first = picture_weights(folder)[0]
    return read_weights(folder) if first.suffix == ".safetensors" else read_torch_weights(first)
