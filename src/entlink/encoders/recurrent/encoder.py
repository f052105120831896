"""EntELMo or ELMo as an encoder: of texts, of mentions in sentences, of descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy

from entlink.encoders.identities import identity_of
from entlink.encoders.models.card import ModelCard, check_files
from entlink.encoders.recurrent.network import RecurrentNetwork, Weights
from entlink.encoders.recurrent.settings import RecurrentShape, checked_shape
from entlink.encoders.recurrent.words import (
    CONTEXT_START,
    DESCRIPTION_START,
    SENTENCE_END,
    SENTENCE_START,
    Word,
    window_start,
    words,
    words_within,
)
from entlink.errors import ConfigError, DamagedError

if TYPE_CHECKING:
    from entlink.documents import Span
    from entlink.interfaces import Vectors

WEIGHTS = "weights.safetensors"
_WORDS_AT_ONCE = 4096
_LONGEST = 512  # words of a text that are read


class RecurrentEncoder:
    """All layers of EntELMo or ELMo: the words alone, then the output of each layer in both directions.

    A mention is the mean of its words in their sentence, a description the mean of all its words, as in EntEval. What
    has no word is a row of zeros.
    """

    mixing: Literal["softmax", "weights"] = "softmax"

    def __init__(self, name: str, identity: str, network: RecurrentNetwork) -> None:
        self.name, self.identity, self._network = name, identity, network
        shape = network.shape
        self.layers, self.dimension = shape.layers + 1, 2 * shape.projection
        self._lower = shape.lower
        self._context, self._description = (
            (CONTEXT_START, DESCRIPTION_START) if shape.signs else (SENTENCE_START, SENTENCE_START)
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.identity}>"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The last layer of each text as a description, of unit length."""
        rows = self.encode_descriptions(texts)[-1]
        lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
        found: Vectors = numpy.divide(rows, lengths, out=numpy.zeros_like(rows), where=lengths > 0)
        return found

    def encode_contexts(self, contexts: Sequence[tuple[str, Span]]) -> Vectors:
        """Every layer's vector of each mention, shaped layers, contexts, dimension."""
        read, places = [], []
        for text, span in contexts:
            found = words(text, lower=self._lower)
            first, last = words_within(found, span.start, span.end)
            start = window_start(first, last, len(found), _LONGEST)
            read.append([self._context, *_texts(found[start : start + _LONGEST]), SENTENCE_END])
            places.append((first - start + 1, min(last - start, _LONGEST) + 1))
        return self._means(read, places)

    def encode_descriptions(self, texts: Sequence[str]) -> Vectors:
        """Every layer's vector of each text, shaped layers, texts, dimension; of a long one, of its first words."""
        found = [_texts(words(text, lower=self._lower)[:_LONGEST]) for text in texts]
        read = [[self._description, *one, SENTENCE_END] for one in found]
        return self._means(read, [(1, len(one) + 1) for one in found])

    def _means(self, read: Sequence[Sequence[str]], places: Sequence[tuple[int, int]]) -> Vectors:
        """The mean of each text's words from the first to the last (exclusive), zeros where there is none."""
        rows = numpy.zeros((self.layers, len(read), self.dimension), numpy.float32)
        asked = [at for at, (first, last) in enumerate(places) if last > first]
        asked.sort(key=lambda at: len(read[at]))
        for part in _parts(asked, [len(one) for one in read]):
            for at, layers in zip(part, self._network.layers([read[at] for at in part]), strict=True):
                first, last = places[at]
                rows[:, at] = layers[:, first:last].mean(axis=1)
        return rows


def load_recurrent(folder: Path, card: ModelCard) -> RecurrentEncoder:
    """The encoder of a folder that `entlink train entelmo` wrote."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    check_files(folder, card)
    try:
        shape = checked_shape(msgspec.convert(card.settings, RecurrentShape))
    except (msgspec.ValidationError, ConfigError) as problem:
        raise DamagedError(
            f"{folder}: the settings in the card of the model {card.name!r} cannot be read ({problem}). "
            "Train it again"
        ) from problem
    path = folder / WEIGHTS
    try:
        weights: Weights = load_file(path)
    except (SafetensorError, OSError) as problem:
        raise DamagedError(f"{path}: these weights cannot be read ({problem}). Train the model again") from problem
    checksums = " ".join(f"{name} {file.sha256}" for name, file in sorted(card.files.items()) if name == WEIGHTS)
    identity = identity_of(card.name, f"{checksums} {shape}", "recurrent")
    return RecurrentEncoder(card.name, identity, RecurrentNetwork(weights, shape, str(path)))


def _texts(found: Sequence[Word]) -> list[str]:
    return [one.text for one in found]


def _parts(places: Sequence[int], lengths: Sequence[int]) -> list[list[int]]:
    """Places of about one length together, so many words at once."""
    found: list[list[int]] = []
    size = 0
    for at in places:
        if not found or size + lengths[at] > _WORDS_AT_ONCE:
            found.append([])
            size = 0
        found[-1].append(at)
        size += lengths[at]
    return found
