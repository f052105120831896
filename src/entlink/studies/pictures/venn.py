"""A drawing of three circles with counts: which mentions are right with the text, the picture, or both."""

from __future__ import annotations

from collections.abc import Mapping

from entlink.evaluation.report.markup import Html, tag

_WIDTH, _HEIGHT, _RADIUS = 360, 300, 88
_CIRCLES = {"T": (134, 108), "V": (226, 108), "T+V": (180, 188)}
_COLOURS = {"T": "var(--c1)", "V": "var(--c2)", "T+V": "var(--c3)"}
_NAMES = {"T": (60, 22), "V": (300, 22), "T+V": (180, 294)}
_PLACES = {
    "T": (96, 90),
    "V": (264, 90),
    "T+V": (180, 238),
    "T & V": (180, 78),
    "T & T+V": (128, 168),
    "V & T+V": (232, 168),
    "T & V & T+V": (180, 134),
}


def venn(regions: Mapping[str, int], mentions: int) -> Html:
    """The circles with the share of mentions in each region; circles have one size, whatever they count."""
    told = "; ".join(f"right with {region} only: {count}" for region, count in regions.items())
    circles = (
        tag("circle", cx=x, cy=y, r=_RADIUS, style=f"fill:{_COLOURS[name]};fill-opacity:.16;stroke:{_COLOURS[name]}")
        for name, (x, y) in _CIRCLES.items()
    )
    shares = (
        _text(x, y, f"{100 * regions.get(region, 0) / max(1, mentions):.1f}", size=14)
        for region, (x, y) in _PLACES.items()
    )
    names = (_text(*_NAMES[name], f"{name} {_total(regions, name, mentions)}", size=12) for name in _CIRCLES)
    return tag("svg", *circles, *shares, *names, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=told)


def _total(regions: Mapping[str, int], name: str, mentions: int) -> str:
    count = sum(value for region, value in regions.items() if name in region.split(" & "))
    return f"{100 * count / max(1, mentions):.1f} %"


def _text(x: int, y: int, words: str, *, size: int) -> Html:
    return tag("text", words, x=x, y=y, text_anchor="middle", style=f"font-size:{size}px;fill:var(--ink)")
