"""A file or stream of documents: JSON lines, or one text with its markup; told from its name and first character."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, cast, get_args

from entlink.errors import InputError
from entlink.formats.markup.reading import Markup, guess_markup
from entlink.io.files import Meter, open_bytes, plain_name
from entlink.io.inputs import Input, input_name

Holds = Literal["auto", "text", "markdown", "html", "jsonl"]

_DOCUMENT_SUFFIXES = {".jsonl", ".ndjson", ".json"}
_MARKUPS: dict[str, Markup] = {"text": "plain", "markdown": "markdown", "html": "html"}


class OpenDocuments(NamedTuple):
    """An open input: documents as JSON lines when `markup` is None, else one text with that markup.

    `position` tells how many bytes of `size` were read, where the size is known; `is_guessed` that only a first {
    says that it is documents.
    """

    file: BinaryIO
    markup: Markup | None
    position: Callable[[], int]
    size: int
    is_guessed: bool


class _NamedFile(io.BufferedReader):
    """A stream that tells the name that messages should have."""

    def __init__(self, raw: io.RawIOBase, name: str) -> None:
        super().__init__(raw)
        self._name = name

    @property
    def name(self) -> str:
        return self._name


@contextmanager
def open_documents(source: Input, holds: Holds = "auto", *, name: str = "") -> Iterator[OpenDocuments]:
    """Open a file, plain or compressed, or take a binary stream, which stays open; `name` is for one without."""
    if holds not in get_args(Holds):
        raise InputError(f"an input cannot hold {holds!r}: choose among {', '.join(get_args(Holds))}")
    path = Path(source) if isinstance(source, str | Path) else None
    name = input_name(source) or name
    meter = Meter()
    with _opened(source, meter) as raw:
        file = _NamedFile(cast("io.RawIOBase", raw), name)
        markup = _markup(plain_name(Path(name)), holds, file)
        is_guessed = markup is None and holds == "auto" and not _is_named_as_documents(name)
        size = path.stat().st_size if path else 0
        try:
            yield OpenDocuments(cast("BinaryIO", file), markup, lambda: meter.consumed, size, is_guessed)
        finally:
            file.detach()


@contextmanager
def _opened(source: Input, meter: Meter) -> Iterator[object]:
    if not isinstance(source, str | Path):
        yield source
    elif _is_pipe(Path(source)):
        with Path(source).open("rb", buffering=0) as pipe:
            yield pipe
    else:
        with open_bytes(Path(source), meter) as file:
            yield file


def _is_pipe(path: Path) -> bool:
    """A pipe can be read only once, so its first bytes cannot be looked at for compression."""
    return path.is_fifo() or path.is_char_device()


def _is_named_as_documents(name: str) -> bool:
    return Path(plain_name(Path(name))).suffix.lower() in _DOCUMENT_SUFFIXES


def _markup(name: str, holds: Holds, file: io.BufferedReader) -> Markup | None:
    if holds != "auto":
        return _MARKUPS.get(holds)
    if _is_named_as_documents(name):
        return None
    suffix = Path(name).suffix.lower()
    # A name that tells what the file is outweighs a first character.
    is_told = suffix == ".txt" or guess_markup(name) != "plain"
    first = b"" if is_told else file.peek(1).removeprefix(codecs.BOM_UTF8).lstrip()
    return None if first.startswith(b"{") else guess_markup(name)
