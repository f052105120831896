"""The first half of a graph of ours: what its words are like before they are summed up to a text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_LAYER = re.compile(r"hidden\.(\d+)")


class Cut(NamedTuple):
    """A graph, and the name of its output."""

    graph: bytes
    output: str


def cut_after_middle(model: Path | bytes) -> Cut | None:
    """The graph up to its middle layer; None where its layers are not named as `bert_graph` names them."""
    import onnx

    loaded = onnx.load_model_from_string(model) if isinstance(model, bytes) else onnx.load(str(model))
    graph = loaded.graph
    places = {match[0]: place for place, node in enumerate(graph.node) if (match := _LAYER.fullmatch(node.output[0]))}
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
