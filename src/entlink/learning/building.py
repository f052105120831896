"""The network of a configuration, with the weights of its base."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import torch

from entlink.errors import ConfigError, InputError
from entlink.learning.base_fit import check_shape, wants_one_tower
from entlink.learning.joint.network import JointNetwork
from entlink.learning.pairs.networks import BiEncoder, CrossEncoder, Tower

if TYPE_CHECKING:
    from entlink.encoders.trained.type_names import TypeNames
    from entlink.interfaces import DualEncoder
    from entlink.learning.base import Arrays, Base
    from entlink.learning.train_config import ModelConfig

SHARED, SIDES = "shared", ("mention", "entity")
Network: TypeAlias = BiEncoder | CrossEncoder | JointNetwork


def make_network(
    config: ModelConfig, base: Base, seed: int, *, bf16: bool = False, types: TypeNames | None = None
) -> BiEncoder | CrossEncoder:
    """The network before its first step; what the base lacks, its head, depends on the seed.

    `types` are those that a bi-encoder with types is to know.
    """
    torch.manual_seed(seed)
    width = int(base.config["hidden_size"])
    check_shape(config, base.config)
    if config.kind == "cross-encoder":
        network = CrossEncoder(_tower(config, base, SHARED, bf16), width)
        if base.kind == "cross":
            _put(network.score, base.heads, "score", config.base)
        return network
    names = SIDES if config.separate else (SHARED,)
    towers = {name: _tower(config, base, name, bf16) for name in names}
    if config.fixed_entities:
        towers["entity"].requires_grad_(False)
    pair = BiEncoder(towers, width, config.dimension, cosine=config.similarity == "cosine", types=types)
    if base.kind == "dual" and "mention.weight" in base.heads and not config.dimension:
        raise ConfigError(
            f"model.dimension = 0 does not fit: {config.base} has a projection. Set it to that of the base"
        )
    if base.kind == "dual" and "mention.weight" in base.heads:
        for side in SIDES:
            _put(pair.heads[side], base.heads, side, config.base)
    if types is not None and types == base.types:
        for name, head in pair.type_heads.items():
            _put(head, base.heads, name, config.base)
    return pair


def make_joint(config: ModelConfig, base: Base, dual: DualEncoder, seed: int, *, bf16: bool = False) -> JointNetwork:
    """The network of a joint model, whose vectors are in the space of the entities of `dual`."""
    torch.manual_seed(seed)
    check_shape(config, base.config)
    tower = _tower(config, base, SIDES[0], bf16)  # of a base with two, the one that reads texts
    width = int(base.config["hidden_size"])
    network = JointNetwork(tower, width, dual.dimension, cosine=dual.similarity == "cosine")
    if base.kind == "joint":
        towards = base.settings.get("entity_identity")
        if towards != dual.entity_identity:
            raise ConfigError(
                f"{config.base} was trained towards vectors of entities by {towards!r}, and model.entities gives "
                f"those by {dual.entity_identity!r}. Set model.entities to what the base was trained with "
                f"({base.settings.get('entities')!r})"
            )
        for name in ("edges", "entity"):
            _put(getattr(network, name), base.heads, name, config.base)
    return network


def tower_names(network: Network) -> dict[str, Tower]:
    """The towers of a network by name."""
    if isinstance(network, CrossEncoder | JointNetwork):
        return {SHARED: network.tower}
    return {name: tower for name, tower in network.towers.items() if isinstance(tower, Tower)}


def head_weights(network: Network) -> dict[str, torch.Tensor]:
    """The head of a network, by the names of the file it is kept in."""
    heads: dict[str, torch.nn.Module] = {}
    if isinstance(network, CrossEncoder):
        heads["score"] = network.score
    elif isinstance(network, JointNetwork):
        heads |= {"edges": network.edges, "entity": network.entity}
    else:
        heads |= {**network.heads, **network.type_heads}
    return {f"{name}.{part}": value for name, head in heads.items() for part, value in head.state_dict().items()}


def _tower(config: ModelConfig, base: Base, name: str, bf16: bool) -> Tower:
    weights = base.towers.get(name) or base.towers.get(SHARED)
    if weights is None:
        raise wants_one_tower(config)
    tower = Tower(base.config, config.pooling, config.dropout, config.frozen_layers, bf16=bf16)
    tensors = {key: torch.from_numpy(values) for key, values in weights.items()}
    try:
        found = tower.bert.load_state_dict(tensors, strict=False)
    except RuntimeError as problem:
        raise InputError(
            f"{config.base}: its weights are not those its config.json tells of ({problem})"
        ) from problem
    if found.missing_keys:
        raise InputError(
            f"{config.base}: the weights have no {found.missing_keys[0]!r}: this is not the BERT its config.json "
            "says. Check the folder"
        )
    return tower


def _put(head: torch.nn.Module, kept: Arrays, name: str, base: str) -> None:
    for part, value in head.named_parameters():
        found = kept.get(f"{name}.{part}")
        if found is None or found.shape != tuple(value.shape):
            has = "none" if found is None else str(found.shape)
            raise ConfigError(
                f"the head {name}.{part} of {base} has the shape {has}, and {tuple(value.shape)} is wanted. "
                "Set model.dimension to that of the base"
            )
        value.data.copy_(torch.from_numpy(found))
