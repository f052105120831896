"""Values of a record's cells turned into the fields of an entity, or refused with the reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeVar

import msgspec

from entlink.errors import SourceError

MAX_FIELD = 50_000_000

Value = TypeVar("Value")

_TIME = r"[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?"
_DATE = re.compile(rf"\d{{4}}(?:-\d\d(?:-\d\d(?:{_TIME})?)?)?", re.ASCII)
_REST_OF_DATE = {len("YYYY"): "-01-01", len("YYYY-MM"): "-01"}
_DATE_FORMS = "Dates are written YYYY, YYYY-MM or YYYY-MM-DD, with a time if need be"
_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
    bytes: "bytes",
    type(None): "empty",
}


class FieldError(ValueError):
    """A value that cannot become a field; who knows the record adds its file and position."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.problem, self.hint = problem, hint

    def of(self, kind: str, name: str) -> FieldError:
        """The same with the name of what holds the value: a `column`, or a `field`."""
        return FieldError(f"{kind} {name!r} {self.problem}", self.hint)

    def at(self, file: object, position: str) -> SourceError:
        return SourceError(self.problem, str(file), position, self.hint)


def converted(field: str, convert: Callable[[object], Value], value: object) -> Value:
    """The value as `convert` makes it; an error names the field."""
    try:
        return convert(value)
    except FieldError as error:
        raise error.of("field", field) from None


def _kind(value: object) -> str:
    return _KINDS.get(type(value), f"of the type {type(value).__name__}")


def _wrong(value: object, expected: str) -> FieldError:
    return FieldError(f"is {_kind(value)} where {expected} is expected")


def as_id(value: object) -> str:
    """An identifier: text, or a whole number."""
    if type(value) is str:
        if value and not value.isspace():
            return value
    elif type(value) is int:
        return str(value)
    elif value is not None:
        raise _wrong(value, "text or a whole number")
    raise FieldError("is empty", "Every record needs an id")


def as_title(value: object) -> str:
    """The name of the entity, which cannot be empty."""
    if type(value) is str:
        if value and not value.isspace():
            return value
    elif value is not None:
        raise _wrong(value, "text")
    raise FieldError("is empty", "Every record needs a title")


def as_text(value: object) -> str:
    """Running text, empty when there is none."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    raise _wrong(value, "text")


def as_word(value: object) -> str | None:
    """A short text such as a language code, None when there is none."""
    return as_text(value).strip() or None


def as_identifier(value: object) -> str | None:
    """An identifier of another scheme, None when there is none."""
    if value is None or (type(value) is str and (not value or value.isspace())):
        return None
    return as_id(value)


def as_names(value: object) -> tuple[str, ...]:
    """A list of texts, or one text; blanks around them, empty and repeated ones are left out."""
    if value is None:
        return ()
    names = [value] if type(value) is str else value
    if type(names) is not list:
        raise _wrong(value, "a list of texts")
    try:
        return tuple(dict.fromkeys(filter(None, map(str.strip, names))))
    except TypeError:
        odd = next(name for name in names if not isinstance(name, str))
        raise FieldError(f"holds {_kind(odd)} in a list of texts") from None


def as_external(value: object) -> dict[str, str]:
    """A mapping from scheme to identifier; the empty ones left out."""
    if value is None:
        return {}
    if type(value) is not dict:
        raise _wrong(value, "an object of identifiers")
    identifiers = ((str(scheme), as_identifier(identifier)) for scheme, identifier in value.items())
    return {scheme: identifier for scheme, identifier in identifiers if identifier is not None}


def as_date(value: object) -> str | None:
    """An ISO date kept as it was given; a whole number is a year."""
    if value is None or value == "":
        return None
    text = str(value) if type(value) is int else value
    if type(text) is not str:
        raise _wrong(value, "a date")
    moment(text)
    return text


@lru_cache(maxsize=4096)
def moment(date: str) -> datetime:
    """The instant at which a date begins; a time without a zone is taken as UTC."""
    if not _DATE.fullmatch(date):
        raise FieldError(f"holds the bad date {date[:40]!r}", _DATE_FORMS)
    try:
        instant = datetime.fromisoformat(date + _REST_OF_DATE.get(len(date), ""))
    except ValueError as error:
        raise FieldError(f"holds the impossible date {date[:40]!r} ({error})", _DATE_FORMS) from error
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def check_period(valid_from: str | None, valid_to: str | None) -> None:
    """An error unless the period `[from, to)` holds at least an instant."""
    if valid_from and valid_to and moment(valid_to) <= moment(valid_from):
        raise FieldError(
            f"valid_to {valid_to!r} is not after valid_from {valid_from!r}",
            "The period is half-open: valid_to is the first moment that no longer counts",
        )


def cell_as_names(value: object) -> tuple[str, ...]:
    """The values of a cell of a CSV or TSV file: a JSON array, or separated by `|`."""
    cell = as_text(value).strip()
    if cell.startswith("[") and cell.endswith("]"):
        try:
            names = msgspec.json.decode(cell)
        except msgspec.DecodeError:
            pass  # a name in brackets, not an array
        else:
            return as_names(names)
    return as_names([name.strip() for name in cell.split("|")])


def cell_as_external(value: object) -> dict[str, str]:
    """The identifiers of a cell of a CSV or TSV file, which holds a JSON object."""
    cell = as_text(value)
    if not cell or cell.isspace():
        return {}
    try:
        return as_external(msgspec.json.decode(cell))
    except msgspec.DecodeError as error:
        raise FieldError(f"is not a JSON object of identifiers: {error}") from error


def check_text(value: object) -> None:
    """An error when a text in the value holds a NUL or is too large to be a field."""
    for text in _texts(value):
        if "\x00" in text:
            raise FieldError(f"holds a NUL character, the {text.index(chr(0)) + 1}. of its text")
        # Four bytes is the most a character takes: most texts need not be encoded to be measured.
        if len(text) * 4 > MAX_FIELD and len(text.encode()) > MAX_FIELD:
            raise FieldError(
                f"holds {len(text.encode()):,} bytes, over the limit of {MAX_FIELD:,}",
                "Shorten the field, or leave out the record",
            )


def check_texts(values: Mapping[str, object], kind: str = "field") -> None:
    """`check_text` for each value; an error names the one that is bad."""
    for name, value in values.items():
        try:
            check_text(value)
        except FieldError as error:
            raise error.of(kind, name) from None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
