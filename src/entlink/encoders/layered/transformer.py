"""A transformer as probes see it: every layer, its first token or the mean of those that are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy

from entlink.documents import Span
from entlink.encoders.identities import identity_of
from entlink.encoders.text.batching import batches
from entlink.encoders.text.tokens import Tokens
from entlink.encoders.text.transformer import TransformerEncoder, padded

if TYPE_CHECKING:
    from entlink.encoders.text.backends import Hidden
    from entlink.interfaces import Vectors

Pooled = Literal["cls", "mean"]
POOLED: tuple[Pooled, ...] = ("cls", "mean")


class TransformerLayers:
    """All layers of a transformer, the embedding first.

    With "cls" a mention is read as `[CLS] sentence [SEP] mention [SEP]`, and the first token stands for it and for a
    description. With "mean" the tokens of the mention in its sentence are averaged, and those of the description.
    """

    mixing: Literal["softmax", "weights"] = "weights"

    def __init__(self, encoder: TransformerEncoder, pooling: Pooled | None = None) -> None:
        self.pooling: Pooled = pooling or ("cls" if encoder.pooling == "cls" else "mean")
        self._backend, self._reader = encoder.parts
        self.name, self.dimension = encoder.name, encoder.dimension
        one = numpy.ones((1, 1), numpy.int64)
        self.layers = len(self._backend.run_layers(one, one, 0 * one))
        self.identity = identity_of(encoder.name, encoder.identity, "layers", self.pooling, self.layers)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.identity}>"

    def encode_contexts(self, contexts: Sequence[tuple[str, Span]]) -> Vectors:
        """Each layer's vector of each mention; zeros for a mention without a token."""
        if self.pooling == "cls":
            return self._encoded(self._reader.read_paired(contexts), is_paired=True)
        return self._encoded(self._reader.read_around(contexts))

    def encode_descriptions(self, texts: Sequence[str]) -> Vectors:
        """Each layer's vector of each text; of a text longer than the window, the beginning is read."""
        return self._encoded(self._reader.read(texts))

    def _encoded(self, read: Sequence[Tokens | None], *, is_paired: bool = False) -> Vectors:
        found = numpy.zeros((self.layers, len(read), self.dimension), numpy.float32)
        places = [place for place, tokens in enumerate(read) if tokens is not None]
        tokens = [one for one in read if one is not None]
        for batch in batches([len(one.ids) for one in tokens]):
            part = [tokens[at] for at in batch]
            ids, mask = padded(part)
            kinds = numpy.zeros_like(ids)
            if is_paired:
                for row, one in enumerate(part):
                    kinds[row, one.first : one.last] = 1
            rows = [places[at] for at in batch]
            for layer, hidden in enumerate(self._backend.run_layers(ids, mask, kinds)):
                found[layer, rows] = self._pooled(hidden, part)
        return found

    def _pooled(self, hidden: Hidden, part: Sequence[Tokens]) -> Vectors:
        if self.pooling == "cls":
            return hidden[:, 0]
        means = [hidden[row, one.first : one.last].mean(axis=0) for row, one in enumerate(part)]
        return numpy.stack(means)
