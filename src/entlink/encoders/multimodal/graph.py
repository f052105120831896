"""The encoders of a multimodal model as ONNX graphs, written from their weights without torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy

from entlink.encoders.graph_writer import Value
from entlink.encoders.images.layers import LayerWriter

if TYPE_CHECKING:
    from entlink.encoders.images.layers import Weights
    from entlink.encoders.multimodal.settings import MultimodalSettings

VECTORS = "vectors"
_EPSILON, _WIDER = 1e-5, 4
_UNSEEN = -1e9


class SideNames(NamedTuple):
    """The inputs of one side of a graph."""

    states: str
    mask: str
    first: str
    last: str
    cells: str
    has_text: str
    has_picture: str

    @classmethod
    def of(cls, side: str) -> SideNames:
        return cls(*(f"{side}.{field}" for field in cls._fields))

    def values(self, wide: int, cells: int, picture: int, length: str) -> list[Value]:
        """What the graph is given for this side."""
        return [
            Value(self.states, ["rows", length, wide]),
            Value(self.mask, ["rows", length]),
            Value(self.first, ["rows"], "int64"),
            Value(self.last, ["rows"], "int64"),
            Value(self.cells, ["rows", cells, picture]),
            Value(self.has_text, ["rows"]),
            Value(self.has_picture, ["rows"]),
        ]


def side_graph(weights: Weights, settings: MultimodalSettings, side: str) -> bytes:
    """The encoder of one side: texts and pictures to vectors."""
    graph = _Writer(weights, settings)
    names = SideNames.of(side)
    text, picture = graph.entry("entry", names, settings.side_width(side))  # type: ignore[arg-type]
    parts = [graph.unit("fused.unit", graph.fused(text, picture, names))]
    if settings.shortcuts:
        parts.append(graph.shortcuts("short", names, settings.side_width(side)))  # type: ignore[arg-type]
    graph.node("Concat", parts, [VECTORS], axis=1)
    wide = settings.side_width(side)  # type: ignore[arg-type]
    inputs = names.values(wide, settings.cells, settings.picture_width, "length")
    return graph.model(side, inputs, [Value(VECTORS, ["rows", settings.vector_width])])


def together_graph(weights: Weights, settings: MultimodalSettings) -> bytes:
    """The encoder of pairs: the mention of a row is read with the entity of that row."""
    graph = _Writer(weights, settings)
    mention, entity = SideNames.of("mention"), SideNames.of("entity")
    first = graph.entry("entries.mention", mention, settings.text_width)
    second = graph.entry("entries.entity", entity, settings.entity_width)
    masks = [mention.mask, graph.ones("mention.whole", first[1]), entity.mask, graph.ones("entity.whole", second[1])]
    states = graph.node("Concat", [*first, *second], ["all"], axis=1)
    mask = graph.node("Concat", masks, ["all.mask"], axis=1)
    states = graph.layers("both", settings.own_layers + settings.layers, states, mask)
    states = graph.normed(states, "norm")
    text, rest = graph.begin_of("mention.read", states, mention.mask)
    cells = graph.hold("cells.count", numpy.array([settings.cells], numpy.int64))
    start = graph.node("Add", [rest, cells], ["entity.start"])
    after = graph.sliced("entity.read", states, start, graph.hold("far", numpy.array([2**31], numpy.int64)))
    pooled = [graph.pooled("poolings.mention", text, mention), graph.pooled("poolings.entity", after, entity)]
    mixed = graph.linear(graph.node("Concat", pooled, ["pooled.both"], axis=1), "mix", 2 * settings.width)
    parts = [graph.unit("pair.unit", mixed)]
    if settings.shortcuts:
        sides = (("mention", mention, settings.text_width), ("entity", entity, settings.entity_width))
        short = [graph.shortcuts(f"shorts.{side}", names, wide) for side, names, wide in sides]
        parts.append(graph.node("Mul", short, ["short.product"]))
    graph.node("Concat", parts, [VECTORS], axis=1)
    inputs = [
        *mention.values(settings.text_width, settings.cells, settings.picture_width, "mention_length"),
        *entity.values(settings.entity_width, settings.cells, settings.picture_width, "entity_length"),
    ]
    return graph.model("pair", inputs, [Value(VECTORS, ["rows", settings.vector_width])])


class _Writer(LayerWriter):
    """The layers of `learning.multimodal.network`, as nodes."""

    def __init__(self, weights: Weights, settings: MultimodalSettings) -> None:
        super().__init__(weights, ("",), "norm.weight")
        self._settings, self._width = settings, settings.width
        self._kept: dict[str, str] = {}

    def entry(self, name: str, names: SideNames, wide: int) -> tuple[str, str]:
        """The states and cells of a side as rows of one width, absent ones replaced."""
        settings, d = self._settings, self._width
        kinds, absent = self.weight(f"{name}.kinds", 2, d), self.weight(f"{name}.absent", 2, d)
        places = self.weight(f"{name}.places", settings.cells, d)
        found = []
        for at, (part, given, has, side) in enumerate(
            (
                ("text", names.states, names.has_text, wide),
                ("picture", names.cells, names.has_picture, settings.picture_width),
            )
        ):
            normed = self.normed(self.linear(given, f"{name}.{part}", side), f"{name}.{part}_norm")
            shift = kinds[at] if part == "text" else places + kinds[at]
            placed = self.node("Add", [normed, self.hold(f"{name}.{part}.kind", shift)], [f"{name}.{part}.placed"])
            found.append(self.chosen(f"{name}.{part}", placed, absent[at], has, [1, 2]))
        return found[0], found[1]

    def chosen(self, name: str, rows: str, absent: numpy.ndarray, has: str, axes: list[int]) -> str:
        """The rows where `has` is 1, and the absent row where it is 0."""
        wide = self.node("Unsqueeze", [has, self.hold(f"{name}.axes", numpy.array(axes))], [f"{name}.has"])
        lack = self.node("Sub", [self.constant("one", 1.0), wide], [f"{name}.lack"])
        filled = self.node("Mul", [lack, self.hold(f"{name}.absent", absent)], [f"{name}.filled"])
        kept = self.node("Mul", [rows, wide], [f"{name}.kept"])
        return self.node("Add", [kept, filled], [f"{name}.chosen"])

    def fused(self, text: str, picture: str, names: SideNames) -> str:
        settings = self._settings
        own, count, fusion = settings.own_layers, settings.layers, settings.fusion
        whole = self.ones("whole", picture)
        if fusion == "single-stream":
            text = self._stream(text, picture, names.mask, whole, own + count)
        elif fusion == "separate-first":
            text = self.layers("own_text", own, text, names.mask)
            picture = self.layers("own_picture", own, picture, whole)
            text = self._stream(text, picture, names.mask, whole, count)
        elif fusion == "cross-attention":
            text = self.layers("own_text", own, text, names.mask)
            picture = self.layers("own_picture", own, picture, whole)
            for number in range(count):
                text, picture = self._cross(f"cross.{number}", text, picture, names.mask, whole)
        elif fusion == "modality-attention":
            text = self.layers("own_text", own + count, text, names.mask)
        pooled = self.pooled("pooling", self.normed(text, "norm"), names)
        return self._simply(pooled, picture) if fusion in ("modality-attention", "concatenation") else pooled

    def _stream(self, text: str, picture: str, mask: str, whole: str, count: int) -> str:
        both = self.node("Concat", [text, picture], ["stream"], axis=1)
        masks = self.node("Concat", [mask, whole], ["stream.mask"], axis=1)
        return self.begin_of("stream.text", self.layers("both", count, both, masks), mask)[0]

    def _simply(self, words: str, picture: str) -> str:
        d = self._width
        seen = self.node("ReduceMean", [picture], ["seen"], axes=[1], keepdims=0)
        both = self.node("Concat", [words, seen], ["simply.both"], axis=1)
        if self._settings.fusion == "concatenation":
            active = self.activated(self.linear(both, "mix", 2 * d), "mix", "gelu")
            return self.linear(active, "mixed", d)
        gate = self.node("Softmax", [self.linear(both, "gate", 2 * d, 2)], ["gates"], axis=1)
        self.node("Split", [gate], ["gate.words", "gate.seen"], axis=1)
        parts = [
            self.node("Mul", [f"gate.{one}", rows], [f"gated.{one}"])
            for one, rows in (("words", words), ("seen", seen))
        ]
        return self.node("Add", parts, ["gated"])

    def _cross(self, name: str, text: str, picture: str, mask: str, whole: str) -> tuple[str, str]:
        words, cells = self.normed(text, f"{name}.text_norm"), self.normed(picture, f"{name}.picture_norm")
        looked = self.attention(f"{name}.to_picture", words, cells, whole)
        text = self.node("Add", [text, looked], [f"{name}.text.crossed"])
        looked = self.attention(f"{name}.to_text", cells, words, mask)
        picture = self.node("Add", [picture, looked], [f"{name}.picture.crossed"])
        return self.layer(f"{name}.text", text, mask), self.layer(f"{name}.picture", picture, whole)

    def layers(self, name: str, count: int, states: str, mask: str) -> str:
        for number in range(count):
            states = self.layer(f"{name}.{number}", states, mask)
        return states

    def layer(self, name: str, states: str, mask: str) -> str:
        d = self._width
        normed = self.normed(states, f"{name}.before")
        states = self.node(
            "Add", [states, self.attention(f"{name}.attention", normed, normed, mask)], [f"{name}.looked"]
        )
        wide = self.linear(self.normed(states, f"{name}.between"), f"{name}.up", d, _WIDER * d)
        active = self.activated(wide, name, "gelu")
        return self.node("Add", [states, self.linear(active, f"{name}.down", _WIDER * d, d)], [f"{name}.done"])

    def attention(self, name: str, states: str, others: str, mask: str) -> str:
        """Each state looks at others where their mask is 1."""
        d, heads = self._width, self._settings.heads
        split = self.hold(f"{name}.split", numpy.array([0, -1, heads, d // heads], numpy.int64))
        parts = {}
        for part, rows in (("query", states), ("key", others), ("value", others)):
            shaped = self.node("Reshape", [self.linear(rows, f"{name}.{part}", d), split], [f"{name}.{part}.split"])
            turned = [0, 2, 3, 1] if part == "key" else [0, 2, 1, 3]
            parts[part] = self.node("Transpose", [shaped], [f"{name}.{part}.turned"], perm=turned)
        product = self.node("MatMul", [parts["query"], parts["key"]], [f"{name}.product"])
        scaled = self.node(
            "Mul", [product, self.constant("head.scale", float((d // heads) ** -0.5))], [f"{name}.scaled"]
        )
        seen = self.node("Add", [scaled, self._unseen(mask)], [f"{name}.seen"])
        shares = self.node("Softmax", [seen], [f"{name}.shares"], axis=-1)
        found = self.node("MatMul", [shares, parts["value"]], [f"{name}.found"])
        back = self.node("Transpose", [found], [f"{name}.back"], perm=[0, 2, 1, 3])
        flat = self.hold(f"{name}.flat", numpy.array([0, -1, d], numpy.int64))
        return self.linear(self.node("Reshape", [back, flat], [f"{name}.joined"]), f"{name}.out", d)

    def _unseen(self, mask: str) -> str:
        """What is added to the products of a mask: nothing where it is 1, very little chance where it is 0."""
        name = f"{mask}.unseen"
        if name not in self._kept:
            lack = self.node("Sub", [self.constant("one", 1.0), mask], [f"{mask}.lacking"])
            little = self.node("Mul", [lack, self.constant("unseen", _UNSEEN)], [f"{mask}.little"])
            axes = self.hold(f"{mask}.axes", numpy.array([1, 2]))
            self._kept[name] = self.node("Unsqueeze", [little, axes], [name])
        return self._kept[name]

    def shortcuts(self, name: str, names: SideNames, wide: int) -> str:
        """The mean text and the mean cell, each by a layer of its own."""
        absent = self.weight(f"{name}.absent", 2, self._width)
        means = (
            ("text", self._mean_text(name, names), wide, names.has_text),
            ("picture", self._mean_cell(name, names), self._settings.picture_width, names.has_picture),
        )
        found = []
        for at, (part, mean, side, has) in enumerate(means):
            rows = self.unit(f"{name}.{part}.unit", self.linear(mean, f"{name}.{part}", side))
            found.append(self.chosen(f"{name}.{part}", rows, absent[at], has, [1]))
        return self.node("Concat", found, [f"{name}.rows"], axis=1)

    def _mean_text(self, name: str, names: SideNames) -> str:
        axes, row, last = (
            self.hold(f"{name}.{one}", numpy.array([at])) for one, at in (("axes", 2), ("row", 1), ("last", 1))
        )
        mask = self.node("Unsqueeze", [names.mask, axes], [f"{name}.mask"])
        kept = self.node("Mul", [names.states, mask], [f"{name}.kept"])
        summed = self.node("ReduceSum", [kept, row], [f"{name}.sum"], keepdims=0)
        count = self.node("ReduceSum", [names.mask, last], [f"{name}.count"], keepdims=1)
        return self.node("Div", [summed, count], [f"{name}.mean"])

    def _mean_cell(self, name: str, names: SideNames) -> str:
        return self.node("ReduceMean", [names.cells], [f"{name}.cell"], axes=[1], keepdims=0)

    def pooled(self, name: str, text: str, names: SideNames) -> str:
        """The states of the name to one row."""
        kind, d = self._settings.pooling, self._width
        if kind == "average":
            found = self._average(name, text, names)
        else:
            found = self._row(f"{name}.first", text, names.first)
            if kind == "first-last":
                before = self.node("Sub", [names.last, self._whole("one.whole", 1)], [f"{name}.last"])
                both = [found, self._row(f"{name}.final", text, before)]
                found = self.node("Concat", both, [f"{name}.both"], axis=1)
        wide = self.linear(found, f"{name}.wide", 2 * d if kind == "first-last" else d, d)
        return self.linear(self.activated(wide, f"{name}.wide", "gelu"), f"{name}.narrow", d)

    def _row(self, name: str, text: str, places: str) -> str:
        axes = self.hold(f"{name}.axes", numpy.array([1]))
        return self.node(
            "GatherND", [text, self.node("Unsqueeze", [places, axes], [f"{name}.at"])], [name], batch_dims=1
        )

    def _average(self, name: str, text: str, names: SideNames) -> str:
        length = self.node("Shape", [text], [f"{name}.length"], start=1, end=2)
        scalar = self.node("Squeeze", [length], [f"{name}.length.scalar"])
        steps = [self._whole("zero.whole", 0), scalar, self._whole("one.whole", 1)]
        place = self.node("Range", steps, [f"{name}.places"])
        axes = self.hold(f"{name}.axes", numpy.array([1]))
        first, last = (
            self.node("Unsqueeze", [one, axes], [f"{name}.{end}.wide"])
            for end, one in (("first", names.first), ("last", names.last))
        )
        inside = [
            self.node("GreaterOrEqual", [place, first], [f"{name}.after"]),
            self.node("Less", [place, last], [f"{name}.before"]),
        ]
        taken = self.node("Cast", [self.node("And", inside, [f"{name}.inside"])], [f"{name}.taken"], to=1)
        count = self.node("ReduceSum", [taken, axes], [f"{name}.count"], keepdims=1)
        share = self.node("Div", [taken, count], [f"{name}.share"])
        row = self.node(
            "MatMul", [self.node("Unsqueeze", [share, axes], [f"{name}.share.row"]), text], [f"{name}.sum"]
        )
        return self.node("Squeeze", [row, axes], [f"{name}.mean"])

    def unit(self, name: str, rows: str) -> str:
        """Rows whose numbers are 1 in the mean of their squares."""
        length = self.node("ReduceL2", [rows], [f"{name}.length"], axes=[-1], keepdims=1)
        least = self.node("Max", [length, self.constant("least", 1e-6)], [f"{name}.least"])
        shorter = self.node("Div", [rows, least], [f"{name}.short"])
        return self.node("Mul", [shorter, self.constant("root", float(self._width**0.5))], [name])

    def linear(self, rows: str, name: str, wide: int, high: int | None = None) -> str:
        return self.projected(rows, name, wide, self._width if high is None else high)

    def normed(self, rows: str, name: str) -> str:
        return self.layer_normed(rows, name, self._width, _EPSILON)

    def ones(self, name: str, rows: str) -> str:
        """A mask of ones for rows [n, s, d]."""
        shape = self.node("Shape", [rows], [f"{name}.shape"], start=0, end=2)
        from onnx import helper

        return self.node("ConstantOfShape", [shape], [name], value=helper.make_tensor("value", 1, [1], [1.0]))

    def begin_of(self, name: str, states: str, mask: str) -> tuple[str, str]:
        """As many of the first states as a mask is long, and that number."""
        length = self.node("Shape", [mask], [f"{name}.length"], start=1, end=2)
        return self.sliced(name, states, self.hold(f"{name}.zero", numpy.array([0], numpy.int64)), length), length

    def sliced(self, name: str, states: str, start: str, end: str) -> str:
        axes = self.hold(f"{name}.axes", numpy.array([1], numpy.int64))
        return self.node("Slice", [states, start, end, axes], [name])

    def constant(self, name: str, value: float) -> str:
        if name not in self._kept:
            self._kept[name] = self.scalar(name, value)
        return self._kept[name]

    def _whole(self, name: str, value: int) -> str:
        if name not in self._kept:
            self._kept[name] = self.scalar(name, value, numpy.int64)
        return self._kept[name]
