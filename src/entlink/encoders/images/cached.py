"""Vectors of pictures kept by what the files hold: one picture under many names is encoded once, and never again."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy

from entlink.encoders.cache import VectorCache
from entlink.encoders.images.pictures import Pictures, decode, digest, pictures_folder, shown
from entlink.errors import EntlinkError
from entlink.io.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from entlink.interfaces import PictureEncoder, Vectors

Reference = str | Path | bytes
Output = Literal["pooled", "grid"]
OnReference = Callable[[Reference, EntlinkError], None]
_AT_ONCE = 64  # pictures whose files are in memory
_MEMORY = 64 * 1024 * 1024  # bytes of vectors in memory
_TOLD = 5  # pictures that are told of one by one
_log = logging.getLogger(__name__)


class PictureVectors:
    """An encoder of pictures that remembers, in a file of `folder`: by default in the user's cache.

    Pictures are named by path, address or data URL, or given as bytes; `pictures` says where names are looked for.
    """

    def __init__(
        self,
        encoder: PictureEncoder,
        pictures: Pictures | None = None,
        *,
        output: Output = "pooled",
        folder: Path | None = None,
    ) -> None:
        self.encoder, self.pictures = encoder, pictures or Pictures()
        self.shape = (encoder.dimension,) if output == "pooled" else encoder.grid
        self._reader = _Contents(encoder, output)
        rows = max(1, _MEMORY // (2 * self._reader.dimension))
        place = pictures_folder() if folder is None else folder
        self._cache = VectorCache(place, self._reader, memory_rows=rows, scaled=output == "pooled")
        weakref.finalize(self, self._cache.close)

    def encode(
        self,
        references: Sequence[Reference],
        on_problem: OnReference | None = None,
        progress: Progress = ignore_progress,
    ) -> Vectors:
        """A row a picture, or with the output `grid` a row for each cell of each.

        `on_problem` is told of a picture that cannot be used, and its row is of zeros; without it, that is an error.
        """
        found = numpy.zeros((len(references), *self.shape), numpy.float32)
        for start, rows in self.stream(references, on_problem):
            found[start : start + len(rows)] = rows
            progress("encoding pictures", start + len(rows), len(references))
        return found

    def stream(
        self, references: Sequence[Reference], on_problem: OnReference | None = None
    ) -> Iterator[tuple[int, Vectors]]:
        """The same in parts, each with the number of its first picture: for more than memory holds."""
        for start in range(0, len(references), _AT_ONCE):
            part = references[start : start + _AT_ONCE]
            yield start, self._encoded(part, on_problem or _raising)

    def _encoded(self, references: Sequence[Reference], on_problem: OnReference) -> Vectors:
        contents: dict[int, bytes] = {}
        for number, reference in enumerate(references):
            try:
                contents[number] = self.pictures.read(reference)
            except EntlinkError as problem:
                on_problem(reference, problem)
        keys = {number: digest(content) for number, content in contents.items()}
        self._reader.contents = {keys[number]: content for number, content in contents.items()}
        rows = numpy.zeros((len(references), *self.shape), numpy.float32)
        if keys:
            rows[list(keys)] = self._cache.encode(list(keys.values())).reshape(-1, *self.shape)
        for number in keys:
            if not rows[number].any():
                self._tell(references[number], contents[number], on_problem)
        self._reader.contents = {}
        return rows

    def _tell(self, reference: Reference, content: bytes, on_problem: OnReference) -> None:
        """A picture without a vector is looked at again, to say what is wrong: it may have been encoded long ago."""
        try:
            decode(content, shown(reference))
        except EntlinkError as problem:
            on_problem(reference, problem)


class _Contents:
    """An encoder of the contents behind digests, for a cache that knows of texts only."""

    def __init__(self, encoder: PictureEncoder, output: Output) -> None:
        self.name, self._encoder, self._output = encoder.name, encoder, output
        cells, width = encoder.grid
        self.dimension = encoder.dimension if output == "pooled" else cells * width
        self.identity = encoder.identity if output == "pooled" else f"{encoder.identity}-grid"
        self.contents: dict[str, bytes] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        contents = [self.contents[text] for text in texts]
        if self._output == "pooled":
            return self._encoder.encode(contents, _passing)
        return self._encoder.encode_grid(contents, _passing).reshape(len(contents), -1)


class Warner:
    """Warns of the first pictures that cannot be used, each once, and then says that there are more."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __call__(self, reference: Reference, problem: EntlinkError) -> None:
        name = shown(reference)
        if name in self._told or len(self._told) > _TOLD:
            return
        self._told.add(name)
        if len(self._told) > _TOLD:
            _log.warning("further pictures cannot be used, and are left out in silence")
        else:
            _log.warning("%s. It is left out, and what it belongs to is not", str(problem).rstrip("."))


def _raising(reference: Reference, problem: EntlinkError) -> None:
    raise problem


def _passing(number: int, problem: Exception) -> None:
    """The row stays zero."""
