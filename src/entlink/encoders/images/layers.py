"""The layers that encoders of pictures are made of, as nodes of a graph, with weights whose shapes are checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy
from numpy.typing import NDArray

from entlink.encoders.graph_writer import GraphWriter, Value
from entlink.errors import InputError

Weights: TypeAlias = Mapping[str, NDArray[Any]]
PIXELS, POOLED, GRID, TEXT = "pixels", "pooled", "grid", "text"
CHANNELS = 3
_ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "quick_gelu", "relu")


class LayerWriter(GraphWriter):
    """A graph of layers; each method puts one behind `hidden`, and returns the name of what comes out."""

    def __init__(self, weights: Weights, prefixes: Sequence[str], first: str) -> None:
        super().__init__()
        self._weights = weights
        self._bounds: list[str] = []
        self._prefix = next((prefix for prefix in prefixes if prefix + first in weights), "")

    def weight(self, name: str, *shape: int) -> NDArray[numpy.float32]:
        """A weight by its name, with the shape that it must have."""
        full = self._prefix + name
        if full not in self._weights:
            raise InputError(f"the weights have no {full!r}: this is not the model its config.json says. Check it")
        found = numpy.asarray(self._weights[full], dtype=numpy.float32)
        if found.shape != shape:
            raise InputError(
                f"the weight {full!r} has the shape {found.shape}, and its config.json says {shape}. Check the folder"
            )
        return found

    def has(self, name: str) -> bool:
        return self._prefix + name in self._weights

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a weight, where nothing else says it; () of one that is not there."""
        found = self._weights.get(self._prefix + name)
        return () if found is None else tuple(found.shape)

    def convolved(
        self,
        hidden: str,
        name: str,
        kernel: NDArray[numpy.float32],
        bias: NDArray[numpy.float32] | None = None,
        *,
        stride: int = 1,
        groups: int = 1,
        same: bool = False,
        pad: int = 0,
    ) -> str:
        """A convolution; `same` pads as TensorFlow does, at the end where one side has to have more."""
        inputs = [hidden, self.hold(f"{name}.kernel", kernel)]
        if bias is not None:
            inputs.append(self.hold(f"{name}.shift", bias))
        padding: dict[str, Any] = {"auto_pad": "SAME_UPPER"} if same else {"pads": [pad] * 4}
        return self.node("Conv", inputs, [name], strides=[stride] * 2, group=groups, **padding)

    def normed_kernel(
        self, kernel: NDArray[numpy.float32], norm: str, epsilon: float
    ) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32]]:
        """A kernel with the batch norm behind it folded into it, and the bias this gives."""
        width = kernel.shape[0]
        gamma, beta, mean, variance = (
            self.weight(f"{norm}.{part}", width) for part in ("weight", "bias", "running_mean", "running_var")
        )
        scale = gamma / numpy.sqrt(variance + epsilon)
        return kernel * scale[:, None, None, None], beta - mean * scale

    def projected(self, hidden: str, name: str, wide: int, high: int) -> str:
        """A linear layer, with a bias if the weights have one."""
        matrix = self.hold(f"{name}.matrix", self.weight(f"{name}.weight", high, wide).T)
        product = self.node("MatMul", [hidden, matrix], [f"{name}.product"])
        if not self.has(f"{name}.bias"):
            return product
        return self.node("Add", [product, self.hold(f"{name}.shift", self.weight(f"{name}.bias", high))], [name])

    def layer_normed(self, hidden: str, name: str, size: int, epsilon: float) -> str:
        gamma, beta = (
            self.hold(f"{name}.{part}", self.weight(f"{name}.{part}", size)) for part in ("weight", "bias")
        )
        return self.node("LayerNormalization", [hidden, gamma, beta], [name], axis=-1, epsilon=epsilon)

    def attended(
        self,
        hidden: str,
        name: str,
        parts: Sequence[str],
        output: str,
        size: int,
        heads: int,
        *,
        causal: bool = False,
    ) -> str:
        """Self-attention; `parts` are the names of query, key and value, `output` of the projection behind it."""
        matrix = numpy.concatenate([self.weight(f"{part}.weight", size, size).T for part in parts], axis=1)
        bias = numpy.concatenate(
            [
                self.weight(f"{part}.bias", size) if self.has(f"{part}.bias") else numpy.zeros(size, numpy.float32)
                for part in parts
            ]
        )
        inputs = [hidden, self.hold(f"{name}.weights", matrix), self.hold(f"{name}.shifts", bias)]
        found = self.node(
            "Attention", inputs, [f"{name}.attended"], fused=True, num_heads=heads, unidirectional=int(causal)
        )
        return self.projected(found, output, size, size)

    def activated(self, hidden: str, name: str, kind: str) -> str:
        if kind not in _ACTIVATIONS:
            raise InputError(f"config.json: entlink knows no activation {kind!r}. Known: {', '.join(_ACTIVATIONS)}")
        if kind == "quick_gelu":
            return self.node("QuickGelu", [hidden], [f"{name}.active"], fused=True, alpha=1.702)
        if kind == "relu":
            return self.node("Relu", [hidden], [f"{name}.active"])
        return self.node("Gelu" if kind == "gelu" else "FastGelu", [hidden], [f"{name}.active"], fused=True)

    def relu6(self, hidden: str) -> str:
        """Nothing below 0 or above 6."""
        if not self._bounds:
            self._bounds = [self.scalar(f"bound.{value}", value) for value in (0, 6)]
        return self.node("Clip", [hidden, *self._bounds], [f"{hidden}.active"])

    def pooled_map(self, features: str, width: int) -> None:
        """The two outputs of a network of convolutions: the mean over its map, and the map as a row a cell."""
        mean = self.node("GlobalAveragePool", [features], ["mean"])
        self.node("Flatten", [mean], [POOLED], axis=1)
        shape = self.hold("flat", numpy.array([0, width, -1], numpy.int64))
        flat = self.node("Reshape", [features, shape], ["flattened"])
        self.node("Transpose", [flat], [GRID], perm=[0, 2, 1])

    def finished(self, name: str, size: int, pooled: int, grid: int) -> bytes:
        """The file of an encoder that takes pixels and gives one vector, and one for each cell of its map."""
        outputs = [Value(POOLED, ["batch", pooled]), Value(GRID, ["batch", "cells", grid])]
        return self.model(name, [Value(PIXELS, ["batch", CHANNELS, size, size])], outputs)


class EncoderLayer(NamedTuple):
    """The names of the parts of one layer of a transformer that norms before each part."""

    name: str
    first: str
    second: str
    parts: Sequence[str]
    output: str
    up: str
    down: str

    @classmethod
    def of(cls, name: str, parts: Sequence[str], **others: str) -> EncoderLayer:
        """All of them begin with the name of the layer."""
        return cls(
            name, parts=[f"{name}.{one}" for one in parts], **{key: f"{name}.{one}" for key, one in others.items()}
        )


def encoder_layer(
    graph: LayerWriter,
    hidden: str,
    layer: EncoderLayer,
    *,
    size: int,
    middle: int,
    heads: int,
    epsilon: float,
    activation: str,
    causal: bool = False,
) -> str:
    """One layer of a transformer: attention and two linear layers, each normed before and added to what came in."""
    normed = graph.layer_normed(hidden, layer.first, size, epsilon)
    found = graph.attended(normed, layer.name, layer.parts, layer.output, size, heads, causal=causal)
    hidden = graph.node("Add", [hidden, found], [f"{layer.name}.half"])
    normed = graph.layer_normed(hidden, layer.second, size, epsilon)
    wide = graph.activated(graph.projected(normed, layer.up, size, middle), layer.up, activation)
    return graph.node("Add", [hidden, graph.projected(wide, layer.down, middle, size)], [f"{layer.name}.whole"])


def patches_with_class(
    graph: LayerWriter,
    kernel: NDArray[numpy.float32],
    bias: NDArray[numpy.float32] | None,
    first: NDArray[numpy.float32],
    places: NDArray[numpy.float32],
    size: int,
) -> str:
    """Patches as rows behind one learnt row, each with its place added: what a transformer of pictures reads."""
    patch = kernel.shape[-1]
    rows = graph.convolved(PIXELS, "patches", kernel, bias, stride=patch)
    rows = graph.node("Reshape", [rows, graph.hold("flat", numpy.array([0, size, -1], numpy.int64))], ["patch.rows"])
    rows = graph.node("Transpose", [rows], ["patch.tokens"], perm=[0, 2, 1])
    batch = graph.node("Shape", [PIXELS], ["batch.size"], start=0, end=1)
    shape = graph.node(
        "Concat", [batch, graph.hold("one.row", numpy.array([1, size], numpy.int64))], ["first.shape"], axis=0
    )
    first_row = graph.node("Expand", [graph.hold("first", first.reshape(1, 1, size)), shape], ["first.rows"])
    tokens = graph.node("Concat", [first_row, rows], ["tokens"], axis=1)
    return graph.node("Add", [tokens, graph.hold("places", places)], ["placed"])


def first_row(graph: LayerWriter, hidden: str, output: str) -> str:
    """The row of the whole picture, before those of its patches."""
    return graph.node("Gather", [hidden, graph.scalar(f"{output}.zero", 0, numpy.int64)], [output], axis=1)


def other_rows(graph: LayerWriter, hidden: str) -> str:
    """The rows of the patches, as the grid."""
    bounds = [
        graph.hold(f"grid.{name}", numpy.array([value], numpy.int64))
        for name, value in (("start", 1), ("end", 2**31 - 1), ("axis", 1))
    ]
    return graph.node("Slice", [hidden, *bounds], [GRID])
