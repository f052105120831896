"""A joint model: one reading of a text tells which spans are mentions, and gives the vector of each.

Detection and linking ask the same object, which keeps what it has read last: a text is encoded once for both.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

import numpy

from entlink.encoders.dual import load_dual, unit
from entlink.encoders.joint.settings import joint_settings
from entlink.encoders.joint.spans import chances, mention_scores, span_means, spans_between
from entlink.encoders.joint.tokens import JointReader, Piece, PieceTokens
from entlink.encoders.models.hugging_face import read_tokenizer
from entlink.encoders.text.backends import OnnxBackend
from entlink.encoders.text.batching import batches
from entlink.encoders.trained.folder import GRAPH, HEAD, TOKENIZER, TrainedFolder, open_trained, trained_identity
from entlink.errors import ConfigError, DamagedError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.documents import Span
    from entlink.encoders.joint.spans import Spans
    from entlink.encoders.text.tokens import Tokens
    from entlink.encoders.text.windows import Window
    from entlink.encoders.trained.folder import Layer
    from entlink.interfaces import DualEncoder, Vectors

_AT_ONCE = 100_000  # characters that are read at once
_MOST_KEPT = 128_000_000  # bytes of what was read
_loaded: WeakValueDictionary[tuple[str, int | None], JointModel] = WeakValueDictionary()


class _Seen(NamedTuple):
    """A window as the model saw it: a row a token, of three scores and of the hidden state."""

    window: Window
    edges: Vectors
    hidden: Vectors


class Reading:
    """A piece of a text as the model read it."""

    def __init__(self, model: JointModel, piece: PieceTokens, seen: list[_Seen]) -> None:
        self.piece, self._model, self._seen = piece, model, seen

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(one.hidden.nbytes for one in self._seen)

    def scored(self) -> tuple[Spans, NDArray[numpy.float64]]:
        """All spans that may be mentions, as tokens of the piece, and their scores."""
        piece, longest = self.piece, self._model.settings.longest
        spans, scores = [numpy.zeros((0, 2), numpy.int64)], [numpy.zeros(0)]
        for (first, last, from_, to), edges, _ in self._seen:
            own = spans_between(piece.begins[first:last], piece.ends[first:last], longest, from_ - first, to - first)
            scores.append(mention_scores(edges, own))
            spans.append(own + first)
        return numpy.concatenate(spans), numpy.concatenate(scores)

    def characters(self, first: int, last: int) -> tuple[int, int]:
        """Where a span of tokens stands in the text."""
        return self.piece.offsets[first][0], self.piece.offsets[last - 1][1]

    def vectors(self, spans: Spans) -> Vectors:
        """The vector of each span of tokens, in the space of the entities."""
        rows = numpy.zeros((len(spans), self._model.width), numpy.float32)
        starts = [one.window.from_ for one in self._seen]
        for number, own in enumerate(numpy.searchsorted(starts, spans[:, 0], side="right") - 1):
            (first, last, _, _), _, hidden = self._seen[own]
            place = numpy.clip(spans[number : number + 1] - first, 0, last - first)
            rows[number] = span_means(hidden, place)[0]
        return self._model.projected(rows)

    def vectors_of(self, spans: Sequence[Span]) -> Vectors:
        """The vectors of spans of the text, by the words they touch; zeros where they touch none."""
        places = [self.piece.place(span) for span in spans]
        found = numpy.zeros((len(spans), self._model.dimension), numpy.float32)
        told = [at for at, place in enumerate(places) if place is not None]
        if told:
            found[told] = self.vectors(numpy.array([places[at] for at in told], numpy.int64))
        return found


class JointModel:
    """The model of a folder of the kind "joint"."""

    def __init__(self, trained: TrainedFolder, *, threads: int | None = None) -> None:
        card, folder = trained.card, trained.folder
        self.settings, self.name, self.dimension = joint_settings(card, folder), card.name, card.dimension
        if not (folder / GRAPH).is_file():
            raise DamagedError(f"{folder / GRAPH}: this file of the model {card.name!r} is missing. Train it again")
        self.reader = JointReader(read_tokenizer(folder), self.settings)
        self._backend = OnnxBackend(folder / GRAPH, threads)
        self.width, head = self._backend.dimension, trained.head()
        self._edges = _layer(trained, "edges", trained.layer(head, "edges", 3, self.width))
        self._entity = _layer(trained, "entity", trained.layer(head, "entity", self.dimension, self.width))
        files = trained.checksums(GRAPH, TOKENIZER, HEAD)
        self.identity = trained_identity(card.name, files, self.settings)
        self._kept: OrderedDict[tuple[str, str, int], Reading] = OrderedDict()
        self._size = 0
        self.encoded = 0  # pieces, those that were kept not counted again

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.identity}>"

    def readings(self, pieces: Sequence[Piece]) -> Iterator[Reading]:
        """The pieces as they are read, in their order; those read lately are not read again."""
        part: list[Piece] = []
        size = 0
        for piece in pieces:
            part.append(piece)
            size += piece.end - piece.start
            if size >= _AT_ONCE:
                yield from self._read(part)
                part, size = [], 0
        yield from self._read(part)

    def chances(self, scores: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
        """How likely spans of these scores are mentions."""
        return chances(scores, self.settings.slope, self.settings.shift)

    def projected(self, rows: Vectors) -> Vectors:
        """Means of hidden states as vectors in the space of the entities."""
        found = self._entity(rows)
        return unit(found) if self.settings.similarity == "cosine" else found

    def dual(self, encoder: str | None = None) -> DualEncoder:
        """What encodes entities; `encoder` where that is now elsewhere. Vectors of another one would mean nothing."""
        dual = load_dual(encoder or self.settings.entities)
        if dual.entity_identity != self.settings.entity_identity:
            raise ConfigError(
                f"the model {self.name!r} was trained towards vectors of entities by "
                f"{self.settings.entity_identity!r}, and these would be by {dual.entity_identity!r}. Give the "
                "encoder it was trained with as `encoder`, or train it again"
            )
        return dual

    def _read(self, pieces: Sequence[Piece]) -> list[Reading]:
        keys = [(self.reader.context(one), one.text[one.start : one.end], one.start) for one in pieces]
        here = {key: self._kept[key] for key in keys if key in self._kept}
        new = {key: piece for key, piece in zip(keys, pieces, strict=True) if key not in here}
        made = dict(zip(new, self._encoded(list(new.values())), strict=True))
        for key, reading in made.items():
            self._keep(key, reading)
        return [here[key] if key in here else made[key] for key in keys]

    def _keep(self, key: tuple[str, str, int], reading: Reading) -> None:
        self._kept[key] = reading
        self._size += reading.size
        while self._size > _MOST_KEPT:
            self._size -= self._kept.popitem(last=False)[1].size

    def _encoded(self, pieces: Sequence[Piece]) -> list[Reading]:
        self.encoded += len(pieces)
        read = self.reader.read(pieces) if pieces else []
        places = [(at, window) for at, one in enumerate(read) for window in self.reader.windows(one)]
        rows = [self.reader.row(read[at], window) for at, window in places]
        hidden: list[Vectors] = [numpy.zeros((0, 0), numpy.float32)] * len(rows)
        for batch in batches([len(row.ids) for row in rows]):
            for number, own in zip(batch, self._run([rows[at] for at in batch]), strict=True):
                hidden[number] = own
        seen: list[list[_Seen]] = [[] for _ in read]
        for (at, window), own in zip(places, hidden, strict=True):
            seen[at].append(_Seen(window, self._edges(own), own))
        return [Reading(self, piece, own) for piece, own in zip(read, seen, strict=True)]

    def _run(self, rows: Sequence[Tokens]) -> list[Vectors]:
        """The hidden states of the own tokens of each row."""
        ids = numpy.full((len(rows), max(len(row.ids) for row in rows)), self.reader.pad_id, numpy.int64)
        mask = numpy.zeros_like(ids)
        for at, row in enumerate(rows):
            ids[at, : len(row.ids)] = row.ids
            mask[at, : len(row.ids)] = 1
        hidden = self._backend.run(ids, mask)
        found = [hidden[at, row.first : row.last].astype(numpy.float32) for at, row in enumerate(rows)]
        if not all(numpy.isfinite(one).all() for one in found):
            raise InputError(
                f"the model {self.name!r} gave NaN or infinity for some text. Its weights are broken: "
                "train it again with a lower learning rate, or fetch it again"
            )
        return found


def load_joint(spec: str | Path, threads: int | None = None) -> JointModel:
    """The joint model by its name in the store, or from its folder; the same object for whoever asks for it."""
    from entlink.encoders.extras import require_retrieval

    require_retrieval("a joint model")
    if threads is not None and threads < 1:
        raise InputError(f"{threads} threads cannot work. Use 1 or more")
    trained = open_trained(spec, "joint")
    told = trained_identity(trained.card.name, trained.card.settings, trained.checksums(GRAPH, TOKENIZER, HEAD))
    model = _loaded.get((told, threads))
    if model is None:
        model = _loaded[told, threads] = JointModel(trained, threads=threads)
    return model


def _layer(trained: TrainedFolder, name: str, layer: Layer | None) -> Layer:
    if layer is None:
        raise DamagedError(
            f"{trained.folder / HEAD}: the layer {name!r} of the joint model {trained.card.name!r} is not here. "
            "Train the model again"
        )
    return layer
