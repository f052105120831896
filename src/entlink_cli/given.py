"""The input of `entlink link`: a file or stdin, and whether it holds documents or a text."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from entlink.formats.markup.reading import Markup, guess_markup
from entlink.io.files import Meter, open_bytes, plain_name

if TYPE_CHECKING:
    from collections.abc import Callable

_DOCUMENT_SUFFIXES = {".jsonl", ".ndjson", ".json"}
_MARKUPS: dict[str, Markup] = {"text": "plain", "markdown": "markdown", "html": "html"}


class Given(NamedTuple):
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
def open_given(path: str | None, kind: str) -> Iterator[Given]:
    """Open a file, or stdin for None and `-`; `kind` is what --input says."""
    name = "" if path is None or path == "-" else path
    meter = Meter()
    with _opened(name, meter) as raw:
        file = _NamedFile(cast("io.RawIOBase", raw), name or "<stdin>")
        markup = _markup(plain_name(Path(name)) if name else "", kind, file)
        is_guessed = markup is None and kind == "auto" and not _is_named_as_documents(name)
        size = Path(name).stat().st_size if name else 0
        try:
            yield Given(cast("BinaryIO", file), markup, lambda: meter.consumed, size, is_guessed)
        finally:
            file.detach()


@contextmanager
def _opened(name: str, meter: Meter) -> Iterator[object]:
    if not name:
        # Unbuffered: what a slow writer has sent so far is read at once. Stdin itself stays open.
        yield getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    elif _is_pipe(Path(name)):
        with Path(name).open("rb", buffering=0) as pipe:
            yield pipe
    else:
        with open_bytes(Path(name), meter) as file:
            yield file


def _is_pipe(path: Path) -> bool:
    """A pipe can be read only once, so its first bytes cannot be looked at for compression."""
    return path.is_fifo() or path.is_char_device()


def _is_named_as_documents(name: str) -> bool:
    return Path(plain_name(Path(name))).suffix.lower() in _DOCUMENT_SUFFIXES


def _markup(name: str, kind: str, file: io.BufferedReader) -> Markup | None:
    if kind != "auto":
        return _MARKUPS.get(kind)
    if _is_named_as_documents(name):
        return None
    suffix = Path(name).suffix.lower()
    # A name that tells what the file is outweighs a first character.
    is_told = suffix == ".txt" or guess_markup(name) != "plain"
    first = b"" if is_told else file.peek(1).removeprefix(codecs.BOM_UTF8).lstrip()
    return None if first.startswith(b"{") else guess_markup(name)
