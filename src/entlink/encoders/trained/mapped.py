"""An encoder of texts whose vectors of mentions go through a small map that was learnt over them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from entlink.encoders.dual import PlainDual, load_recipe, unit
from entlink.encoders.trained.folder import HEAD, open_trained, trained_identity
from entlink.errors import ConfigError, DamagedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.documents import Document, Entity, Mention
    from entlink.encoders.trained.folder import TrainedFolder
    from entlink.interfaces import Vectors


class MappedDual:
    """The model of a folder of the kind "map": `v + up(down(v))` of a mention, and entities as the encoder has them.

    So an index over the vectors of the encoder is one for the map as well.
    """

    similarity = "cosine"

    def __init__(self, trained: TrainedFolder, *, spec: str | None = None) -> None:
        card = trained.card
        plain = load_recipe({"load": card.settings.get("encoder")})
        if not isinstance(plain, PlainDual) or plain.identity != card.settings.get("identity"):
            raise ConfigError(
                f"{trained.folder}: this map was learnt over vectors of {card.settings.get('identity')!r}, and "
                f"{card.source!r} is {plain.identity!r} now. Train it again"
            )
        self._plain, self._down, self._up = plain, *_matrices(trained, plain.dimension)
        self.name, self.dimension, self.spec = card.name, plain.dimension, spec
        self.entity_identity = plain.entity_identity
        self.identity = trained_identity(card.name, trained.checksums(HEAD), plain.identity)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.identity}>"

    def encode_mentions(self, mentions: Sequence[tuple[Document, Mention]]) -> Vectors:
        rows = self._plain.encode_mentions(mentions)
        moved: Vectors = (rows + rows @ self._down.T @ self._up.T).astype(numpy.float32)
        return unit(moved)

    def encode_entities(self, entities: Sequence[Entity]) -> Vectors:
        return self._plain.encode_entities(entities)

    def mention_content(self, document: Document, mention: Mention) -> object:
        return self._plain.mention_content(document, mention)

    def entity_content(self, entity: Entity) -> str:
        return self._plain.entity_content(entity)

    def recipe(self) -> dict[str, Any]:
        """That of the encoder, which makes the vectors of entities."""
        return self._plain.recipe()


def load_mapped(spec: str | Path) -> MappedDual:
    """The map of a folder, or of the store by its name, with its encoder."""
    return MappedDual(open_trained(spec, "map"), spec=str(spec))


def _matrices(trained: TrainedFolder, width: int) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32]]:
    head = trained.head()
    down, up = head.get("down.weight"), head.get("up.weight")
    fits = down is not None and up is not None and down.shape == up.shape[::-1] and len(up) == width
    if down is None or up is None or not (fits and numpy.isfinite(down).all() and numpy.isfinite(up).all()):
        raise DamagedError(f"{trained.folder / HEAD}: this is no map of vectors of {width} numbers. Train it again")
    return down, up
