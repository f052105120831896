"""An encoder of mentions and entities that was trained to bring each mention near the entity it means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from entlink.encoders.dual import unit
from entlink.encoders.trained.folder import (
    ENTITY_GRAPH,
    GRAPH,
    HEAD,
    MENTION_GRAPH,
    TOKENIZER,
    TrainedFolder,
    open_trained,
    settings_of,
    trained_identity,
)
from entlink.errors import ConfigError, DamagedError

if TYPE_CHECKING:
    from entlink.documents import Document, Entity, Mention
    from entlink.encoders.text.tokens import Tokens
    from entlink.encoders.trained.folder import Head, Layer, Tower
    from entlink.interfaces import Vectors

_FEWEST_AROUND = 8  # tokens, signs and markers among them
_CHUNK = 4096  # mentions or entities that are tokenised and sorted by length at a time


class TrainedDual:
    """The model of a folder of the kind "dual": one tower for both sides or one for each, and perhaps a projection.

    With `similarity` "cosine", vectors have length 1; with "dot" they are as the model gives them. `spec` is what it
    was loaded by.
    """

    def __init__(self, trained: TrainedFolder, *, spec: str | None = None, threads: int | None = None) -> None:
        card = trained.card
        self._reader = trained.reader()
        settings = self._reader.settings
        graphs = (MENTION_GRAPH, ENTITY_GRAPH) if settings.separate else (GRAPH, GRAPH)
        self._mention_tower = trained.tower(graphs[0], settings.pooling, threads)
        self._entity_tower = self._mention_tower
        if settings.separate:
            self._entity_tower = trained.tower(graphs[1], settings.pooling, threads)
        head = trained.head()
        self._mention_layer = _layer(trained, head, "mention", self._mention_tower)
        self._entity_layer = _layer(trained, head, "entity", self._entity_tower)
        self.name, self.dimension = card.name, card.dimension
        self.similarity: str = settings.similarity
        self.spec = spec
        files = trained.checksums(graphs[1], TOKENIZER, HEAD)
        self.entity_identity = trained_identity(card.name, files, settings_of(self._reader, "mention_tokens"))
        self._files = trained.checksums(*graphs, TOKENIZER, HEAD)
        self.identity = trained_identity(card.name, self._files, settings_of(self._reader))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.identity}>"

    @property
    def knows_a_mask(self) -> bool:
        """Whether names can be hidden from it."""
        return self._reader.knows_a_mask

    @property
    def mention_tokens(self) -> int:
        """How many tokens it reads of a mention and what is around it, signs and markers among them."""
        return self._reader.settings.mention_tokens

    def with_names_hidden(self, tokens: int) -> TrainedDual:
        """The same model reading mentions without their names: so many tokens, signs and markers among them."""
        if not self.knows_a_mask:
            raise ConfigError(
                f"hidden = {tokens} does not fit: the tokenizer of {self.name!r} has no mask to hide by. Set it to 0"
            )
        least, most = _FEWEST_AROUND, self.mention_tokens
        if not least <= tokens <= most:
            raise ConfigError(
                f"hidden = {tokens} does not fit: {self.name!r} reads {least} to {most} tokens of a mention. Give as "
                "many, or 0 to let names be seen"
            )
        other = copy(self)
        other._reader = self._reader.hiding(tokens)
        other.identity = trained_identity(self.name, self._files, settings_of(other._reader), "hidden")
        return other

    def encode_mentions(self, mentions: Sequence[tuple[Document, Mention]]) -> Vectors:
        """A row a mention; those that read the same are encoded once."""
        rows = numpy.zeros((len(mentions), self.dimension), numpy.float32)
        for start, part in _chunks(mentions):
            read = self._reader.mentions(part)
            places = [at for at, tokens in enumerate(read) if self._reader.has_words(tokens)]
            found = self._encoded([read[at] for at in places], self._mention_tower, self._mention_layer)
            rows[[start + at for at in places]] = found
        return rows

    def encode_entities(self, entities: Sequence[Entity]) -> Vectors:
        rows = numpy.zeros((len(entities), self.dimension), numpy.float32)
        for start, part in _chunks(entities):
            read = self._reader.entities(part)
            rows[start : start + len(part)] = self._encoded(read, self._entity_tower, self._entity_layer)
        return rows

    def compare(self, mention: Vectors, entities: Vectors) -> Vectors:
        """How like the vector of a mention is to each of the rows of entities."""
        found: Vectors = numpy.einsum("ed,d->e", entities, mention)  # the same in any batch
        return found

    def mention_content(self, document: Document, mention: Mention) -> object:
        """The tokens that are read."""
        return _key(self._reader.mention(document, mention))

    def entity_content(self, entity: Entity) -> str:
        """The numbers of the tokens that are read."""
        tokens = self._reader.entity(entity)
        return f"{tokens.last} {' '.join(map(str, tokens.ids))}"

    def recipe(self) -> dict[str, Any]:
        return {} if self.spec is None else {"load": self.spec}

    def _encoded(self, read: Sequence[Tokens], tower: Tower, layer: Layer | None) -> Vectors:
        if not read:
            return numpy.zeros((0, self.dimension), numpy.float32)
        keys = [_key(tokens) for tokens in read]
        places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        distinct = dict(zip(keys, read, strict=True))
        rows = tower([distinct[key] for key in places], layer)
        if self.similarity == "cosine":
            rows = unit(rows)
        return rows[[places[key] for key in keys]]


def load_trained_dual(spec: str | Path, threads: int | None = None) -> TrainedDual:
    """The encoder of mentions and entities by its name in the store, or from its folder."""
    trained = open_trained(spec, "dual")
    named = str(Path(spec).resolve()) if trained.folder == Path(spec) else str(spec)
    return TrainedDual(trained, spec=named, threads=threads)


def _layer(trained: TrainedFolder, head: Head, side: str, tower: Tower) -> Layer | None:
    """The projection of a side; without one, the tower must be as wide as the vectors are to be."""
    layer = trained.layer(head, side, trained.card.dimension, tower.dimension)
    if layer is None and tower.dimension != trained.card.dimension:
        raise DamagedError(
            f"{trained.folder}: its card says {trained.card.dimension} numbers a vector, the tower of the {side} "
            f"gives {tower.dimension}, and {HEAD} has no layer {side!r} between. Export the model again"
        )
    return layer


def _key(tokens: Tokens) -> tuple[tuple[int, ...], int, int]:
    return tuple(tokens.ids), tokens.first, tokens.last


def _chunks(items: Sequence[Any]) -> Iterator[tuple[int, Sequence[Any]]]:
    for start in range(0, len(items), _CHUNK):
        yield start, items[start : start + _CHUNK]
