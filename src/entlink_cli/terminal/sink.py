"""Where results go: stdout, or a file that appears under its name only when it is complete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
