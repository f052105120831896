"""JSON lines and JSON lists as typed records, each with its place for messages; a bad one does not spoil the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from entlink.errors import InputError, SourceError
from entlink.io.files import broken_stream_errors
from entlink.io.inputs import Input, OnProblem, failing, input_lines, input_name, open_input
from entlink.io.ledger import OnError
from entlink.io.lines import cut_off
from entlink.text.spans import Place

Shape = TypeVar("Shape", bound=msgspec.Struct)
Made = TypeVar("Made")
Fail = Callable[[InputError], None]

_fields_decoder = msgspec.json.Decoder(dict[str, Any])
_items_decoder = msgspec.json.Decoder(list[msgspec.Raw])


class ItemPlace(Place):
    """Where a record stands in a file that is one JSON value: there are no lines to name."""

    __slots__ = ("item",)

    def __init__(self, file: str, item: str) -> None:
        super().__init__(file)
        self.item = item

    def error(self, problem: str, hint: str = "") -> SourceError:
        return SourceError(problem, self.file, self.item, hint)


def read_json_lines(
    source: Input,
    shape: type[Shape],
    make: Callable[[Shape, dict[str, Any], Place], Made],
    *,
    on_error: OnError = "stop",
    on_problem: OnProblem | None = None,
) -> Iterator[Made]:
    """What `make` makes of each line: it gets the typed record, all fields of the object, and the place."""
    fail = failing(on_error, on_problem)
    for place, record, fields in json_lines(source, shape, fail):
        try:
            made = make(record, fields, place)
        except InputError as error:
            fail(error)
        else:
            yield made


def json_lines(source: Input, shape: type[Shape], fail: Fail) -> Iterator[tuple[Place, Shape, dict[str, Any]]]:
    """The typed record of each line with its place, and all fields of its object."""
    name = input_name(source)
    with open_input(source) as file:
        for number, line in input_lines(file, name, fail):
            place = Place(name, number)
            try:
                record, fields = decoded(line, shape, place)
            except InputError as error:
                fail(error)
            else:
                yield place, record, fields


def json_items(source: Input, shape: type[Shape], fail: Fail) -> Iterator[tuple[Place, Shape]]:
    """The records of a file that is one JSON list."""
    name, decoder = input_name(source), msgspec.json.Decoder(shape)
    for number, item in enumerate(_items(source, name)):
        place = ItemPlace(name, f"item {number}")
        try:
            record = decoder.decode(item)
        except msgspec.ValidationError as error:
            fail(bad_field(error, place))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            fail(_bad_json(bytes(item), error, place))
        else:
            yield place, record


def decoded(line: bytes, shape: type[Shape], place: Place) -> tuple[Shape, dict[str, Any]]:
    """A JSON object as a typed record and with all its fields."""
    try:
        fields = _fields_decoder.decode(line)
        return msgspec.convert(fields, shape), fields
    except msgspec.ValidationError as error:
        raise bad_field(error, place) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _bad_json(line, error, place) from error


def other_fields(fields: dict[str, Any], shape: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields that the typed record does not have."""
    return {key: value for key, value in fields.items() if key not in shape.__struct_fields__}


def converted(value: Any, shape: type[Shape], field: str, place: Place) -> Shape:
    """A part of a record as a typed record; `field` is its name in messages."""
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise bad_field(error, place, field) from error


def bad_field(error: msgspec.ValidationError, place: Place, within: str = "") -> SourceError:
    """The error of a record whose JSON is good but not of the expected shape."""
    problem, _, path = str(error).partition(" - at `$")
    field = f"{within}{path}".rstrip("`").lstrip(".")
    return place.error(f"field {field}: {problem}" if field else problem, "docs/formats.md shows what a record holds")


def _bad_json(line: bytes, error: Exception, place: Place) -> SourceError:
    try:
        line.decode()
    except UnicodeDecodeError as bad:
        problem = f"byte {bad.start} of the record, 0x{line[bad.start]:02x}, is not valid UTF-8"
        return place.error(problem, "Convert the file to UTF-8")
    if isinstance(error, RecursionError):
        return place.error("the JSON is nested too deeply", "Flatten it")
    if not_numbers := bare_not_numbers(line):
        return place.error(f"{not_numbers} is no number in JSON", NO_NUMBER)
    return place.error(f"the JSON is bad or cut off: {error}", "Each record must be one whole JSON object")


def _items(source: Input, name: str) -> list[msgspec.Raw]:
    with open_input(source) as file:
        try:
            content = file.read()
        except broken_stream_errors() as error:
            raise cut_off(Path(name), error, "", "nothing was read") from error
    try:
        return _items_decoder.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except msgspec.ValidationError as error:
        raise SourceError(f"the file is not a JSON list: {error}", name, hint="Check its format") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if not_numbers := bare_not_numbers(content):
            raise SourceError(f"{not_numbers} is no number in JSON", name, hint=NO_NUMBER) from error
        raise SourceError(f"the JSON is bad or cut off: {error}", name, hint="Fetch the file again") from error


# Telling formats apart

# A string that the head cuts off runs to its end, so that no bracket in it is counted.
_PIECES = re.compile(rb'"((?:[^"\\]|\\.)*+)(?:"(\s*:)?|\\?\Z)|[{}\[\]]', re.DOTALL)


def first_keys(head: bytes) -> frozenset[str]:
    """The keys of the object that a file begins with, as far as the head shows them; none if it is no object.

    The head may end in the middle of the object, so it cannot be decoded.
    """
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    keys, depth = set(), 0
    if not head.startswith(b"{"):
        return frozenset()
    for piece in _PIECES.finditer(head):
        bracket = piece[0]
        if piece[2] is not None and depth == 1:
            keys.add(piece[1].decode(errors="replace"))
        elif bracket in (b"{", b"["):
            depth += 1
        elif bracket in (b"}", b"]"):
            depth -= 1
            if not depth:
                break
    return frozenset(keys)


NO_NUMBER = "Write a number, or leave the field out"
# A string is passed over as a whole; one that is cut off runs to the end.
_BARE = re.compile(rb'"(?:[^"\\]|\\.)*+"?|(-?(?:NaN|Infinity))\b', re.DOTALL)


def bare_not_numbers(json: bytes) -> str:
    """The first that stands outside all strings, or nothing."""
    return next((match[1].decode() for match in _BARE.finditer(json) if match[1]), "")
