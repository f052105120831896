"""The arguments of a template or a picture: what stands between bars."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

_SIGNS = re.compile(r"\[\[|\]\]|\|")


def split_arguments(inside: str) -> list[str]:
    """The arguments between bars, where a bar in a [[link]] divides nothing."""
    if "[[" not in inside:
        return inside.split("|")
    arguments, start, depth = [], 0, 0
    for sign in _SIGNS.finditer(inside):
        if sign[0] == "[[":
            depth += 1
        elif sign[0] == "]]":
            depth = max(0, depth - 1)
        elif depth == 0:
            arguments.append(inside[start : sign.start()])
            start = sign.end()
    arguments.append(inside[start:])
    return arguments


class Arguments(Sequence[str]):
    """Arguments that are split only when asked for: most templates are dropped unread."""

    def __init__(self, inside: str | None) -> None:
        self._inside = inside

    @cached_property
    def _arguments(self) -> list[str]:
        return [] if self._inside is None else split_arguments(self._inside)

    def __len__(self) -> int:
        return len(self._arguments)

    def __iter__(self) -> Iterator[str]:
        return iter(self._arguments)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self._arguments[place]

    def __repr__(self) -> str:
        return f"Arguments({self._arguments!r})"
