"""Opens what a caller hands over as input: a path, compressed or not, or an open binary file."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from entlink.errors import EntlinkError, InputError, SourceError
from entlink.io.files import Meter, broken_stream_errors, open_bytes
from entlink.io.ledger import OnError
from entlink.io.lines import MAX_LINE, cut_off

Input = str | Path | BinaryIO
OnProblem = Callable[[EntlinkError], None]


def failing(on_error: OnError, on_problem: OnProblem | None) -> Callable[[InputError], None]:
    """What a reader calls at a bad record: it raises, or tells `on_problem` and returns."""

    def fail(error: InputError) -> None:
        if on_error == "stop":
            raise error
        if on_problem is not None:
            on_problem(error)

    return fail


def input_name(source: Input) -> str:
    """The name of the input for messages, empty if it has none."""
    if isinstance(source, str | Path):
        return str(source)
    name = getattr(source, "name", "")
    return name if isinstance(name, str) else ""


@contextmanager
def open_input(source: Input) -> Iterator[BinaryIO]:
    """The input as a binary file; closed afterwards only if it was opened here."""
    if isinstance(source, str | Path):
        with open_bytes(Path(source), Meter()) as file:
            yield cast("BinaryIO", file)
    else:
        yield source


def input_lines(file: BinaryIO, name: str, fail: Callable[[SourceError], None]) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, numbered from 1, without a byte order mark.

    Where the data cannot be read on, `fail` is told; if it returns, the lines end there.
    """
    broken = broken_stream_errors()
    number = 0
    while True:
        number += 1
        try:
            line = file.readline(MAX_LINE)
        except broken as error:
            return fail(cut_off(Path(name), error, f"line {number}", f"{number - 1} lines were read"))
        if not line:
            return None
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            problem = f"the line is longer than {MAX_LINE:,} bytes"
            return fail(SourceError(problem, name, f"line {number}", "Is this a file of lines?"))
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if not line.isspace():
            yield number, line


def input_text(source: Input) -> str:
    """All of the input as text, without a byte order mark and with its line ends as they are."""
    name = input_name(source)
    with open_input(source) as file:
        try:
            content = file.read()
        except broken_stream_errors() as error:
            raise cut_off(Path(name), error, "", "nothing was read") from error
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        byte = f"0x{content[error.start]:02x}"
        hint = "Convert the file to UTF-8, for example with iconv"
        raise SourceError(f"{byte} is not valid UTF-8 here", name, f"byte {error.start}", hint) from error
