"""An encoder of pictures in onnxruntime: pictures are decoded, prepared and run in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from entlink.encoders.images.layers import CHANNELS, GRID, PIXELS, POOLED, TEXT
from entlink.encoders.images.pictures import decode_in_quiet, quiet
from entlink.errors import ConfigError, InputError

if TYPE_CHECKING:
    from entlink.encoders.images.preparing import Preparation
    from entlink.interfaces import OnPictureProblem, Vectors

BATCH = 16  # pictures that are run at once
_ENOUGH = 2  # times the pixels that are wanted: what a large JPEG is decoded to before it is resized
_THREADS = 2  # that decode and resize: Pillow lets go of the lock for that
_TEXTS = 64  # texts that are run at once


class TextTower:
    """The half of a CLIP that reads texts."""

    def __init__(self, session: Any, tokenizer: Any, length: int, end: int, scale: float) -> None:
        self._session, self._tokenizer = session, tokenizer
        self.length, self.end, self.scale = length, end, scale

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row a text, of unit length; of a long text the beginning is read."""
        rows = [self._run(texts[start : start + _TEXTS]) for start in range(0, len(texts), _TEXTS)]
        return unit_rows(numpy.concatenate(rows)) if rows else numpy.zeros((0, 0), numpy.float32)

    def _run(self, texts: Sequence[str]) -> Vectors:
        read = [self._cut(self._tokenizer.encode(text).ids) for text in texts]
        longest = max(map(len, read))
        # What comes behind the end of a text is never looked at, so that any sign fills it up.
        ids = numpy.array([[*row, *[self.end] * (longest - len(row))] for row in read], numpy.int64)
        ends = numpy.array([[row.index(self.end)] for row in read], numpy.int64)
        found: Vectors = self._session.run([TEXT], {"input_ids": ids, "end": ends})[0]
        return found

    def _cut(self, ids: Sequence[int]) -> list[int]:
        whole = list(ids) if self.end in ids else [*ids, self.end]
        return whole if len(whole) <= self.length else [*whole[: self.length - 1], self.end]


class OnnxPictureEncoder:
    """Pictures to vectors with a model in ONNX that entlink wrote."""

    def __init__(
        self,
        name: str,
        identity: str,
        session: Any,
        preparation: Preparation,
        where: Path,
        text: Callable[[], TextTower] | None = None,
    ) -> None:
        self.name, self.identity, self.preparation = name, identity, preparation
        self._session, self._open_text = session, text
        self._tower: TextTower | None = None
        self.dimension, self.grid = _shapes(session, preparation, where)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.identity}>"

    @property
    def texts(self) -> TextTower:
        """What reads texts, loaded when it is first asked for."""
        if self._open_text is None:
            raise ConfigError(f"the encoder {self.name!r} reads pictures only. Texts are read by a CLIP")
        if self._tower is None:
            self._tower = self._open_text()
        return self._tower

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """A row a text, of unit length: its product with the row of a picture says how well they go together."""
        return self.texts.encode(texts) if texts else numpy.zeros((0, self.dimension), numpy.float32)

    def encode(self, pictures: Sequence[bytes], on_problem: OnPictureProblem | None = None) -> Vectors:
        """A row a picture, of unit length."""
        found = numpy.zeros((len(pictures), self.dimension), numpy.float32)
        for places, rows in self._batches(pictures, POOLED, on_problem):
            found[places] = unit_rows(rows)
        return found

    def encode_grid(self, pictures: Sequence[bytes], on_problem: OnPictureProblem | None = None) -> Vectors:
        """For each picture a row for each cell of its map, line after line, as the model gives them."""
        found = numpy.zeros((len(pictures), *self.grid), numpy.float32)
        for places, rows in self._batches(pictures, GRID, on_problem):
            found[places] = rows
        return found

    def _batches(
        self, pictures: Sequence[bytes], output: str, on_problem: OnPictureProblem | None
    ) -> Iterator[tuple[list[int], Vectors]]:
        for start in range(0, len(pictures), BATCH):
            ready = dict(self._prepared(pictures[start : start + BATCH], start, on_problem))
            if ready:
                rows = self._session.run([output], {PIXELS: numpy.stack(list(ready.values()))})[0]
                if not numpy.isfinite(rows).all():
                    raise InputError(
                        f"the encoder {self.name!r} gave no numbers (NaN or infinity): its weights are damaged. "
                        "Fetch them again"
                    )
                yield list(ready), rows

    def _prepared(
        self, pictures: Sequence[bytes], first: int, on_problem: OnPictureProblem | None
    ) -> Iterator[tuple[int, Vectors]]:
        numbers = range(first, first + len(pictures))
        with quiet(), ThreadPoolExecutor(_THREADS) as pool:
            for number, found in zip(numbers, pool.map(self._prepare, pictures, numbers), strict=True):
                if not isinstance(found, InputError):
                    yield number, found
                elif on_problem is None:
                    raise found
                else:
                    on_problem(number, found)

    def _prepare(self, content: bytes, number: int) -> Vectors | InputError:
        enough = _ENOUGH * max(self.preparation.size, self.preparation.shorter)
        try:
            return self.preparation.prepared(decode_in_quiet(content, f"picture {number + 1}", enough))
        except InputError as problem:
            return problem


def unit_rows(vectors: Vectors) -> Vectors:
    """The rows at length 1; rows of zeros stay."""
    lengths = numpy.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = (vectors / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)
    return scaled


def _shapes(session: Any, preparation: Preparation, where: Path) -> tuple[int, tuple[int, int]]:
    """How wide a vector is, and the shape of a grid: the model is run once, on nothing."""
    wanted = {one.name: one.shape for one in session.get_inputs()}.get(PIXELS)
    given = [CHANNELS, preparation.size, preparation.size]
    if wanted is None or list(wanted[1:]) != given:
        raise InputError(
            f"{where}: the model reads pictures of the shape {wanted}, and its card says {given}. Pull it anew"
        )
    pooled, grid = session.run([POOLED, GRID], {PIXELS: numpy.zeros((1, *given), numpy.float32)})
    return int(pooled.shape[-1]), (int(grid.shape[1]), int(grid.shape[2]))
