"""A reliability plot: of the mentions that are said to be right with some probability, how many are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from entlink.evaluation.report.markup import Html, joined, tag
from entlink.learning.fit.calibration_scores import Bin, calibration_error

_SIDE, _LEFT, _TOP, _FOOT = 280, 52, 16, 76
_WIDTH, _HEIGHT = _LEFT + _SIDE + 20, _TOP + _SIDE + _FOOT
_LARGEST = 11.0  # radius of a dot that stands for all mentions
_SMALLEST = 2.5
_INK, _MUTED, _LINE = "#101419", "#5a6270", "#d5d9de"
_COLOURS = ("#d55e00", "#0072b2")
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


class Curve(NamedTuple):
    """A line of the plot."""

    name: str
    bins: Sequence[Bin]
    error: float
    colour: str


def reliability_plot(curves: Mapping[str, Sequence[Bin]]) -> bytes:
    """One or two curves by name, as an SVG file; a dot's area is the share of mentions that it stands for."""
    return _drawn(
        [
            Curve(name, bins, calibration_error(bins), colour)
            for (name, bins), colour in zip(curves.items(), _COLOURS, strict=False)
        ]
    )


def _drawn(curves: Sequence[Curve]) -> bytes:
    told = "; ".join(f"{curve.name}: ECE {curve.error:.3f}, {_read_out(curve.bins)}" for curve in curves)
    parts = [
        tag("title", "Reliability"),
        tag("desc", f"How many are right of those with a probability. {told}"),
        tag("rect", width=_WIDTH, height=_HEIGHT, fill="#ffffff"),
        *_frame(),
        *(part for curve in curves for part in _curve(curve)),
        *_legend(curves),
    ]
    drawing = tag(
        "svg",
        joined(parts),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width=_WIDTH,
        height=_HEIGHT,
        role="img",
        font_family="sans-serif",
        font_size=12,
    )
    return f"{drawing}\n".encode()


def _read_out(bins: Sequence[Bin]) -> str:
    return ", ".join(f"{one.right:.2f} at {one.probability:.2f}" for one in bins)


def _frame() -> Iterator[Html]:
    """The axes, and the diagonal on which a calibrated linker lies."""
    for tick in _TICKS:
        x, y = _at(tick, tick)
        yield _line(_LEFT, y, _LEFT + _SIDE, y, _LINE)
        yield _line(x, _TOP, x, _TOP + _SIDE, _LINE)
        yield _text(_LEFT - 6, y + 4, f"{tick:g}", "end")
        yield _text(x, _TOP + _SIDE + 16, f"{tick:g}", "middle")
    yield _line(*_at(0, 0), *_at(1, 1), _MUTED, dashes="4 4")
    yield _text(_LEFT + _SIDE / 2, _TOP + _SIDE + 34, "probability", "middle")
    middle = _TOP + _SIDE / 2
    yield tag("g", _text(0, 0, "right", "middle"), transform=f"translate(14 {middle:g}) rotate(-90)")


def _curve(curve: Curve) -> Iterator[Html]:
    places = [_at(one.probability, one.right) for one in curve.bins]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield tag("polyline", points=points, fill="none", stroke=curve.colour, stroke_width="1.5")
    for (x, y), one in zip(places, curve.bins, strict=True):
        radius = max(_SMALLEST, _LARGEST * one.share**0.5)
        yield tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{radius:.1f}", fill=curve.colour, fill_opacity="0.75")


def _legend(curves: Sequence[Curve]) -> Iterator[Html]:
    y = _TOP + _SIDE + 58
    for x, curve in zip((_LEFT, _LEFT + _SIDE / 2 - 6), curves, strict=False):
        yield tag("circle", cx=f"{x + 5:g}", cy=y - 4, r=5, fill=curve.colour)
        yield _text(x + 15, y, f"{curve.name}, ECE {curve.error:.3f}", "start", _INK)


def _at(probability: float, right: float) -> tuple[float, float]:
    return _LEFT + _SIDE * probability, _TOP + _SIDE * (1 - right)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, dashes: str | None = None) -> Html:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    return tag("line", **ends, stroke=colour, stroke_dasharray=dashes)


def _text(x: float, y: float, text: str, anchor: str, colour: str = _MUTED) -> Html:
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, fill=colour)
