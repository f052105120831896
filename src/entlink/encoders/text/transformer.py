"""An encoder with a transformer in it: tokens, batches, pooling, and vectors in the caller's order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

import numpy

from entlink.documents import Span
from entlink.encoders.text.batching import batches
from entlink.encoders.text.tokens import Reader, Tokens
from entlink.encoders.text.windows import windows
from entlink.errors import InputError

if TYPE_CHECKING:
    from entlink.encoders.text.backends import Backend, Hidden, Ids
    from entlink.interfaces import Vectors

Pooling = Literal["mean", "cls", "span"]
POOLINGS: tuple[Pooling, ...] = ("mean", "cls", "span")
_CHUNK = 4096  # texts that are tokenised and sorted by length at a time
_Item = TypeVar("_Item")


class TokenVectors(NamedTuple):
    """The tokens of a text: where each stands in it, and a row for each."""

    offsets: list[tuple[int, int]]
    vectors: Vectors


class TransformerEncoder:
    """Texts, and spans of texts, to vectors of unit length.

    `mean` pools all tokens a model reads, `cls` takes its first, and `span` pools the tokens of the span, or of the
    text without the model's own signs. `span_pooling` is what `encode_spans` does.
    """

    def __init__(
        self,
        name: str,
        identity: str,
        backend: Backend,
        reader: Reader,
        pooling: Pooling,
        span_pooling: Pooling = "span",
        instruction: str = "",
    ) -> None:
        self.name, self.identity, self.dimension = name, identity, backend.dimension
        self.pooling, self.span_pooling = pooling, span_pooling
        self.instruction = instruction  # what is to be put before a text that asks, and not before one that is found
        self._backend, self._reader = backend, reader

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.identity}>"

    @property
    def parts(self) -> tuple[Backend, Reader]:
        """The model that runs, and what reads texts for it."""
        return self._backend, self._reader

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row a text, of unit length; of a text longer than the window, the beginning is read."""
        distinct = list(dict.fromkeys(texts))
        found = numpy.zeros((len(distinct), self.dimension), numpy.float32)
        for start, part in _chunks(distinct):
            self._fill(found[start : start + len(part)], self._reader.read(part), part, self.pooling)
        return found if len(distinct) == len(texts) else _spread(found, distinct, texts)

    def encode_spans(self, texts: Sequence[tuple[str, Span]]) -> Vectors:
        """A row a span, of unit length; of a text longer than the window, the part around the span is read."""
        distinct = list(dict.fromkeys(texts))
        found = numpy.zeros((len(distinct), self.dimension), numpy.float32)
        for start, part in _chunks(distinct):
            told = [text[span.start : span.end] for text, span in part]
            self._fill(found[start : start + len(part)], self._reader.read_around(part), told, self.span_pooling)
        return found if len(distinct) == len(texts) else _spread(found, distinct, texts)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """What each token of each text is where it stands; a text longer than the window is read in several.

        These rows are of the model's middle layer, as it gives them, not of unit length.
        """
        placed = self._reader.read_whole(texts)
        found = [numpy.zeros((len(one.ids), self.dimension), numpy.float32) for one in placed]
        room = self._reader.room
        parts = [
            (number, part) for number, one in enumerate(placed) for part in windows(len(one.ids), room, room // 8)
        ]
        tokens = [self._reader.marked(placed[number].ids[part.first : part.last]) for number, part in parts]
        for batch in batches([len(one.ids) for one in tokens]):
            hidden = self._backend.run_middle(*padded([tokens[at] for at in batch]))
            for row, at in enumerate(batch):
                (number, part), first = parts[at], tokens[at].first - parts[at][1].first
                found[number][part.from_ : part.to] = hidden[row, first + part.from_ : first + part.to]
        for text, vectors in zip(texts, found, strict=True):
            self._check(vectors, [text] * len(vectors))
        return [TokenVectors(one.offsets, vectors) for one, vectors in zip(placed, found, strict=True)]

    def _fill(self, rows: Vectors, read: list[Tokens | None], told: Sequence[str], pooling: Pooling) -> None:
        """Encode what has tokens; the other rows stay zero."""
        places = [place for place, tokens in enumerate(read) if tokens is not None]
        tokens = [one for one in read if one is not None]
        for batch in batches([len(one.ids) for one in tokens]):
            vectors = encoded(self._backend, [tokens[at] for at in batch], pooling)
            self._check(vectors, [told[places[at]] for at in batch])
            rows[[places[at] for at in batch]] = _unit(vectors)

    def _check(self, vectors: Vectors, told: Sequence[str]) -> None:
        bad = numpy.flatnonzero(~numpy.isfinite(vectors).all(axis=1))
        if bad.size:
            text = told[int(bad[0])]
            shown = text if len(text) <= 80 else f"{text[:79]}…"
            raise InputError(
                f"the encoder {self.identity!r} gave a vector with NaN or infinity for the text {shown!r}. "
                "Its weights are broken, or too large for its precision: fetch it again, or load it as fp32"
            )


def encoded(backend: Backend, batch: list[Tokens], pooling: Pooling) -> Vectors:
    """A row for each of some tokens that are run together, as the model gives it."""
    return _pooled(backend.run(*padded(batch)), batch, pooling)


def padded(batch: list[Tokens]) -> tuple[Ids, Ids]:
    """The ids and the mask of tokens that are run together."""
    longest = max(len(tokens.ids) for tokens in batch)
    ids = numpy.zeros((len(batch), longest), numpy.int64)
    mask = numpy.zeros((len(batch), longest), numpy.int64)
    for row, tokens in enumerate(batch):
        ids[row, : len(tokens.ids)] = tokens.ids
        mask[row, : len(tokens.ids)] = 1
    return ids, mask


def _pooled(hidden: Hidden, batch: list[Tokens], pooling: Pooling) -> Vectors:
    if pooling == "cls":
        return hidden[:, 0].astype(numpy.float32)
    bounds = [(0, len(one.ids)) if pooling == "mean" else (one.first, one.last) for one in batch]
    return numpy.stack([hidden[row, start:end].mean(axis=0) for row, (start, end) in enumerate(bounds)])


def _unit(vectors: Vectors) -> Vectors:
    lengths = numpy.linalg.norm(vectors.astype(numpy.float64), axis=1, keepdims=True)
    scaled: Vectors = (vectors / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)
    return scaled


def _chunks(items: list[_Item]) -> Iterator[tuple[int, list[_Item]]]:
    for start in range(0, len(items), _CHUNK):
        yield start, items[start : start + _CHUNK]


def _spread(found: Vectors, distinct: Sequence[_Item], items: Sequence[_Item]) -> Vectors:
    places = {item: place for place, item in enumerate(distinct)}
    return found[[places[item] for item in items]]
