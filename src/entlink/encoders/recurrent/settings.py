"""The shape of a bidirectional language model of ELMo's kind, and how it reads words."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from entlink.errors import ConfigError

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
AtLeastZero = Annotated[int, msgspec.Meta(ge=0)]
Activation = Literal["relu", "tanh"]


class RecurrentShape(msgspec.Struct, frozen=True):
    """Sizes of the network.

    A word is read as `word_bytes` bytes at most, signs included, each a vector of `characters` values. `filters` are
    pairs of a width in bytes and how many filters have it. `highways` layers follow, and a projection to
    `projection` values. Each of the `layers` has `hidden` cells a direction, which are projected to as many values
    again. Values of cells and projections are cut off at `clip`. From the second layer on the input of a layer is
    added to its output. A language model of `lower` reads small letters only. `signs` says whether contexts and
    descriptions begin with signs of their own, or both as any sentence does.
    """

    word_bytes: AtLeastOne = 24
    characters: AtLeastOne = 16
    filters: tuple[tuple[AtLeastOne, AtLeastOne], ...] = ((1, 16), (2, 32), (3, 64), (4, 64), (5, 64))
    activation: Activation = "relu"
    highways: AtLeastZero = 1
    hidden: AtLeastOne = 256
    projection: AtLeastOne = 128
    layers: AtLeastOne = 2
    clip: Annotated[float, msgspec.Meta(gt=0)] = 3.0
    lower: bool = True
    signs: bool = True

    @property
    def features(self) -> int:
        """How many values a word has before its projection."""
        return sum(count for _, count in self.filters)


def checked_shape(shape: RecurrentShape) -> RecurrentShape:
    """The shape, if its parts fit together."""
    if not shape.filters:
        raise ConfigError("model.filters is empty: a word would have no value. Give pairs of a width and a number")
    widest = max(width for width, _ in shape.filters)
    if widest > shape.word_bytes:
        raise ConfigError(
            f"model.filters has one {widest} bytes wide, and a word is read as {shape.word_bytes} bytes "
            "(model.word_bytes). Set that higher, or leave the filter out"
        )
    if shape.word_bytes < 3:
        raise ConfigError("model.word_bytes is less than 3: two of them are the signs around a word")
    return shape
