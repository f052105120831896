"""What every ONNX graph that entlink writes is made with: nodes, weights, and the file they become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy
from numpy.typing import NDArray

_FUSED = "com.microsoft"
_OPSET, _IR = 17, 8


class Value(NamedTuple):
    """An input or output of a graph; a side of its shape is a number, or a name where any will do."""

    name: str
    shape: Sequence[str | int]
    kind: Literal["float", "int64"] = "float"


class GraphWriter:
    """Nodes and weights as they are put one after the other."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._initialisers: list[Any] = []

    def hold(self, name: str, values: NDArray[Any]) -> str:
        """Keep a weight in the graph, and return its name."""
        from onnx import numpy_helper

        self._initialisers.append(numpy_helper.from_array(numpy.ascontiguousarray(values), name))
        return name

    def scalar(self, name: str, value: float, kind: type = numpy.float32) -> str:
        """Keep one number in the graph, and return its name."""
        from onnx import numpy_helper

        self._initialisers.append(numpy_helper.from_array(numpy.asarray(value, kind), name))
        return name

    def node(
        self, kind: str, inputs: Sequence[str], outputs: Sequence[str], *, fused: bool = False, **attributes: Any
    ) -> str:
        """Put a node after the others, and return its first output; `fused` is one of onnxruntime's own."""
        from onnx import helper

        domain = _FUSED if fused else ""
        self._nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **attributes))
        return outputs[0]

    def model(self, name: str, inputs: Sequence[Value], outputs: Sequence[Value]) -> bytes:
        """The graph as an ONNX file."""
        from onnx import helper

        graph = helper.make_graph(
            self._nodes, name, [_told(one) for one in inputs], [_told(one) for one in outputs], self._initialisers
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)],
            ir_version=_IR,
            producer_name="entlink",
        )
        return bytes(model.SerializeToString(deterministic=True))


def _told(value: Value) -> Any:
    from onnx import TensorProto, helper

    kinds = {"float": TensorProto.FLOAT, "int64": TensorProto.INT64}
    return helper.make_tensor_value_info(value.name, kinds[value.kind], list(value.shape))
