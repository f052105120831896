"""Documents from one public format to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from entlink.documents import Document, Record
from entlink.errors import InputError
from entlink.formats.public.catalogue import PUBLIC_FORMATS, PublicFormat, Role, public_format, tell_format
from entlink.formats.roles import links_as_gold
from entlink.io.inputs import OnProblem
from entlink.io.ledger import OnError
from entlink.io.progress import Progress


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
    write: Role | None = None,
    change: Callable[[Document], Document | None] | None = None,
    on_error: OnError = "stop",
    on_problem: OnProblem | None = None,
    progress: Progress | None = None,
) -> Converted:
    """Write the documents of a file in the format `to`; the page on formats says what each can hold.

    `write` says which of gold and links is written where documents have both, and what the links of a format that
    holds only one of them are. Without it, gold is written if there is any, or else links; our own format has both.
    `change` gives of each document what is to be written, or None.
    """
    target = written_format(to)
    origin = public_format(format) if format else tell_format(source)
    if write is None:
        documents = origin.read(source, on_error=on_error, on_problem=on_problem)
    else:
        documents = map(_ONLY[write], origin.read_as(write, source, on_error=on_error, on_problem=on_problem))
    if change is not None:
        documents = (changed for document in documents if (changed := change(document)) is not None)
    counts = [0, 0, 0]
    coming = _counted(documents, counts, progress)
    # A writer of gold alone, such as ELEVANT's, does not look for links.
    target.write(map(links_as_gold, coming) if write == "links" and target.holds == "gold" else coming, file)
    return Converted(origin.name, target.name, *counts)


def written_format(name: str) -> PublicFormat:
    """The format of that name, if entlink writes it."""
    found = public_format(name)
    if not found.is_written:
        able = ", ".join(each.name for each in PUBLIC_FORMATS.values() if each.is_written)
        raise InputError(f"the format {name!r} is read but not written. Choose among {able}")
    return found


def _only_gold(document: Document) -> Document:
    return msgspec.structs.replace(document, links=())


def _only_links(document: Document) -> Document:
    return msgspec.structs.replace(document, gold=())


_ONLY = {"gold": _only_gold, "links": _only_links}


def _counted(documents: Iterable[Document], counts: list[int], progress: Progress | None) -> Iterator[Document]:
    for document in documents:
        counts[0] += 1
        counts[1] += len(document.gold)
        counts[2] += len(document.links)
        if progress is not None and counts[0] % 100 == 0:
            progress("converting", counts[0], 0)
        yield document
