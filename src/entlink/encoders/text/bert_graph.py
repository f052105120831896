"""A BERT as an ONNX graph, written straight from its weights without torch, in operators onnxruntime is quick with.

The inputs are `input_ids`, `attention_mask` and `token_type_ids`, of any number of rows and any length; the output is
`last_hidden_state`. In int8, the weights of the matrix products have a scale a channel and keep to seven bits, so
that sums do not overflow on processors without VNNI. The activations are quantised as they come, with a scale a
token: with one for the whole batch, as is usual, what a text is batched with would change its vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec
import numpy
from numpy.typing import NDArray

from entlink.encoders.graph_writer import GraphWriter, Value
from entlink.errors import InputError

Precision = Literal["fp32", "int8"]
Weights: TypeAlias = Mapping[str, NDArray[Any]]
_INT8_LIMIT, _REDUCED_LIMIT = 127, 63  # seven bits: what reduce_range means
_ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "relu")
_PREFIXES = ("", "bert.", "model.", "encoder.", "bert_model.", "0.auto_model.")


class BertConfig(msgspec.Struct, frozen=True):
    """What config.json says of the shape of a BERT."""

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    vocab_size: int
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    hidden_act: str = "gelu"
    layer_norm_eps: float = 1e-12
    position_embedding_type: str = "absolute"
    model_type: str = "bert"


def can_write(config: Mapping[str, Any]) -> bool:
    """Whether a config.json describes a model this module can write."""
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") in _ACTIVATIONS
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder", False)
    )


def bert_graph(weights: Weights, config: BertConfig, precision: Precision = "fp32") -> bytes:
    """The encoder of a BERT as an ONNX file; weights it needs and does not find are told by name."""
    graph = _Graph(_Checked(weights, finite=precision == "int8"), config, precision)
    graph.write()
    shape: list[str | int] = ["batch", "length"]
    inputs = [Value(name, shape, "int64") for name in ("input_ids", "attention_mask", "token_type_ids")]
    return graph.model("bert", inputs, [Value("last_hidden_state", [*shape, config.hidden_size])])


def quantised(matrix: NDArray[Any], limit: int, axis: int) -> tuple[NDArray[numpy.int8], NDArray[numpy.float32]]:
    """A matrix in whole numbers of at most `limit`, with the scale of each channel; `axis` is the one scaled over."""
    step = numpy.abs(matrix).max(axis=axis, keepdims=True).astype(numpy.float32) / limit
    # A channel of zeros, or of numbers too small to divide by, becomes zeros.
    scale = numpy.where(step > numpy.finfo(numpy.float32).tiny, step, 1).astype(numpy.float32)
    whole = numpy.clip(numpy.rint(matrix / scale), -limit, limit).astype(numpy.int8)
    return whole, scale.reshape(-1)


class _Checked:
    """Weights by their names in a plain BERT, whatever they begin with in the file, and with their shapes checked."""

    def __init__(self, weights: Weights, *, finite: bool) -> None:
        self._weights, self._finite = weights, finite
        first = "embeddings.word_embeddings.weight"
        self._prefix = next((prefix for prefix in _PREFIXES if prefix + first in weights), "")

    def __call__(self, name: str, *shape: int) -> NDArray[numpy.float32]:
        full = self._prefix + name
        if full not in self._weights:  # as checkpoints converted from TensorFlow have it
            full = full.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        if full not in self._weights:
            raise InputError(
                f"the weights have no {name!r}: this is not the BERT its config.json says. Check the folder"
            )
        found = numpy.asarray(self._weights[full], dtype=numpy.float32)
        if found.shape != shape:
            raise InputError(
                f"the weight {name!r} has the shape {found.shape}, and its config.json says {shape}. Check the folder"
            )
        if self._finite and not numpy.isfinite(found).all():  # no whole number stands for NaN
            raise InputError(f"the weight {name!r} has NaN or infinity in it: it is broken. Fetch the folder again")
        return found


class _Graph(GraphWriter):
    """Nodes and weights as they are put one after the other."""

    def __init__(self, weights: _Checked, config: BertConfig, precision: Precision) -> None:
        super().__init__()
        self._weights, self._config, self._precision = weights, config, precision

    def write(self) -> None:
        config = self._config
        for name in ("input_ids", "attention_mask", "token_type_ids"):
            self.node("Cast", [name], [f"{name}.32"], to=6)
        if self._precision == "int8":
            self._constants()
        hidden = self._embeddings()
        if not config.num_hidden_layers:
            self.node("Identity", [hidden], ["last_hidden_state"])
        for number in range(config.num_hidden_layers):
            last = number == config.num_hidden_layers - 1
            hidden = self._layer(
                f"encoder.layer.{number}", hidden, "last_hidden_state" if last else f"hidden.{number}"
            )

    def _layer(self, name: str, hidden: str, output: str) -> str:
        size, middle = self._config.hidden_size, self._config.intermediate_size
        attended = self._attention(f"{name}.attention", hidden)
        projected = self._product(f"{name}.attention.output.dense", attended, size, size)
        hidden = self._added_and_normed(f"{name}.attention.output", projected, hidden, f"{name}.attended")
        wide = self._product(f"{name}.intermediate.dense", hidden, size, middle)
        active = self._activated(f"{name}.intermediate.dense", wide, middle)
        narrow = self._product(f"{name}.output.dense", active, middle, size)
        return self._added_and_normed(f"{name}.output", narrow, hidden, output)

    def _embeddings(self) -> str:
        config, name = self._config, "embeddings"
        words = self._weights(f"{name}.word_embeddings.weight", config.vocab_size, config.hidden_size)
        places = self._weights(
            f"{name}.position_embeddings.weight", config.max_position_embeddings, config.hidden_size
        )
        kinds = self._weights(f"{name}.token_type_embeddings.weight", config.type_vocab_size, config.hidden_size)
        gamma, beta = self._norm(f"{name}.LayerNorm")
        if self._precision == "fp32":
            tables = [self.hold(f"{name}.{at}", table) for at, table in enumerate((words, kinds, places))]
            # The operator takes words, places, kinds in this order.
            inputs = ["input_ids.32", "token_type_ids.32", tables[0], tables[2], tables[1], gamma, beta]
            self.node("EmbedLayerNormalization", inputs, ["embedded", ""], fused=True, epsilon=config.layer_norm_eps)
            return "embedded"
        whole, scale = quantised(words, _INT8_LIMIT, 1)
        self.node("Gather", [self.hold("words", whole), "input_ids.32"], ["words.whole"])
        self.node("Cast", ["words.whole"], ["words.float"], to=1)
        self.node("Gather", [self.hold("words.scales", scale[:, None]), "input_ids.32"], ["words.scale"])
        self.node("Mul", ["words.float", "words.scale"], ["words.taken"])
        self.node("Shape", ["input_ids"], ["length"], start=1, end=2)
        self.node(
            "Slice",
            [self.hold("places", places), self.hold("zero", numpy.zeros(1, numpy.int64)), "length"],
            ["places.taken"],
        )
        self.node("Gather", [self.hold("kinds", kinds), "token_type_ids.32"], ["kinds.taken"])
        self.node("Add", ["kinds.taken", "places.taken"], ["placed"])
        inputs = ["words.taken", "placed", gamma, beta]
        self.node("SkipLayerNormalization", inputs, ["embedded"], fused=True, epsilon=config.layer_norm_eps)
        return "embedded"

    def _attention(self, name: str, hidden: str) -> str:
        size, heads = self._config.hidden_size, self._config.num_attention_heads
        parts = [f"{name}.self.{part}" for part in ("query", "key", "value")]
        matrix = numpy.concatenate([self._weights(f"{part}.weight", size, size).T for part in parts], axis=1)
        bias = self.hold(f"{name}.bias", numpy.concatenate([self._weights(f"{part}.bias", size) for part in parts]))
        mask, output = "attention_mask.32", f"{name}.out"
        if self._precision == "fp32":
            inputs = [hidden, self.hold(f"{name}.weight", matrix), bias, mask]
            self.node("Attention", inputs, [output], fused=True, num_heads=heads)
            return output
        thirds = [f"{name}.{part}" for part in ("query", "key", "value")]
        self.node("Split", [self._whole_product(name, hidden, matrix)], thirds, axis=-1)
        self.node("MultiHeadAttention", [*thirds, bias, mask], [output], fused=True, num_heads=heads)
        return output

    def _product(self, name: str, hidden: str, wide: int, high: int) -> str:
        matrix = self._weights(f"{name}.weight", high, wide).T
        if self._precision == "int8":
            return self._whole_product(name, hidden, matrix)
        output = f"{name}.product"
        self.node("MatMul", [hidden, self.hold(f"{name}.weight", matrix)], [output])
        return output

    def _whole_product(self, name: str, hidden: str, matrix: NDArray[numpy.float32]) -> str:
        """A product in whole numbers: tokens are rows, each with a scale of its own."""
        row, scale = f"{name}.row", f"{name}.row_scale"
        shape = self.hold(f"{name}.row_shape", numpy.array([-1, matrix.shape[0]], numpy.int64))
        self.node("Reshape", [hidden, shape], [row])
        self.node("Abs", [row], [f"{row}.absolute"])
        self.node("ReduceMax", [f"{row}.absolute"], [f"{row}.largest"], axes=[-1], keepdims=1)
        self.node("Mul", [f"{row}.largest", "step"], [f"{row}.step"])
        self.node("Max", [f"{row}.step", "tiny"], [scale])
        self.node("Reshape", [scale, "flat"], [f"{scale}.flat"])
        self.node("Shape", [f"{scale}.flat"], [f"{row}.count"])
        self.node("Expand", ["middle", f"{row}.count"], [f"{row}.middle"])
        self.node("QuantizeLinear", [row, f"{scale}.flat", f"{row}.middle"], [f"{row}.whole"], axis=0)
        whole, scales = quantised(matrix, _REDUCED_LIMIT, 0)
        weight, weight_scale = self.hold(f"{name}.weight", whole), self.hold(f"{name}.scale", scales)
        zeros = self.hold(f"{name}.zero", numpy.zeros(scales.size, numpy.int8))
        inputs = [f"{row}.whole", weight, "one", weight_scale, "centre", zeros]
        self.node("MatMulIntegerToFloat", inputs, [f"{name}.unscaled"], fused=True)
        self.node("Mul", [f"{name}.unscaled", scale], [f"{name}.scaled"])
        self.node("Reshape", [f"{name}.scaled", "batch_shape"], [f"{name}.product"])
        return f"{name}.product"

    def _constants(self) -> None:
        """What every product in whole numbers uses: unsigned bytes around 128, and the shape of the batch."""
        for name, value in (("one", 1), ("step", 1 / _INT8_LIMIT), ("tiny", 1e-9)):
            self.hold(name, numpy.asarray(value, numpy.float32))
        self.hold("flat", numpy.array([-1], numpy.int64))
        self.hold("middle", numpy.array([128], numpy.uint8))
        self.hold("centre", numpy.asarray(128, numpy.uint8))
        self.node("Shape", ["input_ids"], ["batch_and_length"])
        self.node("Concat", ["batch_and_length", "flat"], ["batch_shape"], axis=0)

    def _activated(self, name: str, wide: str, size: int) -> str:
        bias = self.hold(f"{name}.bias", self._weights(f"{name}.bias", size))
        output, kind = f"{name}.active", self._config.hidden_act
        if kind == "relu":
            self.node("Add", [wide, bias], [f"{name}.biased"])
            self.node("Relu", [f"{name}.biased"], [output])
        else:
            self.node("BiasGelu" if kind == "gelu" else "FastGelu", [wide, bias], [output], fused=True)
        return output

    def _added_and_normed(self, name: str, one: str, other: str, output: str) -> str:
        gamma, beta = self._norm(f"{name}.LayerNorm")
        bias = self.hold(f"{name}.bias", self._weights(f"{name}.dense.bias", self._config.hidden_size))
        inputs, epsilon = [one, other, gamma, beta, bias], self._config.layer_norm_eps
        self.node("SkipLayerNormalization", inputs, [output], fused=True, epsilon=epsilon)
        return output

    def _norm(self, name: str) -> tuple[str, str]:
        size = self._config.hidden_size
        gamma, beta = (self._weights(f"{name}.{part}", size) for part in ("weight", "bias"))
        return self.hold(f"{name}.gamma", gamma), self.hold(f"{name}.beta", beta)
