"""Other outputs of a graph of ours: its first half, what its words are like before they are a text, or all layers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

_LAYER = re.compile(r"hidden\.(\d+)")


class Cut(NamedTuple):
    """A graph, and the name of its output."""

    graph: bytes
    output: str


class Layers(NamedTuple):
    """A graph with every layer among its outputs, and their names: the embedding first, the last layer last."""

    graph: bytes
    outputs: list[str]


def with_all_layers(model: Path | bytes) -> Layers | None:
    """The graph that gives all of its layers; None where they are not named as `bert_graph` names them."""
    from onnx import TensorProto, helper

    loaded = _loaded(model)
    graph = loaded.graph
    made = {name for node in graph.node for name in node.output}
    last = graph.output[0].name
    inner = sorted((name for name in made if _LAYER.fullmatch(name)), key=lambda name: int(name.rpartition(".")[2]))
    names = ["embedded", *inner, last]
    if last != "last_hidden_state" or not made.issuperset(names):
        return None
    width = graph.output[0].type.tensor_type.shape.dim[2].dim_value
    shape = ["batch", "length", width]
    del graph.output[:]
    graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in names)
    return Layers(loaded.SerializeToString(), names)


def _loaded(model: Path | bytes) -> Any:
    import onnx

    return onnx.load_model_from_string(model) if isinstance(model, bytes) else onnx.load(str(model))


def _layer_places(graph: Any) -> dict[str, int]:
    return {match[0]: place for place, node in enumerate(graph.node) if (match := _LAYER.fullmatch(node.output[0]))}


def cut_after_middle(model: Path | bytes) -> Cut | None:
    """The graph up to its middle layer; None where its layers are not named as `bert_graph` names them."""
    loaded = _loaded(model)
    graph = loaded.graph
    places = _layer_places(graph)
    layers = len(places) + 1
    output = f"hidden.{layers // 2 - 1}"
    if output not in places:
        return None
    last = graph.output[0]
    last.name = output
    del graph.output[1:]
    del graph.node[places[output] + 1 :]
    needed = {name for node in graph.node for name in node.input}
    kept = [one for one in graph.initializer if one.name in needed]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    return Cut(loaded.SerializeToString(), output)
