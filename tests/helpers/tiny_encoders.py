"""Encoders for tests, without weights: texts that share letters are near each other."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy

from entlink.documents import Entity
from entlink.encoders.dual import PlainDual


class LetterEncoder:
    """Counts groups of three letters into buckets; tells how many texts it was asked for."""

    def __init__(self, dimension: int = 64, name: str = "letters") -> None:
        self.name, self.dimension, self.identity = name, dimension, f"{name} {dimension}"
        self.calls: list[int] = []

    def encode(self, texts: Sequence[str]) -> numpy.ndarray:
        self.calls.append(len(texts))
        rows = numpy.zeros((len(texts), self.dimension), numpy.float32)
        for row, text in enumerate(texts):
            padded = f" {text.lower()} "
            for start in range(len(padded) - 2 if text.strip() else 0):
                group = zlib.crc32(padded[start : start + 3].encode())
                rows[row, group % self.dimension] += 1 if group & 1024 else -1
        return rows / numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class LongDual(PlainDual):
    """Compares by products: the longer a title, the longer its vector."""

    def __init__(self, encoder: LetterEncoder) -> None:
        super().__init__(encoder)
        self.similarity = "dot"
        self.identity, self.entity_identity = f"long-{self.identity}", f"long-{self.entity_identity}"

    def encode_entities(self, entities: Sequence[Entity]) -> numpy.ndarray:
        lengths = numpy.array([[len(entity.title)] for entity in entities], numpy.float32)
        return super().encode_entities(entities) * lengths
