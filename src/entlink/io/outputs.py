"""Where results are written: an open binary file, or a file that appears under its name only when it is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from entlink.errors import InputError
from entlink.io.atomic import put_in_place
from entlink.io.files import check_is_path

Output = str | Path | BinaryIO
Write = Callable[[bytes], object]


@contextmanager
def open_output(output: Output) -> Iterator[Write]:
    """A function that takes bytes; nothing is left of a file that was not finished."""
    if not isinstance(output, str | Path):
        yield output.write
        return
    target = file_to_write(output)
    if target.exists() and not target.is_file():
        with target.open("wb") as file:  # a pipe or device cannot be renamed to
            yield file.write
        return
    partial = target.with_name(f"{target.name}.partial")
    try:
        with _opened(partial, target.suffix.lower()) as file:
            yield file.write
        put_in_place(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def file_to_write(output: str | Path) -> Path:
    """The file that a name means; an error when no file can be written there."""
    check_is_path(output)
    target = Path(output).resolve()
    if not target.parent.is_dir():
        raise InputError(f"{output}: there is no folder {target.parent}. Make it first, or name another")
    if target.is_dir():
        raise InputError(f"{output}: this is a folder. Name a file")
    return target


def _opened(path: Path, suffix: str) -> IO[bytes]:
    """The file, compressed if its final name says so."""
    import bz2
    import gzip
    import lzma

    if suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "wb"))
    if suffix == ".bz2":
        return bz2.open(path, "wb")
    if suffix == ".xz":
        return lzma.open(path, "wb")
    return path.open("wb")
