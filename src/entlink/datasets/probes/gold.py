"""Documents with gold as sources of tasks: which split each is of, and its mentions in their sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from entlink.datasets.probes.material import Material
from entlink.documents import Document
from entlink.formats.public.catalogue import tell_format
from entlink.io.files import plain_name

# What files and parts are called, as a word of their name.
_CALLED = {
    "train": "train",
    "dev": "valid",
    "valid": "valid",
    "validation": "valid",
    "val": "valid",
    "testa": "valid",
    "test": "test",
    "testb": "test",
}
_WORD = re.compile(r"[a-z]+")


def read_gold(material: Material) -> Iterator[tuple[str | None, Document]]:
    """The documents of all sources, each with the split that its file or the document itself names, if one does."""
    for path in material.sources:
        format = tell_format(path)
        of_file = split_of_file(path)
        documents = format.read_as("gold", path, on_error=material.options.on_error, on_problem=material.problem)
        for document in material.counted(path.name, documents):
            part = document.meta.get("split")
            is_aida = format.name == "aida"  # what it does not name is training
            own = _CALLED.get(part) if isinstance(part, str) else ("train" if is_aida else None)
            yield own or of_file, document


def split_of_file(path: Path) -> str | None:
    """The split in the name of a file, as in `mentions_dev.jsonl.xz`."""
    words = _WORD.findall(plain_name(path).lower())
    return next((_CALLED[word] for word in words if word in _CALLED), None)


def page_of(document: Document) -> str:
    """What a document is a part of: the page in its meta, or its id up to a `#`."""
    page = document.meta.get("page")
    return page if isinstance(page, str) else document.id.partition("#")[0]
