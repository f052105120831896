"""Plots as SVG that stands in a page: narrow enough for a phone, coloured by the page's style, the same each time."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from math import ceil, floor
from typing import TYPE_CHECKING, Any, NamedTuple

from entlink.errors import MissingExtraError
from entlink.evaluation.intervals.resampling import Interval
from entlink.evaluation.report.markup import Html, readable, tag

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 360  # of a phone, in CSS pixels; the page scales it
_ROW, _FONT, _SIDE, _FOOT = 36, 12, 14, 22
# Okabe and Ito's colours, which people with any kind of colour vision can tell apart; the style has them by number.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#101418")
_INK, _MUTED, _LINE = "#101419", "#5a6270", "#d5d9de"
_OF_STYLE = {
    **{colour: f"var(--c{number})" for number, colour in enumerate(PALETTE, 1)},
    _INK: "var(--ink)",
    _MUTED: "var(--muted)",
    _LINE: "var(--line)",
}
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": _FONT,
    "text.color": _INK,
    "axes.edgecolor": _LINE,
    "axes.linewidth": 1.0,
    "axes.labelcolor": _MUTED,
    "xtick.color": _MUTED,
    "ytick.color": _MUTED,
    "grid.color": _LINE,
    "grid.linewidth": 0.8,
}


class Bar(NamedTuple):
    """A row of a plot: its name, what is said of it at the right, and the point with its interval."""

    name: str
    said: str
    value: float
    interval: Interval | None = None


class Stack(NamedTuple):
    """A row of a stacked plot: a length for each colour, by its number."""

    name: str
    said: str
    lengths: dict[int, float]


class Line(NamedTuple):
    """A line of a plot: a value at each place, None where there is none."""

    name: str
    values: list[float | None]


def interval_plot(name: str, label: str, bars: Sequence[Bar], *, around_zero: bool = False) -> Html:
    """Dots with their intervals, a row each."""

    def draw(axes: Axes) -> None:
        low, high = _range(bars, around_zero=around_zero)
        axes.set_xlim(low, high)
        if around_zero:
            axes.axvline(0, color=_MUTED, linewidth=1)
        for place, bar in enumerate(bars):
            if bar.interval is not None:
                axes.plot([bar.interval.low, bar.interval.high], [place, place], color=PALETTE[0], linewidth=2.5)
            axes.plot([bar.value], [place], "o", color=PALETTE[0], markersize=6.5, clip_on=False)
        _write_rows(axes, bars)

    return _rows(name, label, len(bars), draw)


def stacked_plot(name: str, label: str, stacks: Sequence[Stack]) -> Html:
    """Bars made of parts, a row each."""

    def draw(axes: Axes) -> None:
        axes.set_xlim(0, max(0.01, *(sum(stack.lengths.values()) for stack in stacks)) * 1.02)
        for place, stack in enumerate(stacks):
            start = 0.0
            for colour, length in stack.lengths.items():
                axes.barh(place, length, left=start, height=0.36, color=PALETTE[colour])
                start += length
        _write_rows(axes, stacks)

    return _rows(name, label, len(stacks), draw)


def line_plot(name: str, label: str, places: Sequence[str], lines: Sequence[Line]) -> Html:
    """Lines over places, each with a colour, a mark and, where colours come again, other dashes."""
    known = [value for line in lines for value in line.values if value is not None]
    height, legend = 190, 8 + round(16.4 * len(lines))

    def draw(figure: Figure) -> None:
        whole = height + legend + _FOOT + 10
        axes = figure.add_axes((40 / WIDTH, (legend + _FOOT) / whole, 1 - 56 / WIDTH, height / whole))
        axes.set_ylim(*_padded(min(known, default=0.0), max(known, default=1.0)))
        axes.set_xlim(-0.3, len(places) - 0.7)
        axes.set_xticks(range(len(places)), places)
        for number, line in enumerate(lines):
            shown = [(place, value) for place, value in enumerate(line.values) if value is not None]
            axes.plot(*zip(*shown, strict=True), label=readable(line.name), **_look(number), clip_on=False)
        _tidy(axes)
        figure.legend(loc="lower left", bbox_to_anchor=(0, 0), frameon=False, fontsize=_FONT, labelspacing=0.25)

    return _svg(name, label, height + legend + _FOOT + 10, draw)


def _look(number: int) -> dict[str, Any]:
    marks, dashes = "osD^vPXd", ("-", "--", ":", "-.")
    return {
        "color": PALETTE[number % len(PALETTE)],
        "marker": marks[number % len(marks)],
        "markersize": 5,
        "linestyle": dashes[number // len(PALETTE) % len(dashes)],
        "linewidth": 1.8,
    }


def _rows(name: str, label: str, count: int, draw: Callable[[Axes], None]) -> Html:
    """A plot of rows from the top; a row's words stand above what is drawn of it."""
    height = _ROW * count + _FOOT

    def draw_all(figure: Figure) -> None:
        share = _ROW * count / height
        axes = figure.add_axes((_SIDE / WIDTH, 1 - share, 1 - 2 * _SIDE / WIDTH, share))
        axes.set_ylim(count - 0.75, -0.75)
        axes.set_yticks([])
        draw(axes)
        _tidy(axes, "x")

    return _svg(name, label, height, draw_all)


def _write_rows(axes: Axes, rows: Sequence[Bar | Stack]) -> None:
    """Each row's name at the left and its number at the right, above the row."""
    for place, row in enumerate(rows):
        across = axes.get_yaxis_transform()
        axes.text(0, place - 0.27, readable(row.name), transform=across, va="bottom", ha="left")
        axes.text(1, place - 0.27, row.said, transform=across, va="bottom", ha="right", color=_MUTED)


def _tidy(axes: Axes, axis: str = "y") -> None:
    for side in ("top", "right", "left", *(("bottom",) if axis == "x" else ())):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0)
    axes.grid(axis=axis)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    axes.patch.set_visible(False)
    axes.locator_params(axis=axis, nbins=6, steps=[1, 2, 5, 10])  # type: ignore[arg-type]


def _range(bars: Sequence[Bar], *, around_zero: bool) -> tuple[float, float]:
    ends = [end for bar in bars for end in (bar.interval and (bar.interval.low, bar.interval.high)) or (bar.value,)]
    if around_zero:
        low, high = min(0.0, *ends), max(0.0, *ends)
        room = max(0.01, 0.08 * (high - low))
        return low - room, high + room
    return _padded(min(ends), max(ends))


def _padded(low: float, high: float) -> tuple[float, float]:
    """Round ends a little beyond the values, a tenth apart at least, within 0 and 1."""
    low, high = floor((low - 0.01) * 20) / 20, ceil((high + 0.01) * 20) / 20
    if high - low < 0.1:
        low -= 0.05
    return max(0.0, low), min(1.0, high)


def _svg(name: str, label: str, height: int, draw: Callable[[Figure], None]) -> Html:
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("the report's plots", "eval") from None
    out = io.StringIO()
    with rc_context({**_SETTINGS, "svg.hashsalt": name}), warnings.catch_warnings():
        # The font at hand is only measured with; a sign that it lacks is drawn by the reader's own.
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*missing.*")
        figure = Figure((WIDTH / 72, height / 72))
        figure.patch.set_visible(False)
        draw(figure)
        figure.savefig(out, format="svg", metadata={"Date": None})
    return tag("svg", _cleaned(out.getvalue(), name), viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=label)


def _cleaned(svg: str, name: str) -> Html:
    """What is inside of the svg element, without what a page does not need: half of it, and all addresses."""
    body = svg[svg.index("</defs>") + len("</defs>") : svg.rindex("</svg>")]
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', body))
    body = re.sub(r"<[^>]+>", lambda match: _cleaned_tag(match[0], name, used), body)
    return Html(re.sub(r"\n\s*|<g/>", "", body))


def _cleaned_tag(written: str, name: str, used: set[str]) -> str:
    written = re.sub(r"\s+", " ", written).replace("xlink:href", "href")
    written = re.sub(r' id="([^"]+)"', lambda match: f' id="{name}-{match[1]}"' if match[1] in used else "", written)
    written = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", written)
    written = re.sub(r"font-family: [^;\"]+;? ?| transform=\"rotate\(-?0 [^)]+\)\"", "", written)
    written = re.sub(r"(\d\.\d)\d+", r"\1", written)
    return re.sub("#[0-9a-f]{6}", lambda match: _OF_STYLE.get(match[0], match[0]), written)
