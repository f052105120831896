"""Names as the plain average of their words' vectors, from a file such as GloVe's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from entlink.encoders.static.files import open_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[numpy.float32]

_WORD = re.compile(r"\w+")
_CACHED = 100_000
_MOST_WORDS = 400_000  # files have the most frequent words first


class WordVectors:
    """The words of a file in lower case, the first spelling of each; the first 400,000 words of it are read."""

    def __init__(self, path: Path) -> None:
        opened = open_vectors(path)
        self.dimension = opened.dimension
        self._rows: dict[str, Vector] = {}
        self._units: dict[str, Vector | None] = {}
        for word, vector in islice(opened.rows, _MOST_WORDS):
            self._rows.setdefault(word.lower(), numpy.asarray(vector, numpy.float32))

    def average(self, name: str) -> Vector | None:
        """The mean of the vectors of the words that are known; None where none is."""
        rows = [row for word in _WORD.findall(name.lower()) if (row := self._rows.get(word)) is not None]
        return numpy.mean(rows, axis=0, dtype=numpy.float32) if rows else None

    def unit(self, name: str) -> Vector | None:
        """The average, made of length 1, so that products are cosines; remembered."""
        if name not in self._units:
            if len(self._units) >= _CACHED:
                self._units.clear()
            self._units[name] = self._unit(name)
        return self._units[name]

    def _unit(self, name: str) -> Vector | None:
        vector = self.average(name)
        length = 0.0 if vector is None else float(numpy.linalg.norm(vector))
        return None if vector is None or length == 0 else vector / numpy.float32(length)

    def matrix(self, names: Iterable[str]) -> tuple[list[str], NDArray[numpy.float32]]:
        """The names that have a vector, and a row of length 1 for each."""
        found = [(name, vector) for name in names if (vector := self.unit(name)) is not None]
        rows = [vector for _, vector in found]
        return [name for name, _ in found], numpy.stack(rows) if rows else numpy.zeros((0, self.dimension), "f4")
