"""Two figures as SVG, after the paper's: the share that each filter removes, and mentions per entity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate
from math import log10
from pathlib import Path

from entlink.datasets.temporal.card import TemporalReport
from entlink.datasets.temporal.rows import CATEGORIES, SUBSETS
from entlink.datasets.temporal.sampling import Curve
from entlink.io.atomic import write_whole

FILTERS, MENTIONS = "filters.svg", "mentions-per-entity.svg"
_INK, _MUTED, _LINE = "#101419", "#5a6270", "#d5d9de"
# From light to dark, the later snapshots the darker: their order is seen without colour, too.
_FIRST, _LAST = (190, 224, 176), (10, 55, 92)
_WIDTH, _ROW, _NAMES = 760, 26, 190
_PANEL, _GAP, _SIDE, _TOP = 220, 26, 40, 56


def draw_figures(report: TemporalReport, folder: Path) -> None:
    """Write `filters.svg` and `mentions-per-entity.svg` into a folder."""
    write_whole(folder / FILTERS, _filters(report).encode())
    write_whole(folder / MENTIONS, _curves(report).encode())


def _filters(report: TemporalReport) -> str:
    """A row for each filter with a mark for each snapshot: the share of what reached it that it removed."""
    names = [step.name for step in report.additions[0].filters]
    shares: dict[str, list[tuple[str, float]]] = {name: [] for name in names}
    for addition in report.additions:
        for step in addition.filters:
            for number, date in enumerate(addition.snapshots):
                if step.before[number]:
                    shares[step.name].append((date, 1 - step.left[number] / step.before[number]))
    parts = [_text(0, 16, "Share of the mentions that reach a filter and are removed by it", _INK)]
    across = _WIDTH - _NAMES - 60
    bottom = 40 + _ROW * len(names)
    for tick in range(0, 11, 2):
        x = _NAMES + across * tick / 10
        parts += (_line(x, 30, x, bottom), _text(x, bottom + 16, f"{tick * 10} %", anchor="middle"))
    for row, name in enumerate(names):
        y = 48 + _ROW * row
        parts.append(_text(_NAMES - 12, y + 4, name, _INK, "end"))
        for date, share in sorted(shares[name]):
            place = report.snapshots.index(date)
            x, colour = _NAMES + across * share, _colour(place, len(report.snapshots))
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{colour}" fill-opacity="0.75">'
                f"<title>{escape(name)}, {escape(date)}: {share:.2%}</title></circle>"
            )
    parts += _legend(report, bottom + 44)
    return _svg("Share removed by each filter", bottom + 60, parts)


def _curves(report: TemporalReport) -> str:
    """For each category and subset, before and after: how many entities have at least so many mentions."""
    parts = [
        _text(0, 16, "Entities (across) by their mentions (up), before and after the snapshots are equalised", _INK)
    ]
    y = float(_TOP)
    for number, category in enumerate(CATEGORIES):
        for when in ("before", "after"):
            for place, subset in enumerate(SUBSETS):
                x = _SIDE + place * (_PANEL + _GAP)
                curves = [
                    (report.snapshots.index(addition.snapshots[curve.s]), _ranked(curve))
                    for addition in report.additions
                    for curve in getattr(addition, when)
                    if (curve.g, curve.u) == (number, place)
                ]
                parts.append(_text(x, y - 8, f"{category}, {subset}, {when}"))
                parts += _panel(x, y, curves, len(report.snapshots))
            y += _PANEL / 1.6 + 52
    parts += _legend(report, y)
    return _svg("Mentions per entity before and after the snapshots are equalised", round(y) + 16, parts)


def _ranked(curve: Curve) -> list[tuple[int, int]]:
    """The corners of the curve of entities by mentions, most first: place in the order, and mentions."""
    numbers = sorted(curve.entities, reverse=True)
    ends = list(accumulate(curve.entities[number] for number in numbers))
    starts = [1, *(end + 1 for end in ends[:-1])]
    return [
        corner
        for number, start, end in zip(numbers, starts, ends, strict=True)
        for corner in ((start, number), (end, number))
    ]


def _panel(x: float, y: float, curves: Sequence[tuple[int, list[tuple[int, int]]]], count: int) -> Iterator[str]:
    """A small plot; mentions go up by powers of ten."""
    height = _PANEL / 1.6
    yield _line(x, y + height, x + _PANEL, y + height)
    yield _line(x, y, x, y + height)
    widest = max((points[-1][0] for _, points in curves), default=0)
    highest = max((points[0][1] for _, points in curves), default=0)
    if not widest:
        yield _text(x + 8, y + height / 2, "none")
        return
    top = log10(highest) or 1.0
    yield _text(x - 4, y + 8, f"{highest:,}", anchor="end")
    yield _text(x - 4, y + height, "1", anchor="end")
    yield _text(x + _PANEL, y + height + 14, f"{widest:,}", anchor="end")
    for place, points in curves:
        drawn = " ".join(
            f"{x + _PANEL * rank / widest:.1f},{y + height * (1 - log10(number) / top):.1f}"
            for rank, number in points
        )
        yield (
            f'<polyline points="{drawn}" fill="none" stroke="{_colour(place, count)}" stroke-width="1.6" '
            'stroke-opacity="0.8"/>'
        )


def _legend(report: TemporalReport, y: float) -> Iterator[str]:
    """The first and the last snapshot, and the colours between."""
    count = len(report.snapshots)
    for place in range(count):
        x = _NAMES + 100 + place * 200 / max(1, count - 1)
        yield f'<circle cx="{x:.1f}" cy="{y - 4:.1f}" r="5" fill="{_colour(place, count)}"/>'
    yield _text(_NAMES + 86, y, report.snapshots[0][:10], anchor="end")
    yield _text(_NAMES + 314, y, report.snapshots[-1][:10])


def _colour(place: int, count: int) -> str:
    share = place / max(1, count - 1)
    mixed = (round(first + (last - first) * share) for first, last in zip(_FIRST, _LAST, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{_LINE}"/>'


def _text(x: float, y: float, text: str, colour: str = _MUTED, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(label: str, height: float, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 0 {_WIDTH + 8} {height:.0f}" role="img" '
        f'aria-label="{escape(label)}" font-family="sans-serif" font-size="12">\n{body}\n</svg>\n'
    )
