"""Documents from one public format to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from entlink.documents import Document, Record
from entlink.errors import InputError
from entlink.formats.inputs import OnProblem
from entlink.formats.public import PUBLIC_FORMATS, PublicFormat, public_format, tell_format
from entlink.sources.ledger import OnError

Progress = Callable[[str, float, float], None]


class Converted(Record, frozen=True):
    """What was converted: from which format to which, and how much."""

    source: str
    target: str
    documents: int
    gold: int
    links: int


def convert(
    source: str | Path,
    file: BinaryIO,
    to: str,
    *,
    format: str | None = None,
    on_error: OnError = "stop",
    on_problem: OnProblem | None = None,
    progress: Progress | None = None,
) -> Converted:
    """Write the documents of a file in the format `to`; the page on formats says what each can hold."""
    target = written_format(to)
    origin = public_format(format) if format else tell_format(source)
    counts = [0, 0, 0]
    target.write(_counted(origin.read(source, on_error=on_error, on_problem=on_problem), counts, progress), file)
    return Converted(origin.name, target.name, *counts)


def written_format(name: str) -> PublicFormat:
    """The format of that name, if entlink writes it."""
    found = public_format(name)
    if not found.is_written:
        able = ", ".join(each.name for each in PUBLIC_FORMATS.values() if each.is_written)
        raise InputError(f"the format {name!r} is read but not written. Choose among {able}")
    return found


def _counted(documents: Iterable[Document], counts: list[int], progress: Progress | None) -> Iterator[Document]:
    for document in documents:
        counts[0] += 1
        counts[1] += len(document.gold)
        counts[2] += len(document.links)
        if progress is not None and counts[0] % 100 == 0:
            progress("converting", counts[0], 0)
        yield document
