"""TyDE (paper 5, 4.3): a bi-encoder with layers that say of a mention, and of an entity, what type it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy

from entlink.encoders.dual import unit
from entlink.encoders.loading import card_of
from entlink.encoders.trained.bi_encoder import TrainedDual, load_trained_dual
from entlink.encoders.trained.folder import open_trained, trained_identity
from entlink.encoders.trained.type_names import TypeKind, read_type_names
from entlink.errors import DamagedError, InputError

if TYPE_CHECKING:
    from entlink.documents import Document, Mention
    from entlink.encoders.trained.folder import Head, Layer, TrainedFolder
    from entlink.interfaces import Vectors

TypeScores = Literal["dot", "probability"]


class TypedDual(TrainedDual):
    """A bi-encoder with types. Its vectors are as the model gives them, of any length: types are read from those."""

    def __init__(self, trained: TrainedFolder, *, threads: int | None = None) -> None:
        super().__init__(trained, threads=threads)  # without a name: by that, one without types is loaded
        names = read_type_names(trained.folder)
        if names is None:
            raise InputError(
                f"the model {self.name!r} is a bi-encoder without types, and one with types (TyDE) is wanted here. "
                "Train one with --set model.typed=true"
            )
        self.types, head = names, trained.head()
        self._of_mentions = {kind: self._type_layer(trained, head, "mention", kind) for kind in get_args(TypeKind)}
        self._of_entities = {kind: self._type_layer(trained, head, "entity", kind) for kind in get_args(TypeKind)}
        # Both layers with their biases as one square: 10,000 fine types cost no more than a few.
        self._squares = {
            kind: _with_bias(self._of_mentions[kind]).T @ _with_bias(self._of_entities[kind])
            for kind in get_args(TypeKind)
        }
        self._by_cosine = self.similarity == "cosine"
        self.similarity = "dot"
        self.entity_identity = trained_identity(self.name, self.entity_identity, "as they come")
        self.identity = trained_identity(self.name, self.identity, "as they come")

    def compare(self, mention: Vectors, entities: Vectors) -> Vectors:
        if self._by_cosine:
            mention, entities = unit(mention[None])[0], unit(entities)
        return super().compare(mention, entities)

    def compare_types(self, kind: TypeKind, mention: Vectors, entities: Vectors, scores: TypeScores) -> Vectors:
        """How well the types of a mention go with those of each of the rows of entities.

        "dot" is the product of what the two layers give, as in the paper: it may be below 0. "probability" is that of
        their softmax (coarse: the chance that both are of one type) or logistic (fine: how many types both have).
        """
        if scores == "dot":
            left, right = _and_one(mention[None])[0], _and_one(entities)
            products: Vectors = numpy.einsum("a,ab,eb->e", left, self._squares[kind], right, optimize=True)
            return products
        chances = _softmax if kind == "coarse" else _logistic
        own = chances(self._of_mentions[kind](mention[None]))[0]
        shared: Vectors = numpy.einsum("et,t->e", chances(self._of_entities[kind](entities)), own)
        return shared

    def mention_types(self, mentions: Sequence[tuple[Document, Mention]]) -> list[tuple[str, float]]:
        """The likeliest coarse type of each mention, and its probability."""
        if not mentions:
            return []
        chances = _softmax(self._of_mentions["coarse"](self.encode_mentions(mentions)))
        best = chances.argmax(axis=1)
        return [(self.types.coarse[place], float(row[place])) for row, place in zip(chances, best, strict=True)]

    def _type_layer(self, trained: TrainedFolder, head: Head, side: str, kind: TypeKind) -> Layer:
        name = f"{side}_{kind}"
        layer = trained.layer(head, name, len(getattr(self.types, kind)), self.dimension)
        if layer is None:
            raise DamagedError(
                f"{trained.folder}: the layer {name!r} of the model {self.name!r} is not here, and its types are. "
                "Export the model again"
            )
        return layer


def load_pair_dual(spec: str | Path, threads: int | None = None) -> TrainedDual:
    """The trained bi-encoder by its name in the store, or from its folder, with types if it has some."""
    found = card_of(spec)
    has_types = found is not None and read_type_names(found[0]) is not None
    return load_typed_dual(spec, threads) if has_types else load_trained_dual(spec, threads)


def load_typed_dual(spec: str | Path, threads: int | None = None) -> TypedDual:
    """The bi-encoder with types by its name in the store, or from its folder."""
    return TypedDual(open_trained(spec, "dual"), threads=threads)


def _with_bias(layer: Layer) -> Vectors:
    return numpy.concatenate([layer.weight, layer.bias[:, None]], axis=1)


def _and_one(rows: Vectors) -> Vectors:
    return numpy.concatenate([rows, numpy.ones((len(rows), 1), numpy.float32)], axis=1)


def _softmax(rows: Vectors) -> Vectors:
    powers = numpy.exp(rows - rows.max(axis=1, keepdims=True))
    shares: Vectors = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _logistic(rows: Vectors) -> Vectors:
    return (0.5 * (1 + numpy.tanh(rows / 2))).astype(numpy.float32)  # which does not overflow
