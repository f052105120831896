"""A file or stream of documents: JSON lines, or one text with its markup; told from its name and first character."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, cast, get_args

from entlink.documents import Document
from entlink.errors import InputError
from entlink.formats.documents.captioned import beside, captioned_pictures
from entlink.formats.documents.lines import read_documents
from entlink.formats.markup.reading import Markup, guess_markup
from entlink.formats.public.catalogue import PublicFormat, public_format, tell_format
from entlink.io.files import Meter, open_bytes, plain_name
from entlink.io.inputs import Input, OnProblem, input_name
from entlink.io.ledger import OnError

Holds = Literal["auto", "text", "markdown", "html", "jsonl", "gold"]

_DOCUMENT_SUFFIXES = {".jsonl", ".ndjson", ".json"}
_MARKUPS: dict[str, Markup] = {"text": "plain", "markdown": "markdown", "html": "html"}


class OpenDocuments(NamedTuple):
    """An open input: documents as JSON lines when `markup` is None, else one text with that markup.

    `position` tells how many bytes of `size` were read, where the size is known; `is_guessed` that only a first {
    says that it is documents. `gold` is the format of a file of gold that is not our own, which lies at `path`;
    without a format, that is a folder of captioned pictures.
    """

    file: BinaryIO
    markup: Markup | None
    position: Callable[[], int]
    size: int
    is_guessed: bool
    path: Path | None = None
    gold: PublicFormat | None = None
    folder: Path = Path()  # where paths of pictures count from

    def documents(self, on_error: OnError, on_problem: OnProblem | None) -> Iterator[Document]:
        """The documents, read one after the other."""
        if self.path is not None and self.gold is not None:
            return self.gold.read_as("gold", self.path, on_error=on_error, on_problem=on_problem)
        if self.path is not None:
            return captioned_pictures(self.path, on_error=on_error, on_problem=on_problem)
        documents = read_documents(self.file, on_error=on_error, on_problem=on_problem)
        return (beside(document, self.folder) for document in documents)


class _NamedFile(io.BufferedReader):
    """A stream that tells the name that messages should have."""

    def __init__(self, raw: io.RawIOBase, name: str) -> None:
        super().__init__(raw)
        self._name = name

    @property
    def name(self) -> str:
        return self._name


@contextmanager
def open_documents(
    source: Input, holds: Holds = "auto", *, name: str = "", gold_format: str | None = None
) -> Iterator[OpenDocuments]:
    """Open a file, plain or compressed, or take a binary stream, which stays open; `name` is for one without.

    A folder is one of pictures with captions: NAME.jpg beside NAME.txt.
    A file that holds "gold" may be of any format with gold that entlink reads, told from its content if not by
    `gold_format`; a stream of it is our own documents.
    """
    if holds not in get_args(Holds):
        raise InputError(f"an input cannot hold {holds!r}: choose among {', '.join(get_args(Holds))}")
    path = Path(source) if isinstance(source, str | Path) else None
    if path is not None and path.is_dir() and holds != "gold":
        yield OpenDocuments(io.BytesIO(), None, lambda: 0, 0, False, path)
        return
    gold = _gold_format(path, gold_format) if holds == "gold" else None
    if gold is not None and gold.name != "jsonl":
        yield OpenDocuments(io.BytesIO(), None, lambda: 0, 0, False, path, gold)
        return
    name = input_name(source) or name
    meter = Meter()
    with _opened(source, meter) as raw:
        file = _NamedFile(cast("io.RawIOBase", raw), name)
        markup = _markup(plain_name(Path(name)), holds, file)
        is_guessed = markup is None and holds == "auto" and not _is_named_as_documents(name)
        size = path.stat().st_size if path else 0
        try:
            folder = path.parent if path else Path()
            yield OpenDocuments(
                cast("BinaryIO", file), markup, lambda: meter.consumed, size, is_guessed, folder=folder
            )
        finally:
            file.detach()


def _gold_format(path: Path | None, name: str | None) -> PublicFormat | None:
    """The format of a file with gold; None for a stream, of which only our own documents are read."""
    if path is None or _is_pipe(path):
        return None
    return public_format(name) if name else tell_format(path)


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
