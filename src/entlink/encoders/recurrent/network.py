"""The forward pass of a bidirectional language model of ELMo's kind, in numpy: all layers of all words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from entlink.encoders.recurrent.words import word_bytes
from entlink.errors import DamagedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.encoders.recurrent.settings import RecurrentShape
    from entlink.interfaces import Vectors

Weights = Mapping[str, "NDArray[numpy.float32]"]
_WORDS_AT_ONCE = 512
_MOST_KEPT = 200_000  # words


class RecurrentNetwork:
    """Weights with what is computed from them; vectors of words without their context are kept."""

    def __init__(self, weights: Weights, shape: RecurrentShape, source: str) -> None:
        self.shape = shape
        self._weights = _checked(weights, shape, source)
        self._kept: dict[str, Vectors] = {}

    def layers(self, texts: Sequence[Sequence[str]]) -> list[Vectors]:
        """Of each text an array [layers + 1, words, 2 projections]: the words alone, then each layer.

        The signs at the ends of a text are words of it, and given by the caller. A text must have a word.
        """
        lengths = numpy.array([len(text) for text in texts])
        order = numpy.argsort(-lengths, kind="stable")
        starts = lengths.cumsum() - lengths
        read = self.read([word for text in texts for word in text])
        sizes = [int((lengths > step).sum()) for step in range(int(lengths.max(initial=0)))]
        steps = numpy.repeat(numpy.arange(len(sizes)), sizes)
        of = order[numpy.concatenate([numpy.arange(size) for size in sizes])]
        forward, backward = starts[of] + steps, starts[of] + lengths[of] - 1 - steps
        both = [self._run("forwards", read, forward, sizes), self._run("backwards", read, backward, sizes)]
        whole = numpy.stack([numpy.concatenate(pair, axis=1) for pair in zip(*both, strict=True)])
        return [whole[:, start : start + length] for start, length in zip(starts, lengths, strict=True)]

    def read(self, words: Sequence[str]) -> Vectors:
        """The vectors of words without their context."""
        if len(self._kept) > _MOST_KEPT:
            self._kept.clear()
        new = [word for word in dict.fromkeys(words) if word not in self._kept]
        for start in range(0, len(new), _WORDS_AT_ONCE):
            part = new[start : start + _WORDS_AT_ONCE]
            self._kept.update(zip(part, self._read(part), strict=True))
        return numpy.stack([self._kept[word] for word in words])

    def _read(self, words: Sequence[str]) -> Vectors:
        weights, shape = self._weights, self.shape
        read = weights["reader.characters.weight"][word_bytes(words, shape.word_bytes)]  # [words, bytes, characters]
        parts = []
        for number, (width, count) in enumerate(shape.filters):
            windows = numpy.lib.stride_tricks.sliding_window_view(read, width, axis=1)  # [words, places, c, width]
            filters = weights[f"reader.filters.{number}.weight"].reshape(count, -1)
            flat = windows.reshape(len(words), windows.shape[1], -1)
            parts.append((flat @ filters.T).max(axis=1) + weights[f"reader.filters.{number}.bias"])
        found = numpy.concatenate(parts, axis=1)
        found = numpy.maximum(found, 0) if shape.activation == "relu" else numpy.tanh(found)
        for number in range(shape.highways):
            name = f"reader.highways.{number}"
            carry, new = numpy.split(found @ weights[f"{name}.weight"].T + weights[f"{name}.bias"], 2, axis=1)
            gate = _sigmoid(carry)
            found = gate * found + (1 - gate) * numpy.maximum(new, 0)
        projected: Vectors = found @ weights["reader.projection.weight"].T + weights["reader.projection.bias"]
        return projected

    def _run(self, side: str, read: Vectors, order: NDArray[numpy.int64], sizes: list[int]) -> list[Vectors]:
        """One direction: the words are packed in its order, and put back."""
        packed, found = read[order], [read]
        for number in range(self.shape.layers):
            made = self._layer(f"{side}.{number}", packed, sizes)
            packed = made + packed if number else made
            unpacked = numpy.empty_like(packed)
            unpacked[order] = packed
            found.append(unpacked)
        return found

    def _layer(self, name: str, packed: Vectors, sizes: list[int]) -> Vectors:
        """An LSTM with a projection over packed rows; gates are input, forget, output, new values."""
        weights, hidden, clip = self._weights, self.shape.hidden, self.shape.clip
        gates = packed @ weights[f"{name}.input"].T + weights[f"{name}.bias"]
        down, up = weights[f"{name}.recurrent"].T, weights[f"{name}.projection"].T
        states = numpy.empty((len(packed), up.shape[1]), numpy.float32)
        state, cell, start = states[:0], numpy.zeros((0, hidden), numpy.float32), 0
        for size in sizes:
            own = gates[start : start + size]
            if start:
                own += state[:size] @ down
            opened = _sigmoid(own[:, : 3 * hidden])
            made = opened[:, :hidden] * numpy.tanh(own[:, 3 * hidden :])
            if start:
                made += opened[:, hidden : 2 * hidden] * cell[:size]
            cell = numpy.clip(made, -clip, clip)
            state = numpy.clip((opened[:, 2 * hidden :] * numpy.tanh(cell)) @ up, -clip, clip)
            states[start : start + size] = state
            start += size
        return states


def _sigmoid(values: NDArray[Any]) -> NDArray[Any]:
    return 0.5 * (numpy.tanh(0.5 * values) + 1)  # never overflows


def _checked(weights: Weights, shape: RecurrentShape, source: str) -> dict[str, NDArray[numpy.float32]]:
    """The weights that the shape asks for, if they are there with their sizes and without NaN."""
    found = {}
    for name, size in weight_shapes(shape).items():
        value = weights.get(name)
        if value is None or tuple(value.shape) != size:
            has = "is not there" if value is None else f"is {tuple(value.shape)}"
            raise DamagedError(f"{source}: the weight {name!r} {has}, and {size} is wanted. Fetch or train it again")
        if not numpy.isfinite(value).all():
            raise DamagedError(f"{source}: the weight {name!r} has NaN or infinity in it. Fetch or train it again")
        found[name] = numpy.ascontiguousarray(value, numpy.float32)
    return found


def weight_shapes(shape: RecurrentShape) -> dict[str, tuple[int, ...]]:
    """The weights of a network by name, with their sizes."""
    from entlink.encoders.recurrent.words import BYTES

    features, hidden, projection = shape.features, shape.hidden, shape.projection
    found: dict[str, tuple[int, ...]] = {"reader.characters.weight": (BYTES, shape.characters)}
    for number, (width, count) in enumerate(shape.filters):
        found |= {
            f"reader.filters.{number}.weight": (count, shape.characters, width),
            f"reader.filters.{number}.bias": (count,),
        }
    for number in range(shape.highways):
        found |= {
            f"reader.highways.{number}.weight": (2 * features, features),
            f"reader.highways.{number}.bias": (2 * features,),
        }
    found |= {"reader.projection.weight": (projection, features), "reader.projection.bias": (projection,)}
    for side in ("forwards", "backwards"):
        for number in range(shape.layers):
            found |= {
                f"{side}.{number}.input": (4 * hidden, projection),
                f"{side}.{number}.recurrent": (4 * hidden, projection),
                f"{side}.{number}.bias": (4 * hidden,),
                f"{side}.{number}.projection": (projection, hidden),
            }
    return found
