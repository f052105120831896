"""Shapes to draw with, as questions: is the point (x, y) inside? y grows downwards."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

Point = tuple[float, float]
Shape = Callable[[float, float], bool]


def disc(x: float, y: float, radius: float) -> Shape:
    """A filled circle."""
    return lambda px, py: (px - x) ** 2 + (py - y) ** 2 <= radius**2


def ring(x: float, y: float, radius: float, width: float) -> Shape:
    """A circle drawn with a line of a given width."""
    return lambda px, py: abs(math.hypot(px - x, py - y) - radius) <= width / 2


def tilted_ring(x: float, y: float, size: Point, hole: float, degrees: float) -> Shape:
    """An ellipse with an elliptic hole (a fraction of its size), turned by an angle."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))

    def inside(px: float, py: float) -> bool:
        across, along = (px - x) * cos + (py - y) * sin, (py - y) * cos - (px - x) * sin
        return hole**2 <= (across / size[0]) ** 2 + (along / size[1]) ** 2 <= 1

    return inside


def box(left: float, top: float, right: float, bottom: float) -> Shape:
    """A rectangle with upright sides."""
    return lambda px, py: left <= px <= right and top <= py <= bottom


def polygon(corners: Sequence[Point]) -> Shape:
    """A filled polygon, by the even-odd rule."""
    edges = list(zip(corners, [*corners[1:], corners[0]], strict=True))

    def inside(px: float, py: float) -> bool:
        crossings = 0
        for (x1, y1), (x2, y2) in edges:
            if (y1 > py) != (y2 > py) and px < x1 + (py - y1) * (x2 - x1) / (y2 - y1):
                crossings += 1
        return crossings % 2 == 1

    return inside


def stroke(points: Sequence[Point], width: float) -> Shape:
    """A line through points, with round ends and joints."""
    segments = list(pairwise(points))
    return lambda px, py: any(_distance(px, py, *segment) <= width / 2 for segment in segments)


def wave(start: Point, length: float, height: float, turns: float) -> list[Point]:
    """Points along a sine curve that runs to the right from `start`."""
    steps = 40
    return [
        (start[0] + length * step / steps, start[1] + height * math.sin(2 * math.pi * turns * step / steps))
        for step in range(steps + 1)
    ]


def both(one: Shape, other: Shape) -> Shape:
    """What two shapes have in common."""
    return lambda px, py: one(px, py) and other(px, py)


def _distance(px: float, py: float, start: Point, end: Point) -> float:
    along_x, along_y = end[0] - start[0], end[1] - start[1]
    squared = along_x**2 + along_y**2
    share = ((px - start[0]) * along_x + (py - start[1]) * along_y) / squared if squared else 0.0
    share = min(1.0, max(0.0, share))
    return math.hypot(px - start[0] - share * along_x, py - start[1] - share * along_y)
