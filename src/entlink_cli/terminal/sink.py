"""Where results go: stdout, or a file that appears under its name only when it is complete."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from entlink.io.outputs import Write, open_output
from entlink_cli.terminal.output import write_bytes


@contextmanager
def sink(output: str | None) -> Iterator[Write]:
    """A function that takes bytes; nothing is left of a file that was not finished."""
    if output is None or output == "-":
        yield write_bytes
        return
    with open_output(output) as write:
        yield write


class _Writing(io.RawIOBase):
    """A function that takes bytes as a binary file."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        content = bytes(memoryview(data))  # type: ignore[arg-type]
        self._write(content)
        return len(content)


def as_file(write: Write = write_bytes) -> BinaryIO:
    """What takes bytes, by default stdout, as a binary file."""
    return cast("BinaryIO", _Writing(write))
