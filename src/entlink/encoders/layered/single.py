"""Encoders with one layer: averages of word vectors, bi-encoders, and any object that encodes texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy

from entlink.documents import Document, Entity, Mention, Span
from entlink.encoders.identities import identity_of
from entlink.errors import InputError

if TYPE_CHECKING:
    from entlink.encoders.static.encoder import StaticEncoder
    from entlink.interfaces import DualEncoder, Vectors

Mixing = Literal["softmax", "weights"]
_BETWEEN = " [SEP] "  # between a sentence and its mention, for an object that takes one text


class WordAverage:
    """The plain mean of word vectors: of the mention's words alone, or of the description's."""

    mixing: Mixing = "weights"
    layers = 1

    def __init__(self, encoder: StaticEncoder) -> None:
        self._encoder = encoder
        self.name, self.dimension = encoder.name, encoder.dimension
        self.identity = identity_of(encoder.name, encoder.identity, "average")

    def encode_contexts(self, contexts: Sequence[tuple[str, Span]]) -> Vectors:
        """One layer: the mean of each mention's words."""
        return self.encode_descriptions([text[span.start : span.end] for text, span in contexts])

    def encode_descriptions(self, texts: Sequence[str]) -> Vectors:
        """One layer: the mean of each text's words."""
        return self._encoder.average(texts)[None]


class DualLayers:
    """An encoder of mentions and entities: its two sides are the two representations."""

    mixing: Mixing = "weights"
    layers = 1

    def __init__(self, dual: DualEncoder) -> None:
        self._dual = dual
        self.name, self.dimension = dual.name, dual.dimension
        self.identity = identity_of(dual.name, dual.identity, "sides")

    def encode_contexts(self, contexts: Sequence[tuple[str, Span]]) -> Vectors:
        """One layer: the side of mentions."""
        pairs = [(Document(id="", text=text), Mention(span, text[span.start : span.end])) for text, span in contexts]
        return self._dual.encode_mentions(pairs)[None]

    def encode_descriptions(self, texts: Sequence[str]) -> Vectors:
        """One layer: the side of entities, which get no title beside their description."""
        return self._dual.encode_entities([Entity(id="", title="", description=text) for text in texts])[None]


class ObjectLayers:
    """Any object with `encode(list[str])`; a mention is given as `sentence [SEP] mention`.

    Its vectors are not known by their content unless it has an `identity`, and are not kept on disk then.
    """

    mixing: Mixing = "weights"
    layers = 1

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder
        self.name = str(getattr(encoder, "name", type(encoder).__name__))
        first = self._rows(["entity"])
        self.dimension = first.shape[1]
        identity = getattr(encoder, "identity", "")
        self.identity = identity_of(self.name, str(identity), "object") if identity else ""

    def encode_contexts(self, contexts: Sequence[tuple[str, Span]]) -> Vectors:
        """One layer: each sentence with its mention after it."""
        return self.encode_descriptions([f"{text}{_BETWEEN}{text[span.start : span.end]}" for text, span in contexts])

    def encode_descriptions(self, texts: Sequence[str]) -> Vectors:
        """One layer: a row a text."""
        return self._rows(texts)[None]

    def _rows(self, texts: Sequence[str]) -> Vectors:
        given = self._encoder.encode(list(texts))
        try:
            rows = numpy.asarray(given, numpy.float32)
        except (TypeError, ValueError) as problem:
            raise InputError(f"the encoder {self.name!r} gave no array of numbers ({problem})") from problem
        if rows.ndim != 2 or len(rows) != len(texts):
            raise InputError(
                f"the encoder {self.name!r} gave an array of {rows.shape} for {len(texts)} texts: its `encode` "
                "must give a row a text"
            )
        return rows
