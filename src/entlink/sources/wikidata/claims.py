"""The claims of an item: of each property the values of best rank, as ids of entities or ISO dates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

PREFERRED, NORMAL = "preferred", "normal"
PICTURE, FREEBASE = "P18", "P646"  # of texts only these are taken
_TEXTS = frozenset({PICTURE, FREEBASE})
_LETTERS = {"item": "Q", "property": "P", "lexeme": "L"}
_DAY, _MONTH, _YEAR, _DECADE = 11, 10, 9, 8  # how precise a time is stated; more is of the clock


class Value(msgspec.Struct, gc=False):
    """Those fields of a value that are used; others are passed over unread."""

    id: str = ""
    kind: str = msgspec.field(default="", name="entity-type")
    number: int | None = msgspec.field(default=None, name="numeric-id")
    time: str = ""
    precision: float | None = None


class DataValue(msgspec.Struct, gc=False):
    """A value, of whatever type: a picture is plain text."""

    value: Value | str | int | float | bool | list[Any] | None = None


class Snak(msgspec.Struct, gc=False):
    """What a claim states: nothing where it is known to have no value, or an unknown one."""

    datavalue: DataValue | None = None


class Statement(msgspec.Struct, gc=False):
    """A claim with its rank; references and qualifiers are passed over."""

    mainsnak: Snak = msgspec.field(default_factory=Snak)
    rank: str = NORMAL


def best_values(
    claims: Mapping[str, list[Statement]],
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """The entities and times by property, then the texts of those properties of which texts are taken."""
    found: dict[str, tuple[str, ...]] = {}
    texts: dict[str, tuple[str, ...]] = {}
    for property, statements in claims.items():
        if property in _TEXTS:
            texts[property] = tuple(value for value in _best(statements) if type(value) is str)
            continue
        values = [text for value in _best(statements) if type(value) is Value and (text := _text(value))]
        if values:
            found[property] = tuple(values) if len(values) == 1 else tuple(dict.fromkeys(values))
    return found, texts


def _best(statements: list[Statement]) -> Iterable[object]:
    """The values of the preferred claims if there is one, even one of no value, else of the normal ones."""
    rank = NORMAL
    for statement in statements:
        if statement.rank == PREFERRED:
            rank = PREFERRED
            break
    for statement in statements:
        if statement.rank == rank and (stated := statement.mainsnak.datavalue) is not None:
            yield stated.value


def _text(value: Value) -> str:
    if value.id:
        return value.id
    if value.number is not None:  # dumps before 2017 give the number alone
        return f"{_LETTERS.get(value.kind, '')}{value.number}"
    return iso_date(value.time, value.precision) if value.time else ""


def iso_date(time: str, precision: float | None) -> str:
    """A time such as `+1952-03-11T00:00:00Z` as ISO 8601 has it, as precise as stated; empty if vaguer than a decade.

    A decade is `195X`; those before Christ are left out. Wikidata counts the year 1 before Christ as -1, ISO 8601
    as 0.
    """
    sign, date = time[:1], time[1:].partition("T")[0]
    year, _, rest = date.partition("-")
    month, _, day = rest.partition("-")
    if precision is None or precision < _DECADE or not year.isdecimal() or int(year) > 9999 or sign not in ("+", "-"):
        return ""
    number = int(year) if sign == "+" else 1 - int(year)
    written = f"{number:04}" if number >= 0 else f"-{-number:04}"
    if precision == _DECADE:
        return f"{written[:-1]}X" if number > 0 else ""
    if precision >= _MONTH and month.isdecimal() and month != "00":
        written += f"-{month}"
        if precision >= _DAY and day.isdecimal() and day != "00":
            written += f"-{day}"
    return written
