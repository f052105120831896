"""Lines of text and of JSON, numbered, with bad bytes and cut-off files told apart from bad records."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from entlink.errors import SourceError
from entlink.io.files import broken_stream_errors, open_bytes
from entlink.io.ledger import FileLedger
from entlink.text import field_limits

# Far above any honest record, so that a file without line ends cannot fill the memory.
MAX_LINE = 8 * field_limits.MAX_FIELD

Record = TypeVar("Record")


def read_lines(path: Path, reading: FileLedger) -> Iterator[tuple[int, bytes]]:
    """Each line with its number from 1, line end kept, a byte order mark dropped, UTF-8 not yet checked."""
    broken = broken_stream_errors()
    number = 0
    reading.is_cut_off = False
    with open_bytes(path, reading.meter) as file:
        while True:
            number += 1
            try:
                line = file.readline(MAX_LINE)
                if len(line) == MAX_LINE and not line.endswith(b"\n"):
                    reading.fail(_too_long(path, number))
                    _drop_rest_of_line(file)
                    continue
            except broken as error:
                reading.is_cut_off = True
                reading.fail(cut_off(path, error, f"line {number}", f"{reading.records} records were read"))
                return
            if not line:
                return
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            yield number, line


def _drop_rest_of_line(file: io.BufferedReader) -> None:
    while (part := file.readline(MAX_LINE)) and not part.endswith(b"\n"):
        pass


def _too_long(path: Path, number: int) -> SourceError:
    problem = f"the line is longer than {MAX_LINE:,} bytes"
    return SourceError(problem, str(path), f"line {number}", "Is this a file of lines?")


def cut_off(path: Path, error: Exception, position: str, so_far: str) -> SourceError:
    """The error for a stream that broke in the middle, saying how much came before."""
    if isinstance(error, EOFError):
        problem = f"the compressed data is cut off; {so_far} before that"
    else:
        problem = f"the data cannot be read on ({error}); {so_far} before that"
    return SourceError(problem, str(path), position, "Fetch or pack the file again")


def decoded(line: bytes, path: Path, number: int) -> str:
    """The line as text; an error with the byte offset where it is not UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise _bad_bytes(path, number, line) from error


def _bad_bytes(path: Path, number: int, line: bytes) -> SourceError:
    start = _first_bad_byte(line)
    problem = f"byte {start} of the line, 0x{line[start]:02x}, is not valid UTF-8"
    return SourceError(problem, str(path), f"line {number}", "Convert the file to UTF-8")


def _first_bad_byte(line: bytes) -> int:
    """Its offset in the line; the JSON decoder would count from the start of the field."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def read_json_lines(
    path: Path, reading: FileLedger, decoder: msgspec.json.Decoder[Record]
) -> Iterator[tuple[int, Record, bool]]:
    """Each JSON line's number and record, and whether its texts must be checked; blank lines are left out."""
    decode = decoder.decode
    for number, line in read_lines(path, reading):
        try:
            record = decode(line)
        except msgspec.DecodeError as error:
            if line.strip():
                reading.fail(_bad_json(path, number, line, error))
            continue
        except RecursionError:
            reading.fail(SourceError("the JSON is nested too deeply", str(path), f"line {number}"))
            continue
        except UnicodeDecodeError:
            reading.fail(_bad_bytes(path, number, line))
            continue
        # A NUL can only come from this escape, and no field is larger than its line.
        is_odd = (b"\\" in line and b"\\u0000" in line) or len(line) > field_limits.MAX_FIELD
        yield number, record, is_odd


def _bad_json(path: Path, number: int, line: bytes, error: msgspec.DecodeError) -> SourceError:
    hint = "Each line must hold one whole record (JSON Lines)" if line.strip() in (b"[", b"{") else ""
    if isinstance(error, msgspec.ValidationError):
        problem = f"the record is not as expected: {error}"
    elif b"\x00" in line:
        problem = f"the line has a NUL byte at byte {line.index(0)}"
    elif not line.endswith(b"\n"):
        problem = f"the JSON is bad or cut off: {error}"
        hint = hint or "This is the last line: is the file complete?"
    else:
        problem = f"the JSON is bad: {error}"
    return SourceError(problem, str(path), f"line {number}", hint)
