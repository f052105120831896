"""Values of a record's cells turned into the fields of an entity, or refused with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from entlink.errors import FieldError
from entlink.text.dates import moment

Value = TypeVar("Value")

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


def as_claims(value: object) -> dict[str, tuple[str, ...]]:
    """A mapping from property to a value or a list of values; properties without any left out."""
    if value is None:
        return {}
    if type(value) is not dict:
        raise _wrong(value, "an object of properties")
    claims = ((str(property), as_names(values)) for property, values in value.items())
    return {property: values for property, values in claims if values}


def as_date(value: object) -> str | None:
    """An ISO date kept as it was given; a whole number is a year."""
    if value is None or value == "":
        return None
    text = str(value) if type(value) is int else value
    if type(text) is not str:
        raise _wrong(value, "a date")
    moment(text)
    return text


def cell_as_names(value: object) -> tuple[str, ...]:
    """The values of a cell of a CSV or TSV file: a JSON array, or separated by `|`."""
    cell = as_text(value).strip()
    if cell.startswith("[") and cell.endswith("]"):
        try:
            names = msgspec.json.decode(cell)
        except msgspec.DecodeError:
            pass  # a name in brackets, not an array
        except RecursionError:
            raise FieldError("holds JSON that is nested too deeply") from None
        else:
            return as_names(names)
    return as_names([name.strip() for name in cell.split("|")])


def cell_as_external(value: object) -> dict[str, str]:
    """The identifiers of a cell of a CSV or TSV file, which holds a JSON object."""
    return as_external(_cell_object(value, "identifiers"))


def cell_as_claims(value: object) -> dict[str, tuple[str, ...]]:
    """The claims of a cell of a CSV or TSV file, which holds a JSON object."""
    return as_claims(_cell_object(value, "properties"))


def _cell_object(value: object, what: str) -> object:
    cell = as_text(value)
    if not cell or cell.isspace():
        return None
    try:
        return msgspec.json.decode(cell)
    except RecursionError:
        raise FieldError("holds JSON that is nested too deeply") from None
    except msgspec.DecodeError as error:
        raise FieldError(f"is not a JSON object of {what}: {error}") from error
