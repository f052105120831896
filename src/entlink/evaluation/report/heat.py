"""Heat maps as tables: cells coloured by their share, that can be read, copied, printed and scrolled."""

from __future__ import annotations

from entlink.evaluation.report.markup import Html, tag

_STEPS = 20
# From pale to dark, so that it can be told without seeing colours, and in print.
_RAMP = ((250, 244, 214), (190, 224, 176), (106, 190, 164), (38, 145, 155), (13, 98, 134), (10, 55, 92))
_WORSE, _AS_GOOD, _BETTER = (217, 119, 44), (255, 255, 255), (44, 123, 182)
_DARK = 0.21


def heat_class(share: float) -> str:
    """The class of a cell with this share."""
    return f"h{round(_STEPS * min(1.0, max(0.0, share)))}"


def heat_style() -> str:
    """The style of every class, with ink that can be read on it."""
    return "".join(
        f".h{step}{{background:#{red:02x}{green:02x}{blue:02x};color:{_ink(red, green, blue)}}}"
        for step in range(_STEPS + 1)
        for red, green, blue in (_colour(step / _STEPS),)
    )


def relative_class(share: float) -> str:
    """The class of a cell that is worse (down to -1), as good (0) or better (up to 1)."""
    return f"r{round(_STEPS * (1 + min(1.0, max(-1.0, share))) / 2)}"


def relative_style() -> str:
    """The style of the same: white in the middle."""
    return "".join(
        f".r{step}{{background:#{red:02x}{green:02x}{blue:02x};color:{_ink(red, green, blue)}}}"
        for step in range(_STEPS + 1)
        for red, green, blue in (_between(2 * step / _STEPS - 1),)
    )


def relative_key(worse: str, better: str) -> Html:
    """Its colours with both ends named."""
    boxes = [tag("i", class_=f"r{step}") for step in range(0, _STEPS + 1, 2)]
    ramp = tag("span", *boxes, class_="ramp", role="img", aria_label="orange to white to blue")
    return tag("p", f"{worse} ", ramp, f" {better}", class_="key")


def heat_key() -> Html:
    """The ramp with its ends named."""
    boxes = [tag("i", class_=f"h{step}") for step in range(0, _STEPS + 1, 2)]
    return tag(
        "p", "0 ", tag("span", *boxes, class_="ramp", role="img", aria_label="pale to dark"), " 1", class_="key"
    )


def _between(share: float) -> tuple[int, int, int]:
    end = _WORSE if share < 0 else _BETTER
    red, green, blue = (
        round(middle + (far - middle) * abs(share)) for middle, far in zip(_AS_GOOD, end, strict=True)
    )
    return red, green, blue


def _colour(share: float) -> tuple[int, int, int]:
    place = share * (len(_RAMP) - 1)
    low = min(int(place), len(_RAMP) - 2)
    ends = zip(_RAMP[low], _RAMP[low + 1], strict=True)
    red, green, blue = (round(start + (end - start) * (place - low)) for start, end in ends)
    return red, green, blue


def _ink(*colour: int) -> str:
    """Black or white, whichever stands out more: by the luminance of WCAG."""
    red, green, blue = (_linear(part / 255) for part in colour)
    return "#fff" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < _DARK else "#111"


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
