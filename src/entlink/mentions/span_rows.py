"""Spans as rows of numbers: their features, and what their words mean where they stand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from entlink.errors import ConfigError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.mentions.proposals import Proposal, proposals, words_of
from entlink.mentions.span_features import Seen, SpanFeatures

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from entlink.encoders.transformer import TokenVectors, TransformerEncoder

    Floats = NDArray[numpy.float32]


_PLACES = 5


class Rows(NamedTuple):
    """The spans of a text that may be mentions, and a row for each."""

    spans: list[Proposal]
    values: Floats


class SpanReader:
    """Reads texts into rows; without an encoder, a row has the features only."""

    def __init__(self, kb: KnowledgeBase, encoder: TransformerEncoder | None) -> None:
        self.kb, self.encoder = kb, encoder
        self._features = SpanFeatures(kb)
        self._scanner = kb.scanner()

    def knowledge_base_changed(self) -> None:
        self._features.knowledge_base_changed()
        self._scanner = self.kb.scanner()

    def read(self, texts: Sequence[str], seen: Sequence[Callable[[str], Seen]]) -> list[Rows]:
        """The rows of each text, with what was seen of names for it; a span without tokens has a vector of zeros."""
        import numpy

        vectors = self.encoder.encode_tokens(texts) if self.encoder is not None else [None] * len(texts)
        found = []
        for text, tokens, known in zip(texts, vectors, seen, strict=True):
            words = words_of(text)
            spans = proposals(text, words, self._scanner.matches(text))
            features = numpy.array(self._features.rows(text, words, spans, known), numpy.float32)
            features = features.reshape(len(spans), -1)
            if tokens is not None:
                features = numpy.concatenate((features, _vectors(tokens, spans)), axis=1) if spans else features
            found.append(Rows(spans, features))
        return found


def _vectors(tokens: TokenVectors, spans: Sequence[Proposal]) -> Floats:
    """Of each span's tokens, the mean, the first and the last; and the tokens before and after it."""
    import numpy

    starts, ends = [start for start, _ in tokens.offsets], [end for _, end in tokens.offsets]
    count, size = tokens.vectors.shape
    found = numpy.zeros((len(spans), _PLACES, size), numpy.float32)
    sums = numpy.concatenate((numpy.zeros((1, size), numpy.float32), tokens.vectors.cumsum(axis=0)))
    for row, span in enumerate(spans):
        first, last = bisect_right(ends, span.start), bisect_left(starts, span.end)
        if first < last:
            found[row, 0] = (sums[last] - sums[first]) / (last - first)
            found[row, 1], found[row, 2] = tokens.vectors[first], tokens.vectors[last - 1]
            if first:
                found[row, 3] = tokens.vectors[first - 1]
            if last < count:
                found[row, 4] = tokens.vectors[last]
    return found.reshape(len(spans), _PLACES * size)


def token_encoder(name: str) -> TransformerEncoder:
    """The encoder of that name, if it has a vector for each token."""
    from entlink.encoders.loading import load_encoder
    from entlink.encoders.transformer import TransformerEncoder

    encoder = load_encoder(name)
    if not isinstance(encoder, TransformerEncoder):
        raise ConfigError(f"the encoder {name!r} has no vectors of tokens in their context. Give a transformer")
    return encoder
