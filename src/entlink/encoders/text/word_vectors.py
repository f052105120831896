"""Words where they stand, as vectors of an encoder's middle layer, which tells more of words than its last."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from entlink.encoders.loading import load_token_encoder
from entlink.encoders.text.tokens import readable_end

if TYPE_CHECKING:
    from entlink.documents import Document, Mention
    from entlink.interfaces import Vectors

_REACH = 90  # characters on each side: what tells a word's meaning stands near it
_BATCH = 64


class WordVectors:
    """Reads the words of mentions with the encoder of a name or folder."""

    def __init__(self, encoder: str) -> None:
        self._encoder = load_token_encoder(encoder)
        self.identity, self.dimension = self._encoder.identity, self._encoder.dimension

    def of(
        self, mentions: Sequence[tuple[Document, Mention]], told: Callable[[int], None] = lambda done: None
    ) -> Vectors:
        """The mean of each mention's tokens; zeros for one that has none."""
        import numpy

        rows = numpy.zeros((len(mentions), self.dimension), numpy.float32)
        for start in range(0, len(mentions), _BATCH):
            told(start)
            near = [_near(*one) for one in mentions[start : start + _BATCH]]
            read = self._encoder.encode_tokens([text for text, _, _ in near])
            for row, tokens, (_, first, last) in zip(rows[start : start + _BATCH], read, near, strict=True):
                begin = bisect_right([end for _, end in tokens.offsets], first)
                end = bisect_left([begins for begins, _ in tokens.offsets], last)
                if begin < end:
                    row[:] = tokens.vectors[begin:end].mean(axis=0)
        return rows


def _near(document: Document, mention: Mention) -> tuple[str, int, int]:
    """What may be read around a mention, from the beginning of a word on, and where the mention is in it."""
    text, span = document.text, mention.span
    start = max(0, span.start - _REACH)
    if start:
        space = text.find(" ", start, span.start)
        start = space + 1 if space >= 0 else start
    end = min(readable_end(document, span.end), span.end + _REACH)
    return text[start:end], span.start - start, span.end - start
