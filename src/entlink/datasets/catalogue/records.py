"""The records of a dataset's file: documents with gold in a public format, or scored pairs of entities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from entlink.documents import Document
from entlink.formats.public import wikisrs
from entlink.formats.public.catalogue import public_format
from entlink.formats.public.wikisrs import EntityPair
from entlink.io.inputs import OnProblem
from entlink.io.ledger import OnError

PAIRS = "wikisrs"
DatasetRecord = Document | EntityPair


def read_records(
    reader: str, path: Path, *, on_error: OnError = "stop", on_problem: OnProblem | None = None
) -> Iterator[DatasetRecord]:
    """Documents, with what the format holds as gold; of `wikisrs` pairs."""
    if reader == PAIRS:
        return wikisrs.read(path, on_error=on_error, on_problem=on_problem)
    return public_format(reader).read_as("gold", path, on_error=on_error, on_problem=on_problem)
