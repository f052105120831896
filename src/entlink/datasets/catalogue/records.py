"""The records of a dataset's file: documents with gold in a public format, pairs of entities, or what probes need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from entlink.documents import Document, Record
from entlink.errors import SourceError
from entlink.formats.probes.enteval import LAYOUTS, read_examples
from entlink.formats.probes.sources import blanked, kore, preco, relations, ultra_fine
from entlink.formats.public import wikisrs
from entlink.formats.public.catalogue import public_format
from entlink.io.inputs import OnProblem
from entlink.io.ledger import OnError

_ENTITIES = "entities.txt"
DatasetRecord = Document | Record


def _blanked(
    path: Path, *, on_error: OnError = "stop", on_problem: OnProblem | None = None
) -> Iterator[blanked.BlankedText]:
    """The texts of `corpus.txt`, with the entities of the file beside it."""
    table = path.with_name(_ENTITIES)
    if not table.is_file():
        raise SourceError(f"there is no {_ENTITIES} beside it", str(path), "", "Unpack the whole archive")
    entities = blanked.read_entities(table, on_error=on_error, on_problem=on_problem)
    return blanked.read_texts(path, entities, on_error=on_error, on_problem=on_problem)


# Readers of what is no document, by the name that cards call them by.
OTHER_READERS: Mapping[str, Callable[..., Iterator[Record]]] = {
    "wikisrs": wikisrs.read,
    "preco": preco.read,
    "relations": relations.read,
    "ultra-fine": ultra_fine.read,
    "kore-relatedness": kore.read,
    "rare-entities": _blanked,
    **{f"enteval-{layout}": partial(read_examples, layout) for layout in LAYOUTS},
}


def read_records(
    reader: str, path: Path, *, on_error: OnError = "stop", on_problem: OnProblem | None = None
) -> Iterator[DatasetRecord]:
    """Documents, with what the format holds as gold; of `OTHER_READERS` their own records."""
    if reader in OTHER_READERS:
        return OTHER_READERS[reader](path, on_error=on_error, on_problem=on_problem)
    return public_format(reader).read_as("gold", path, on_error=on_error, on_problem=on_problem)
