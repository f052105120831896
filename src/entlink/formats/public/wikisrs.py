"""WikiSRS: pairs of Wikipedia entities with how similar or related people find them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from entlink.documents import Record
from entlink.errors import InputError, SourceError
from entlink.io.inputs import Input, OnProblem, failing, input_lines, input_name, open_input
from entlink.io.ledger import OnError
from entlink.io.lines import decoded as decoded_text
from entlink.text.spans import Place

COLUMNS = ("Term1", "Term2", "String1", "String2", "Mean", "StdDev", "RawScores")
_ratings_decoder = msgspec.json.Decoder(tuple[float, ...])


class EntityPair(Record, frozen=True):
    """Two entities: their ids and names, the mean of the ratings (0 to 100) and its deviation."""

    first: str
    second: str
    first_name: str
    second_name: str
    score: float
    deviation: float
    ratings: tuple[float, ...] = ()


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[EntityPair]:
    """The pairs of a tab-separated file, `WikiSRS_similarity.csv` or `WikiSRS_relatedness.csv`."""
    name, fail = input_name(source), failing(on_error, on_problem)
    with open_input(source) as file:
        for number, line in input_lines(file, name, fail):
            place = Place(name, number)
            try:
                cells = _cells(line, place)
                pair = None if number == 1 and cells == list(COLUMNS) else _pair(cells, place)
            except InputError as error:
                fail(error)
                continue
            if pair is not None:
                yield pair


def _cells(line: bytes, place: Place) -> list[str]:
    cells = decoded_text(line, Path(place.file), place.line).rstrip("\r\n").split("\t")
    if len(cells) != len(COLUMNS):
        problem = f"the line has {len(cells)} columns between tabs, not {len(COLUMNS)}"
        raise place.error(problem, f"The columns are {', '.join(COLUMNS)}")
    return cells


def _pair(cells: list[str], place: Place) -> EntityPair:
    first, second, first_name, second_name, mean, deviation, ratings = cells
    score, spread = _number(mean, "Mean", place), _number(deviation, "StdDev", place)
    return EntityPair(first, second, first_name, second_name, score, spread, _ratings(ratings, place))


def _number(cell: str, column: str, place: Place) -> float:
    try:
        return float(cell)
    except ValueError as error:
        raise _bad_cell(cell, column, "a number", place) from error


def _ratings(cell: str, place: Place) -> tuple[float, ...]:
    try:
        return _ratings_decoder.decode(cell)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _bad_cell(cell, "RawScores", "a list of numbers such as [97, 100]", place) from error


def _bad_cell(cell: str, column: str, expected: str, place: Place) -> SourceError:
    return place.error(f"column {column} holds {cell!r}, not {expected}", "Check that the columns are in order")
