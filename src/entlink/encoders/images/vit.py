"""A vision transformer in the layout of Hugging Face as an ONNX graph."""

from __future__ import annotations

from typing import Any

import msgspec

from entlink.encoders.images.layers import (
    POOLED,
    EncoderLayer,
    LayerWriter,
    Weights,
    encoder_layer,
    first_row,
    other_rows,
    patches_with_class,
)


class ViTConfig(msgspec.Struct, frozen=True):
    """What config.json says of the shape of a vision transformer."""

    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = "gelu"
    layer_norm_eps: float = 1e-12
    image_size: int = 224
    patch_size: int = 16
    num_channels: int = 3


def vit_graph(weights: Weights, given: dict[str, Any]) -> bytes:
    """The encoder: its first row is the picture's, the others are the grid."""
    config = msgspec.convert(given, ViTConfig)
    size, cells = config.hidden_size, (config.image_size // config.patch_size) ** 2
    graph = LayerWriter(weights, ("vit.", ""), "embeddings.cls_token")
    name = "embeddings.patch_embeddings.projection"
    hidden = patches_with_class(
        graph,
        graph.weight(f"{name}.weight", size, config.num_channels, config.patch_size, config.patch_size),
        graph.weight(f"{name}.bias", size),
        graph.weight("embeddings.cls_token", 1, 1, size),
        graph.weight("embeddings.position_embeddings", 1, cells + 1, size),
        size,
    )
    for number in range(config.num_hidden_layers):
        hidden = encoder_layer(
            graph,
            hidden,
            EncoderLayer.of(
                f"encoder.layer.{number}",
                first="layernorm_before",
                second="layernorm_after",
                parts=[f"attention.attention.{part}" for part in ("query", "key", "value")],
                output="attention.output.dense",
                up="intermediate.dense",
                down="output.dense",
            ),
            size=size,
            middle=config.intermediate_size,
            heads=config.num_attention_heads,
            epsilon=config.layer_norm_eps,
            activation=config.hidden_act,
        )
    hidden = graph.layer_normed(hidden, "layernorm", size, config.layer_norm_eps)
    first_row(graph, hidden, POOLED)
    other_rows(graph, hidden)
    return graph.finished("vit", config.image_size, size, size)
