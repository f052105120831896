"""Vectors of every layer kept by what the texts say: a sentence or a description is encoded once, for all tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from entlink.documents import Span
from entlink.encoders.cache import VectorCache
from entlink.errors import InputError
from entlink.io.caching import cache_folder
from entlink.io.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from entlink.interfaces import LayeredEncoder, Vectors

_MEMORY = 32 * 1024 * 1024  # bytes of vectors in memory
_SHOWN = 80
_LARGEST = float(numpy.finfo(numpy.float16).max)


def probes_folder() -> Path:
    """Where vectors for probes are kept: in the user's cache."""
    return cache_folder("probes")


class LayerCache:
    """An encoder of layers that remembers, in files under `folder`; only in memory without a folder or identity."""

    def __init__(self, encoder: LayeredEncoder, folder: Path | None) -> None:
        self.encoder = encoder
        self.name, self.identity = encoder.name, encoder.identity
        self.layers, self.dimension, self.mixing = encoder.layers, encoder.dimension, encoder.mixing
        if self.layers < 1 or self.dimension < 1:
            raise InputError(
                f"the encoder {self.name!r} has {self.layers} layers of {self.dimension} columns. It must have one "
                "of each or more"
            )
        self.encoded = 0  # texts that were not remembered
        place = folder if encoder.identity else None
        rows = max(1, _MEMORY // (2 * self.layers * self.dimension))
        self._caches = {
            side: VectorCache(place, _Flat(self, side), memory_rows=rows, scaled=False)
            for side in ("contexts", "descriptions")
        }

    def close(self) -> None:
        """Let go of the files."""
        for cache in self._caches.values():
            cache.close()

    def encode_contexts(self, contexts: Sequence[tuple[str, Span]], progress: Progress = ignore_progress) -> Vectors:
        """Shaped layers, contexts, dimension."""
        texts = [f"{span.start} {span.end} {text}" for text, span in contexts]
        return self._layers(self._caches["contexts"].encode(texts, progress))

    def encode_descriptions(self, texts: Sequence[str], progress: Progress = ignore_progress) -> Vectors:
        """Shaped layers, texts, dimension."""
        return self._layers(self._caches["descriptions"].encode(texts, progress))

    def _layers(self, rows: Vectors) -> Vectors:
        return rows.reshape(len(rows), self.layers, self.dimension).transpose(1, 0, 2)


class _Flat:
    """One side of the encoder as the cache wants it: a text to one long row."""

    def __init__(self, owner: LayerCache, side: str) -> None:
        self._owner, self._side = owner, side
        self.name, self.identity = owner.name, f"{owner.identity}-{side}"
        self.dimension = owner.layers * owner.dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        owner = self._owner
        owner.encoded += len(texts)
        if self._side == "contexts":
            found = owner.encoder.encode_contexts([_context(text) for text in texts])
        else:
            found = owner.encoder.encode_descriptions(texts)
        return self._checked(found, texts).transpose(1, 0, 2).reshape(len(texts), -1)

    def _checked(self, given: Any, texts: Sequence[str]) -> Vectors:
        owner = self._owner
        try:
            found = numpy.asarray(given, numpy.float32)
        except (TypeError, ValueError) as problem:
            raise InputError(f"the encoder {owner.name!r} gave no array of numbers ({problem})") from problem
        due = (owner.layers, len(texts), owner.dimension)
        if found.shape != due:
            raise InputError(
                f"the encoder {owner.name!r} gave an array of {found.shape} where one of {due} (layers, texts, "
                "dimension) was due. It must give vectors of one width"
            )
        bad = numpy.flatnonzero(~numpy.isfinite(found).all(axis=(0, 2)))
        if bad.size:
            text = texts[int(bad[0])][:_SHOWN]
            raise InputError(
                f"the encoder {owner.name!r} gave NaN or infinity for {bad.size} of {len(texts)} texts, such as "
                f"{text!r}. Its weights are broken: fetch it again, or train it with a lower learning rate"
            )
        return numpy.clip(found, -_LARGEST, _LARGEST)


def _context(text: str) -> tuple[str, Span]:
    start, end, sentence = text.split(" ", 2)
    return sentence, Span(int(start), int(end))
