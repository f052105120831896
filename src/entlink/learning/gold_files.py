"""Documents with gold from files, and what a model that learns from them says of the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document
from entlink.evaluation.files import File


class GoldFiles:
    """The documents of several files, of any format entlink reads, one after the other; read anew each time."""

    def __init__(self, paths: Sequence[str | Path], format: str | None = None) -> None:
        self._files = [File(path, "gold", format) for path in paths]

    def __iter__(self) -> Iterator[Document]:
        return (document for file in self._files for document in file)

    def __len__(self) -> int:
        """How many files there are."""
        return len(self._files)

    def facts(self) -> list[dict[str, Any]]:
        """Name, format and checksum of each file."""
        return [msgspec.to_builtins(file.facts()) for file in self._files]
