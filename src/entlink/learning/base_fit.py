"""Whether a base can be trained as a configuration says: told by its small files, before anything long is begun."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from entlink.encoders.models.card import read_card
from entlink.encoders.models.hugging_face import read_tokenizer
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.errors import ConfigError
from entlink.learning.base import base_folder, is_trained, trainable_layout, trained_shape

if TYPE_CHECKING:
    from entlink.encoders.models.card import ModelCard
    from entlink.learning.train_config import ModelConfig

_USUAL_TOKENS = 512


def check_base(config: ModelConfig) -> Path | None:
    """An error if there is nothing of that name to train from, or nothing that fits the configuration.

    What is still to be fetched is not looked at; else its folder is returned.
    """
    if config.kind == "map":
        from entlink.learning.maps.training import plain_base

        plain_base(config.base)
        return None
    folder = base_folder(config.base)
    if folder is None:
        return None
    if is_trained(folder):
        card = read_card(folder)
        _check_reading(config, card)
        _check_towers(config, card)
        shape: Mapping[str, Any] = trained_shape(folder)
    else:
        shape = trainable_layout(folder).config
    check_shape(config, shape)
    tokenizer = read_tokenizer(folder)
    if config.kind != "joint":
        PairReader(tokenizer, config.pairs)  # which tells what it has no room or no markers for
    return folder


def check_shape(config: ModelConfig, shape: Mapping[str, Any]) -> None:
    """Whether the BERT of a `config.json` has as many layers, and reads as many tokens, as is wanted of it."""
    layers, longest = int(shape["num_hidden_layers"]), int(shape.get("max_position_embeddings", _USUAL_TOKENS))
    if config.frozen_layers > layers:
        raise ConfigError(f"model.frozen_layers = {config.frozen_layers} does not fit: {config.base} has {layers}")
    if config.kind == "joint":
        if config.text_tokens > longest:
            raise ConfigError(f"model.text_tokens = {config.text_tokens} does not fit: {config.base} reads {longest}")
        return
    asked = max(config.mention_tokens, config.entity_tokens)
    if config.kind == "cross-encoder":
        asked = config.mention_tokens + config.entity_tokens - 1
    if asked > longest:
        raise ConfigError(
            f"{asked} tokens are too many: {config.base} reads {longest}. Set model.mention_tokens and "
            "model.entity_tokens lower"
        )


def wants_one_tower(config: ModelConfig) -> ConfigError:
    """What is told where the base has a tower for each side, and one for both is wanted."""
    if config.kind == "cross-encoder":
        return ConfigError(
            f"{config.base} has a tower for each side, and a cross-encoder reads both sides with one. Set model.base "
            "to what that was trained from, or to a model with one tower"
        )
    return ConfigError(f"{config.base} has a tower for each side. Set model.separate to true, or take another base")


def _check_towers(config: ModelConfig, card: ModelCard) -> None:
    two = card.kind == "dual" and card.settings.get("separate", False)
    if two and config.kind != "joint" and not config.separate:
        raise wants_one_tower(config)


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
