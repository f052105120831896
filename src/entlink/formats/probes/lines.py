"""Lines of tab-separated cells, each with its place for messages; a bad one does not spoil the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from entlink.errors import InputError
from entlink.io.inputs import Input, OnProblem, failing, input_lines, input_name, open_input
from entlink.io.ledger import OnError
from entlink.io.lines import decoded
from entlink.text.spans import Place

Made = TypeVar("Made")


def read_cells(
    source: Input,
    make: Callable[[list[str], Place], Made],
    *,
    on_error: OnError = "stop",
    on_problem: OnProblem | None = None,
) -> Iterator[Made]:
    """What `make` makes of the cells of each line that is not blank."""
    name, fail = input_name(source), failing(on_error, on_problem)
    with open_input(source) as file:
        for number, line in input_lines(file, name, fail):
            place = Place(name, number)
            try:
                made = make(cells_of(line, place), place)
            except InputError as error:
                fail(error)
            else:
                yield made


def cells_of(line: bytes, place: Place) -> list[str]:
    """The cells of a line of UTF-8, without the end of the line."""
    return decoded(line, Path(place.file), place.line).rstrip("\r\n").split("\t")


def check_columns(cells: list[str], expected: str, place: Place) -> None:
    """Raises where there are not as many cells as `expected` names, separated by blanks."""
    wanted = len(expected.split())
    if len(cells) != wanted:
        raise place.error(
            f"the line has {len(cells)} columns between tabs, not {wanted}", f"The columns are: {expected}"
        )
