"""Texts with gold as tokens, a row a window of them, read once; entities are known by their row."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy

from entlink.encoders.joint.spans import spans_between
from entlink.learning.pairs.batches import TokenTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.encoders.joint.spans import Spans
    from entlink.encoders.joint.tokens import JointReader, PieceTokens
    from entlink.encoders.text.tokens import Tokens
    from entlink.encoders.text.windows import Window
    from entlink.io.progress import Progress
    from entlink.learning.joint.texts import TaughtMention, TaughtText

_READ_AT_ONCE = 512


class GoldSpan(NamedTuple):
    """A mention as tokens of its row, with the rows of the entities that it means, and of some that it does not."""

    first: int
    last: int
    right: tuple[int, ...]
    wrong: tuple[int, ...]
    optional: bool


class JointMaterial:
    """The windows of texts with what is gold in them.

    `snapped` counts gold that was moved to the ends of words, `left_out` gold that is no span the model can find:
    without tokens, longer than it looks, or beyond the end of its turn.
    """

    def __init__(self, reader: JointReader, texts: Sequence[TaughtText], progress: Progress, stage: str) -> None:
        self.reader, self.texts = reader, len(texts)
        wanted = dict.fromkeys(
            id for text in texts for one in text.mentions for id in (*one.entities, *one.negatives)
        )
        self.entity_ids = list(wanted)
        self._rows = {id: row for row, id in enumerate(self.entity_ids)}
        self.gold: list[list[GoldSpan]] = []
        self.weights: list[float] = []
        self.snapped = self.left_out = self.mentions = 0
        self._owns: list[tuple[int, int]] = []  # which of its tokens a window decides on
        self._flags: list[NDArray[numpy.uint8]] = []  # of each token: 1 begins a word, 2 ends one
        self.windows = TokenTable(self._taken_in(texts, progress, stage))
        self.negatives = [tuple(dict.fromkeys(id for one in own for id in one.wrong)) for own in self.gold]

    def __len__(self) -> int:
        return len(self.gold)

    def spans(self, at: int) -> Spans:
        """All spans of a row that its window decides on, as its own tokens."""
        flags = self._flags[at]
        return spans_between(flags & 1, flags & 2, self.reader.settings.longest, *self._owns[at])

    def digest(self) -> str:
        """What the texts are, as a checksum."""
        flags = hashlib.sha256(b"".join(one.tobytes() for one in self._flags)).digest()
        told = repr((self.entity_ids, self.gold, self.weights, self._owns)).encode()
        return hashlib.sha256(self.windows.digest() + flags + told).hexdigest()

    def _taken_in(self, texts: Sequence[TaughtText], progress: Progress, stage: str) -> Iterator[Tokens]:
        for start in range(0, len(texts), _READ_AT_ONCE):
            progress(stage, start, len(texts))
            part = texts[start : start + _READ_AT_ONCE]
            for text, read in zip(part, self.reader.read([text.piece for text in part]), strict=True):
                gold = self._gold(text, read)
                for window in self.reader.windows(read):
                    self._put(window, read, gold, text.weight)
                    yield self.reader.row(read, window)

    def _put(self, window: Window, read: PieceTokens, gold: list[GoldSpan], weight: float) -> None:
        first, last, from_, to = window
        own = (one for one in gold if from_ <= one.first < to)
        self.gold.append([one._replace(first=one.first - first, last=one.last - first) for one in own])
        self.weights.append(weight)
        self._owns.append((from_ - first, to - first))
        self._flags.append((read.begins[first:last] + 2 * read.ends[first:last]).astype(numpy.uint8))

    def _gold(self, text: TaughtText, read: PieceTokens) -> list[GoldSpan]:
        """The gold of a text as tokens; of two that are snapped to the same words, the first."""
        found: dict[tuple[int, int], GoldSpan] = {}
        for one in text.mentions:
            place = read.place(one.span) if one.span.end <= text.piece.end else None
            self.mentions += not one.optional
            if place is None or place[1] - place[0] > self.reader.settings.longest:
                self.left_out += not one.optional
                continue
            start, end = read.offsets[place[0]][0], read.offsets[place[1] - 1][1]
            self.snapped += (start, end) != (one.span.start, one.span.end)
            found.setdefault(place, self._span(place, one))
        return sorted(found.values())

    def _span(self, place: tuple[int, int], one: TaughtMention) -> GoldSpan:
        right, wrong = (tuple(self._rows[id] for id in ids) for ids in (one.entities, one.negatives))
        return GoldSpan(*place, right, wrong, one.optional)
