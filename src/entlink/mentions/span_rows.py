"""Spans as rows of numbers: their features, and what their words mean where they stand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from entlink.kb.knowledge_base import KnowledgeBase
from entlink.mentions.proposals import Proposal, proposals, words_of
from entlink.mentions.span_features import Seen, SpanFeatures, TextFeatures

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from entlink.encoders.text.transformer import TokenVectors, TransformerEncoder

    Floats = NDArray[numpy.float32]

_PLACES = 5
_ROWS_AT_ONCE = 2048
_TEXTS_AT_ONCE, _CHARACTERS_AT_ONCE = 32, 50_000


class Rows(NamedTuple):
    """The spans of a text that may be mentions, by start and end, and what makes rows of them."""

    spans: list[Proposal]
    features: TextFeatures
    vectors: _SpanVectors | None

    def parts(self) -> Iterator[Floats]:
        """A row a span, some at a time: those of a long text would fill the memory."""
        import numpy

        for start in range(0, len(self.spans), _ROWS_AT_ONCE):
            part = self.spans[start : start + _ROWS_AT_ONCE]
            rows = numpy.array(self.features.rows(part), numpy.float32)
            yield rows if self.vectors is None else numpy.concatenate((rows, self.vectors.rows(part)), axis=1)


class SpanReader:
    """Reads texts into rows; without an encoder, a row has the features only."""

    def __init__(self, kb: KnowledgeBase, encoder: TransformerEncoder | None) -> None:
        self.kb, self.encoder = kb, encoder
        self._features = SpanFeatures(kb)
        self._scanner = kb.scanner()

    def knowledge_base_changed(self) -> None:
        self._features.knowledge_base_changed()
        self._scanner = self.kb.scanner()

    def read(self, texts: Sequence[str], seen: Sequence[Callable[[str], Seen]]) -> Iterator[Rows]:
        """The rows of each text, with what was seen of names for it; a span without tokens has a vector of zeros."""
        for part in _batches([len(text) for text in texts]):
            batch = texts[part]
            tokens = self.encoder.encode_tokens(batch) if self.encoder is not None else [None] * len(batch)
            for text, own, known in zip(batch, tokens, seen[part], strict=True):
                words = words_of(text)
                spans = proposals(text, words, self._scanner.matches(text))
                features = TextFeatures(self._features, text, words, spans, known)
                yield Rows(spans, features, None if own is None else _SpanVectors(own))


class _SpanVectors:
    """Of each span's tokens, the mean, the first and the last; and the tokens before and after it."""

    def __init__(self, tokens: TokenVectors) -> None:
        import numpy

        self._vectors = tokens.vectors
        self._starts, self._ends = [start for start, _ in tokens.offsets], [end for _, end in tokens.offsets]
        # In double precision: over a long text the sums grow, and a span's mean is the difference of two.
        self._sums = numpy.zeros((len(tokens.vectors) + 1, tokens.vectors.shape[1]), numpy.float64)
        tokens.vectors.cumsum(axis=0, dtype=numpy.float64, out=self._sums[1:])

    def rows(self, spans: Sequence[Proposal]) -> Floats:
        import numpy

        count, size = self._vectors.shape
        found = numpy.zeros((len(spans), _PLACES, size), numpy.float32)
        for row, span in zip(found, spans, strict=True):
            first, last = bisect_right(self._ends, span.start), bisect_left(self._starts, span.end)
            if first < last:
                row[0] = (self._sums[last] - self._sums[first]) / (last - first)
                row[1], row[2] = self._vectors[first], self._vectors[last - 1]
                if first:
                    row[3] = self._vectors[first - 1]
                if last < count:
                    row[4] = self._vectors[last]
        return found.reshape(len(spans), _PLACES * size)


def _batches(lengths: Sequence[int]) -> Iterator[slice]:
    """Parts of some texts, of so many texts and characters at most; a text that is longer is alone."""
    start = total = 0
    for at, length in enumerate(lengths):
        if at > start and (at - start >= _TEXTS_AT_ONCE or total + length > _CHARACTERS_AT_ONCE):
            yield slice(start, at)
            start, total = at, 0
        total += length
    if lengths:
        yield slice(start, len(lengths))
