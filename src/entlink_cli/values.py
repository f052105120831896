"""Values of options: text to what a command works with; a wrong one is a usage error."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError

_MEMORY = re.compile(r"\d+(\.\d+)?\s*([KMGT]i?B)", re.IGNORECASE)
_SPAN = re.compile(r"(\d+):(\d+)")


def whole(value: str) -> int:
    """A whole number from 1 on."""
    if not value.isascii() or not value.isdigit() or int(value) < 1:
        raise ArgumentTypeError(f"{value!r} is not a whole number from 1 on")
    return int(value)


def weight(value: str) -> int:
    """A whole number from 0 on."""
    if not value.isascii() or not value.isdigit():
        raise ArgumentTypeError(f"{value!r} is not a whole number from 0 on")
    return int(value)


def any_whole(value: str) -> int:
    """Any whole number."""
    try:
        return int(value)
    except ValueError:
        raise ArgumentTypeError(f"{value!r} is not a whole number") from None


def positive(value: str) -> float:
    """A number above 0."""
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise ArgumentTypeError(f"{value!r} is not a number above 0")
    return number


def share(value: str) -> float:
    """A number from 0 to 1."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise ArgumentTypeError(f"{value!r} is not a number from 0 to 1")
    return number


def level(value: str) -> float:
    """A number between 0 and 1, neither of them."""
    number = share(value)
    if not 0.0 < number < 1.0:
        raise ArgumentTypeError(f"{value!r} is not a number between 0 and 1, such as 0.95")
    return number


def memory(value: str) -> str:
    """An amount of memory, such as 2GB."""
    if not _MEMORY.fullmatch(value):
        raise ArgumentTypeError(f"{value!r} is not an amount of memory such as 512MB or 2GB")
    return value


def text(value: str) -> str:
    """Text that can be stored and compared; a shell may hand over bytes that are none."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ArgumentTypeError(f"{value!r} is not valid UTF-8") from None
    return value


def date(value: str) -> str:
    """An ISO date: a year, a month, a day, or a time of it."""
    from entlink.errors import FieldError
    from entlink.text.dates import moment

    try:
        moment(value)
    except FieldError:
        raise ArgumentTypeError(f"{value!r} is not an ISO date such as 2020-05-01") from None
    return value


def date_or_document(value: str) -> str:
    """The same, or the word document."""
    return value if value == "document" else date(value)


def span(value: str) -> tuple[int, int]:
    """START:END in characters."""
    match = _SPAN.fullmatch(value)
    if match is None:
        raise ArgumentTypeError(f"{value!r} is not a span such as 4:9")
    return int(match[1]), int(match[2])


def pair(value: str) -> tuple[str, str]:
    """NAME=VALUE, neither of them empty."""
    name, equals, rest = text(value).partition("=")
    if not (name and equals and rest):
        raise ArgumentTypeError(f"{value!r} is not of the form NAME=VALUE")
    return name, rest


def column_pairs(value: str) -> dict[str, str]:
    """FIELD=COLUMN,…; an empty column means that the field is not to be read."""
    columns: dict[str, str] = {}
    for part in text(value).split(","):
        field, equals, column = part.partition("=")
        if not field.strip() or not equals:
            raise ArgumentTypeError(f"{part!r} is not of the form FIELD=COLUMN, such as id=sku,title=name")
        columns[field.strip()] = column.strip()
    return columns
