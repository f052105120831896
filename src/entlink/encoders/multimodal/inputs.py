"""What a multimodal model reads: states of texts by a BERT that stays as it is, and the cells of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import isqrt
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy

from entlink.encoders.images.cached import PictureVectors, Warner
from entlink.encoders.images.dual import entity_picture, mention_picture
from entlink.encoders.images.loading import load_picture_encoder, picture_identity
from entlink.encoders.images.pictures import Pictures
from entlink.encoders.text.batching import batches
from entlink.encoders.text.tokens import Tokens
from entlink.encoders.text.transformer import padded
from entlink.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from entlink.documents import Document, Entity, Mention
    from entlink.encoders.images.cached import Reference
    from entlink.encoders.multimodal.settings import Input, MultimodalSettings
    from entlink.encoders.text.backends import Backend
    from entlink.encoders.trained.pair_tokens import PairReader
    from entlink.interfaces import Encoder, Vectors


NOTHING: AbstractSet[Input] = frozenset()
_ABSENT = Tokens([], 0, 1)


class IdVectors(Protocol):
    """Vectors of entities by id; a row of zeros for one that has none. `identity` names what made them."""

    @property
    def dimension(self) -> int: ...

    @property
    def identity(self) -> str: ...

    def of(self, ids: Sequence[str]) -> Vectors: ...


class SideInputs(NamedTuple):
    """Texts and pictures of one side, as many rows; what is absent has zeros, and a mask of its first place alone."""

    states: Vectors  # [n, t, h]
    mask: Vectors  # [n, t]
    first: NDArray[numpy.int64]  # [n]
    last: NDArray[numpy.int64]  # [n]
    cells: Vectors  # [n, c, w]
    has_text: Vectors  # [n]
    has_picture: Vectors  # [n]


class StateEncoder:
    """Tokens to their states, as rows of one width: an encoder of texts that are lists of ids, for a cache."""

    def __init__(self, backend: Backend, identity: str, tokens: int) -> None:
        self.name = self.identity = identity
        self.tokens, self.width = tokens, backend.dimension
        self.dimension = tokens * backend.dimension
        self._backend = backend

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row a text: the states of its tokens one after the other, then zeros."""
        read = [Tokens([int(id) for id in text.split()], 0, 1) for text in texts]
        found = numpy.zeros((len(texts), self.tokens, self.width), numpy.float32)
        for batch in batches([len(one.ids) for one in read]):
            hidden = self._backend.run(*padded([read[at] for at in batch]))
            for row, at in enumerate(batch):
                size = len(read[at].ids)
                found[at, :size] = hidden[row, :size]
        return found.reshape(len(texts), self.dimension)


class TextStates:
    """States of tokens by an encoder, or by a cache of one."""

    def __init__(self, encoder: Encoder, tokens: int) -> None:
        self._encoder, self.tokens = encoder, tokens
        self.width = encoder.dimension // tokens

    def __call__(self, read: Sequence[Tokens]) -> Vectors:
        """The states [n, t, h] of tokens that are there; of absent ones, zeros."""
        longest = max((len(one.ids) for one in read), default=1) or 1
        found = numpy.zeros((len(read), longest, self.width), numpy.float32)
        there = [at for at, one in enumerate(read) if one.ids]
        if there:
            rows = self._encoder.encode([" ".join(map(str, read[at].ids)) for at in there])
            found[there] = rows.reshape(len(there), self.tokens, self.width)[:, :longest]
        return found


class PictureCells:
    """The cells of pictures, loaded when a picture is first asked for; one that cannot be used is absent."""

    def __init__(self, settings: MultimodalSettings, pictures: Pictures, cache: Path | None = None) -> None:
        self._settings, self._pictures, self._cache = settings, pictures, cache
        self._warn = Warner()
        self._opened: PictureVectors | None = None

    def __call__(self, references: Sequence[str | None]) -> tuple[Vectors, Vectors]:
        """The cells [n, c, w] of each picture, and whether it is there [n]."""
        settings = self._settings
        found = numpy.zeros((len(references), settings.cells, settings.picture_width), numpy.float32)
        there: dict[int, Reference] = {at: one for at, one in enumerate(references) if one is not None}
        if there:
            grid = self._vectors().encode(list(there.values()), self._warn)
            found[list(there)] = pooled_cells(grid, settings.cells)
        return found, numpy.asarray(found.any(axis=(1, 2)), numpy.float32)

    def _vectors(self) -> PictureVectors:
        if self._opened is None:
            settings = self._settings
            encoder = load_picture_encoder(settings.pictures)
            _check_identity(settings, encoder.identity)
            self._opened = PictureVectors(encoder, self._pictures, output="grid", folder=self._cache)
        return self._opened


class InputReader:
    """Mentions and entities to the inputs of a model.

    `vectors` gives the vectors of entities by id, for a model that reads them in the place of their texts.
    """

    def __init__(
        self,
        settings: MultimodalSettings,
        reader: PairReader,
        states: TextStates,
        of_documents: PictureCells,
        of_entities: PictureCells,
        vectors: IdVectors | None = None,
    ) -> None:
        self.settings, self.reader = settings, reader
        self._states, self._of_documents, self._of_entities = states, of_documents, of_entities
        self._vectors = vectors
        if settings.entity_text == "vectors":
            _check_vectors(settings, vectors)

    def mentions(
        self,
        pairs: Sequence[tuple[Document, Mention]],
        without: AbstractSet[Input] = NOTHING,
        *,
        masked: bool = False,
    ) -> SideInputs:
        """What is read of mentions; with `masked` their names are hidden."""
        read = self.mention_tokens(pairs, masked=masked) if self._takes("mention-text", without) else []
        pictured = self._takes("mention-picture", without)
        cells = self._of_documents([mention_picture(one) if pictured else None for one, _ in pairs])
        return _side(read or [_ABSENT] * len(pairs), self._states, cells)

    def entities(self, entities: Sequence[Entity], without: AbstractSet[Input] = NOTHING) -> SideInputs:
        """What is read of entities."""
        pictured = self._takes("entity-picture", without)
        cells = self._of_entities([entity_picture(one) if pictured else None for one in entities])
        taken = self._takes("entity-text", without)
        if self.settings.entity_text == "vectors":
            return self._by_vectors(entities, cells, taken=taken)
        read = self.entity_tokens(entities) if taken else []
        return _side(read or [_ABSENT] * len(entities), self._states, cells)

    def mention_tokens(self, pairs: Sequence[tuple[Document, Mention]], *, masked: bool) -> list[Tokens]:
        """The tokens of each mention and of what is around it."""
        read = self.reader.mentions(pairs)
        if masked:
            read = [self.reader.hidden(one) for one in read]
        return [_without(one, (one.first - 1, one.last)) if self.reader.has_words(one) else one for one in read]

    def entity_tokens(self, entities: Sequence[Entity]) -> list[Tokens]:
        """The tokens of each entity; of one without title and description, none."""
        read = self.reader.entities(entities)
        told = (bool(one.title.strip() or one.description.strip()) for one in entities)
        read = [_without(one, (one.last,)) if self.reader.has_words(one) else one for one in read]
        return [tokens if is_told else _ABSENT for tokens, is_told in zip(read, told, strict=True)]

    def _by_vectors(self, entities: Sequence[Entity], cells: tuple[Vectors, Vectors], *, taken: bool) -> SideInputs:
        assert self._vectors is not None
        count = len(entities)
        rows = numpy.zeros((count, self.settings.entity_width), numpy.float32)
        if taken:
            rows = self._vectors.of([one.id for one in entities]).astype(numpy.float32)
        ends = numpy.zeros(count, numpy.int64)
        has = numpy.asarray(rows.any(axis=1), numpy.float32)
        return SideInputs(
            rows[:, None], numpy.ones((count, 1), numpy.float32), ends, ends + 1, cells[0], has, cells[1]
        )

    def _takes(self, name: Input, without: AbstractSet[Input]) -> bool:
        return name in self.settings.uses and name not in without


def pooled_cells(grid: Vectors, cells: int) -> Vectors:
    """A map of square cells [n, C, w] as one of fewer, by means: each new cell is that of the old ones it covers."""
    count, width = grid.shape[1:]
    if cells == count:
        return grid
    side, wanted = isqrt(count), isqrt(cells)
    check_cells(cells, count)
    square = grid.reshape(len(grid), side, side, width)
    starts = [at * side // wanted for at in range(wanted)]
    ends = [-(-(at + 1) * side // wanted) for at in range(wanted)]
    places = list(zip(starts, ends, strict=True))
    parts = [square[:, a:b, c:d].mean(axis=(1, 2)) for a, b in places for c, d in places]
    return numpy.stack(parts, axis=1)


def check_encoder(settings: MultimodalSettings) -> None:
    """Raise unless the encoder of pictures that a model was trained with is there; it is not loaded."""
    if {"mention-picture", "entity-picture"} & set(settings.uses):
        _check_identity(settings, picture_identity(settings.pictures))


def _check_identity(settings: MultimodalSettings, identity: str) -> None:
    if identity != settings.picture_identity:
        raise ConfigError(
            f"the model was trained on pictures by {settings.picture_identity!r}, and {settings.pictures!r} "
            f"is {identity!r} now. Pull that encoder again, or train the model anew"
        )


def check_cells(cells: int, count: int) -> None:
    """Raise unless a map of `count` cells can be made one of `cells`."""
    if cells == count or (isqrt(cells) ** 2 == cells and isqrt(count) ** 2 == count and cells < count):
        return
    raise ConfigError(
        f"multimodal.cells = {cells} does not fit an encoder with {count}: give {count}, or a smaller square"
    )


def _check_vectors(settings: MultimodalSettings, vectors: IdVectors | None) -> None:
    if vectors is None:
        raise ConfigError("this model reads vectors of entities in the place of their texts. Give `vectors`")
    if vectors.identity != settings.entity_vectors or vectors.dimension != settings.entity_width:
        raise ConfigError(
            f"the model was trained on the vectors of entities {settings.entity_vectors!r}, and these are "
            f"{vectors.identity!r}. Give those, or train the model anew"
        )


def _without(read: Tokens, places: Sequence[int]) -> Tokens:
    """The tokens without the markers at some places: a BERT that is not trained on does not know what they mean."""
    before = sum(at < read.first for at in places)
    ids = [id for at, id in enumerate(read.ids) if at not in places]
    return Tokens(ids, read.first - before, read.last - before)


def _side(read: Sequence[Tokens], states: TextStates, cells: tuple[Vectors, Vectors]) -> SideInputs:
    rows = states(read)
    mask = numpy.zeros(rows.shape[:2], numpy.float32)
    for row, one in enumerate(read):
        mask[row, : len(one.ids) or 1] = 1
    first, last = (numpy.array([getattr(one, end) for one in read], numpy.int64) for end in ("first", "last"))
    has_text = numpy.array([bool(one.ids) for one in read], numpy.float32)
    return SideInputs(rows, mask, first, last, cells[0], has_text, cells[1])
