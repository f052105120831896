"""CLIP in the layout of Hugging Face as two ONNX graphs: one reads pictures, one reads texts, into one space."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy

from entlink.encoders.graph_writer import Value
from entlink.encoders.images.layers import (
    POOLED,
    TEXT,
    EncoderLayer,
    LayerWriter,
    Weights,
    encoder_layer,
    first_row,
    other_rows,
    patches_with_class,
)
from entlink.errors import InputError

_OLD_END = 2  # what old files say of the sign that ends a text, whose id is in truth the largest


class Tower(msgspec.Struct, frozen=True):
    """What config.json says of the shape of one of the two."""

    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = "quick_gelu"
    layer_norm_eps: float = 1e-5
    image_size: int = 224
    patch_size: int = 32
    num_channels: int = 3
    vocab_size: int = 49408
    max_position_embeddings: int = 77
    eos_token_id: int = 49407


class TextTower(Tower, frozen=True):
    """The defaults of a text tower, which are others."""

    hidden_size: int = 512
    num_attention_heads: int = 8
    intermediate_size: int = 2048


def clip_picture_graph(weights: Weights, config: dict[str, Any]) -> bytes:
    """The tower of pictures, its vectors in the space of both, its grid in its own."""
    tower = msgspec.convert(config.get("vision_config") or {}, Tower)
    space, size = int(config.get("projection_dim", 512)), tower.hidden_size
    graph = LayerWriter(weights, ("",), "visual_projection.weight")
    name, cells = "vision_model", (tower.image_size // tower.patch_size) ** 2
    hidden = patches_with_class(
        graph,
        graph.weight(
            f"{name}.embeddings.patch_embedding.weight", size, tower.num_channels, tower.patch_size, tower.patch_size
        ),
        None,
        graph.weight(f"{name}.embeddings.class_embedding", size),
        graph.weight(f"{name}.embeddings.position_embedding.weight", cells + 1, size),
        size,
    )
    hidden = graph.layer_normed(hidden, f"{name}.pre_layrnorm", size, tower.layer_norm_eps)
    hidden = _layers(graph, hidden, name, tower)
    other_rows(graph, hidden)
    first = first_row(graph, hidden, "whole")
    first = graph.layer_normed(first, f"{name}.post_layernorm", size, tower.layer_norm_eps)
    matrix = graph.hold("to.space", graph.weight("visual_projection.weight", space, size).T)
    graph.node("MatMul", [first, matrix], [POOLED])
    return graph.finished("clip", tower.image_size, space, size)


def clip_text_graph(weights: Weights, config: dict[str, Any]) -> bytes:
    """The tower of texts: `input_ids` of any length, and `end`, the place of the sign that ends each text."""
    tower = msgspec.convert(config.get("text_config") or {}, TextTower)
    space, size = int(config.get("projection_dim", 512)), tower.hidden_size
    graph = LayerWriter(weights, ("",), "text_projection.weight")
    name = "text_model"
    words = graph.weight(f"{name}.embeddings.token_embedding.weight", tower.vocab_size, size)
    places = graph.weight(f"{name}.embeddings.position_embedding.weight", tower.max_position_embeddings, size)
    taken = graph.node("Gather", [graph.hold("words", words), "input_ids"], ["words.taken"])
    length = graph.node("Shape", ["input_ids"], ["length"], start=1, end=2)
    zero = graph.hold("zero", numpy.zeros(1, numpy.int64))
    placed = graph.node("Slice", [graph.hold("places", places), zero, length], ["places.taken"])
    hidden = _layers(graph, graph.node("Add", [taken, placed], ["embedded"]), name, tower, causal=True)
    hidden = graph.layer_normed(hidden, f"{name}.final_layer_norm", size, tower.layer_norm_eps)
    at_end = graph.node("GatherND", [hidden, "end"], ["at.end"], batch_dims=1)
    matrix = graph.hold("to.space", graph.weight("text_projection.weight", space, size).T)
    graph.node("MatMul", [at_end, matrix], [TEXT])
    inputs = [Value("input_ids", ["batch", "length"], "int64"), Value("end", ["batch", 1], "int64")]
    return graph.model("clip-text", inputs, [Value(TEXT, ["batch", space])])


def text_limits(config: dict[str, Any], scale: float | None) -> dict[str, Any]:
    """What reading texts needs to know beside the graph: the longest text, its last sign, and the scale of scores."""
    tower = msgspec.convert(config.get("text_config") or {}, TextTower)
    end = tower.eos_token_id if tower.eos_token_id != _OLD_END else tower.vocab_size - 1
    if not 0 <= end < tower.vocab_size:
        raise InputError(f"config.json: the sign {end} that ends a text is not among {tower.vocab_size} signs")
    return {"length": tower.max_position_embeddings, "end": end, "scale": float(numpy.exp(scale or 0.0))}


def _layers(graph: LayerWriter, hidden: str, name: str, tower: Tower, *, causal: bool = False) -> str:
    for number in range(tower.num_hidden_layers):
        layer = EncoderLayer.of(
            f"{name}.encoder.layers.{number}",
            first="layer_norm1",
            second="layer_norm2",
            parts=[f"self_attn.{part}_proj" for part in "qkv"],
            output="self_attn.out_proj",
            up="mlp.fc1",
            down="mlp.fc2",
        )
        hidden = encoder_layer(
            graph,
            hidden,
            layer,
            size=tower.hidden_size,
            middle=tower.intermediate_size,
            heads=tower.num_attention_heads,
            epsilon=tower.layer_norm_eps,
            activation=tower.hidden_act,
            causal=causal,
        )
    return hidden
