"""A ResNet in the layout of Hugging Face as an ONNX graph."""

from __future__ import annotations

from typing import Any

import msgspec

from entlink.encoders.images.layers import PIXELS, LayerWriter, Weights

_EPSILON = 1e-5
_NARROWER = 4  # times: the middle of a bottleneck


class ResNetConfig(msgspec.Struct, frozen=True):
    """What config.json says of the shape of a ResNet."""

    embedding_size: int = 64
    hidden_sizes: tuple[int, ...] = (256, 512, 1024, 2048)
    depths: tuple[int, ...] = (3, 4, 6, 3)
    layer_type: str = "bottleneck"
    hidden_act: str = "relu"
    downsample_in_first_stage: bool = False
    downsample_in_bottleneck: bool = False
    num_channels: int = 3
    image_size: int = 224


def resnet_graph(weights: Weights, given: dict[str, Any]) -> bytes:
    """The network without its last layer, which names classes."""
    config = msgspec.convert(given, ResNetConfig)
    graph = LayerWriter(weights, ("resnet.", ""), "embedder.embedder.convolution.weight")
    hidden = _step(graph, PIXELS, "embedder.embedder", config, (config.embedding_size, config.num_channels), 7, 2)
    hidden = graph.node("MaxPool", [hidden], ["shrunk"], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    wide = config.embedding_size
    for stage, (high, depth) in enumerate(zip(config.hidden_sizes, config.depths, strict=True)):
        for number in range(depth):
            halves = number == 0 and (stage > 0 or config.downsample_in_first_stage)
            name = f"encoder.stages.{stage}.layers.{number}"
            hidden, wide = _layer(graph, hidden, name, config, wide, high, 2 if halves else 1), high
    graph.pooled_map(hidden, wide)
    return graph.finished("resnet", config.image_size, wide, wide)


def _layer(
    graph: LayerWriter, hidden: str, name: str, config: ResNetConfig, wide: int, high: int, stride: int
) -> str:
    came = hidden
    if wide != high or stride != 1:
        came = _step(graph, hidden, f"{name}.shortcut", config, (high, wide), 1, stride, active=False)
    if config.layer_type == "bottleneck":
        middle = high // _NARROWER
        first, second = (stride, 1) if config.downsample_in_bottleneck else (1, stride)
        hidden = _step(graph, hidden, f"{name}.layer.0", config, (middle, wide), 1, first)
        hidden = _step(graph, hidden, f"{name}.layer.1", config, (middle, middle), 3, second)
        hidden = _step(graph, hidden, f"{name}.layer.2", config, (high, middle), 1, 1, active=False)
    else:
        hidden = _step(graph, hidden, f"{name}.layer.0", config, (high, wide), 3, stride)
        hidden = _step(graph, hidden, f"{name}.layer.1", config, (high, high), 3, 1, active=False)
    return graph.activated(graph.node("Add", [hidden, came], [f"{name}.added"]), name, config.hidden_act)


def _step(
    graph: LayerWriter,
    hidden: str,
    name: str,
    config: ResNetConfig,
    channels: tuple[int, int],
    side: int,
    stride: int,
    *,
    active: bool = True,
) -> str:
    """A convolution with its batch norm."""
    weight = graph.weight(f"{name}.convolution.weight", *channels, side, side)
    kernel, bias = graph.normed_kernel(weight, f"{name}.normalization", _EPSILON)
    found = graph.convolved(hidden, name, kernel, bias, stride=stride, pad=side // 2)
    return graph.activated(found, name, config.hidden_act) if active else found
