"""Something long in parts that a model can read at once."""

from __future__ import annotations

from typing import NamedTuple


class Window(NamedTuple):
    """A part of something long that is read at once, `first` to `last`, and in it the part that it decides on."""

    first: int
    last: int
    from_: int
    to: int


def windows(size: int, room: int, overlap: int) -> list[Window]:
    """Windows of `room` over `size` things, each sharing `overlap` with the next; of what two share each has half."""
    if not size:
        return []
    step = room - overlap
    starts = [0]
    while starts[-1] + room < size:
        starts.append(starts[-1] + step)
    found = []
    for number, first in enumerate(starts):
        last = min(size, first + room)
        from_ = first + overlap // 2 if number else 0
        to = first + step + overlap // 2 if number + 1 < len(starts) else size
        found.append(Window(first, last, from_, to))
    return found
