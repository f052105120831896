"""JSON that other programs wrote: its values one by one, told apart by how they begin, with errors that say where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from entlink.documents import Document
from entlink.errors import InputError, SourceError
from entlink.formats.json_records import NO_NUMBER, bare_not_numbers
from entlink.io.inputs import Input, OnProblem, failing, input_lines, input_name, open_input
from entlink.io.ledger import OnError
from entlink.text.spans import Place

Fail = Callable[[InputError], None]
Row = TypeVar("Row")

LACKS_TEXT = {"lacks": "text"}
DOCS = "docs/formats-exchange.md shows what is read"
_MOST_LINES = 20
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|["\[\]{},]', re.DOTALL)
_CLOSERS = {b"[": b"]", b"{": b"}"}
_LISTS = msgspec.json.Decoder(list[msgspec.Raw])


class Item(Place):
    """Where a document stands in a file that is one JSON list."""

    __slots__ = ()

    def error(self, problem: str, hint: str = "") -> SourceError:
        return SourceError(problem, self.file, f"item {self.line}", hint)


# Reading


def read_items(
    source: Input,
    decoder: msgspec.json.Decoder[Row],
    document: Callable[[Row, Place], Document],
    on_error: OnError,
    on_problem: OnProblem | None,
) -> Iterator[Document]:
    """The documents of the rows of a file: JSON lines, one JSON list, or one object."""
    fail = failing(on_error, on_problem)
    for place, value in json_items(source, fail):
        try:
            made = document(decoded(value, decoder, place), place)
        except InputError as error:
            fail(error)
        else:
            yield made


def json_values(source: Input, fail: Fail) -> Iterator[tuple[Place, bytes]]:
    """The JSON values of a file: one a line, or the one over many lines that is all of it."""
    name = input_name(source)
    with open_input(source) as file:
        lines = input_lines(file, name, fail)
        for number, line in lines:
            if number == 1 and not _is_closed(line):
                yield Place(name), line + b"".join(rest for _, rest in lines)
            else:
                yield Place(name, number), line


def json_items(source: Input, fail: Fail) -> Iterator[tuple[Place, bytes]]:
    """The same, with a list given item by item."""
    for place, value in json_values(source, fail):
        if not value.lstrip().startswith(b"["):
            yield place, value
            continue
        try:
            items = decoded(value, _LISTS, place)
        except InputError as error:
            fail(error)
        else:
            yield from ((Item(place.file, number), bytes(item)) for number, item in enumerate(items, 1))


def _is_closed(line: bytes) -> bool:
    """Whether a line that opens a bracket ends with the one that closes it; a list over many lines does not."""
    line = line.strip()
    return line[-1:] == _CLOSERS.get(line[:1], line[-1:])


def decoded(value: bytes, decoder: msgspec.json.Decoder[Row], place: Place) -> Row:
    """The row that the JSON holds, or an error that says what is wrong with it, and where."""
    try:
        return decoder.decode(value)
    except msgspec.ValidationError as error:
        raise bad_field(error, place) from error
    except UnicodeDecodeError as error:
        raise place.error("the JSON is not valid UTF-8", "Convert the file to UTF-8") from error
    except RecursionError as error:
        raise place.error("the JSON is nested too deeply", DOCS) from error
    except msgspec.DecodeError as error:
        if not_numbers := bare_not_numbers(value):
            raise place.error(f"{not_numbers} is no number in JSON", NO_NUMBER) from error
        raise place.error(f"the JSON is bad or cut off: {error}", "Is the file complete?") from error


def converted(value: Any, type: type[Row], place: Place) -> Row:
    """The value as a row of that type."""
    try:
        return msgspec.convert(value, type)
    except msgspec.ValidationError as error:
        raise bad_field(error, place) from error


def bad_field(error: msgspec.ValidationError, place: Place) -> SourceError:
    """The error of a row, with the name of its field."""
    problem, _, path = str(error).partition(" - at `$")
    field = path.rstrip("`").lstrip(".")
    return place.error(f"field {field}: {problem}" if field else problem, DOCS)


def id_of(id: str | int | None, place: Place) -> str:
    """The id of a document; without one, the number of its line or item."""
    return str(place.line or 1) if id is None else str(id)


# Telling formats apart


@lru_cache(maxsize=4)
def beginnings(head: bytes) -> tuple[Any, ...]:
    """The JSON values a file begins with: those of its first lines, or as much of the first as is there."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] not in (b"{", b"["):
        return ()
    lines = head.split(b"\n", _MOST_LINES)[:_MOST_LINES]
    by_line = tuple(_decoded_each(lines)) if _is_closed(lines[0]) else ()
    return by_line or tuple(_decoded_each([_repaired(head)]))


def rows_of(head: bytes) -> list[dict[str, Any]]:
    """The objects a file begins with, those of a list included."""
    values = [item for value in beginnings(head) for item in (value if isinstance(value, list) else [value])]
    return [value for value in values if isinstance(value, dict)]


def _decoded_each(values: list[bytes]) -> Iterator[Any]:
    for value in values:
        try:
            yield msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue


def _repaired(head: bytes) -> bytes:
    """The first value, closed where the head ends: up to the last comma or bracket it is whole."""
    open, safe, end = [], b"", 0
    for match in _TOKEN.finditer(head):
        token = match.group()
        if token == b'"':  # a string that goes on behind the head
            break
        if token.startswith(b'"'):
            continue
        if token in _CLOSERS:
            open.append(_CLOSERS[token])
        elif token != b"," and open:
            open.pop()
        end = match.start() if token == b"," else match.end()
        safe = b"".join(reversed(open))
        if not open:
            break
    return head[:end] + safe
