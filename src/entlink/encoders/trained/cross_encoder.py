"""A cross-encoder: a mention and an entity read at once, and scored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from entlink.encoders.extras import require_retrieval
from entlink.errors import DamagedError, InputError

if TYPE_CHECKING:
    from entlink.documents import Document, Entity, Mention
    from entlink.encoders.text.tokens import Tokens
    from entlink.encoders.trained.folder import TrainedFolder

_CHUNK = 2048  # pairs whose tokens are put together and sorted by length at a time


class CrossEncoder:
    """The model of a folder of the kind "cross"."""

    def __init__(self, trained: TrainedFolder, *, threads: int | None = None) -> None:
        from entlink.encoders.trained.folder import GRAPH, HEAD, TOKENIZER, settings_of, trained_identity

        card = trained.card
        self._reader = trained.reader()
        self._tower = trained.tower(GRAPH, self._reader.settings.pooling, threads)
        layer = trained.layer(trained.head(), "score", 1, self._tower.dimension)
        if layer is None:
            raise DamagedError(
                f"{trained.folder / HEAD}: the layer 'score' of the cross-encoder {card.name!r} is not here. "
                "Export the model again"
            )
        self._layer, self.name = layer, card.name
        settings = settings_of(self._reader, "similarity", "separate")
        self.identity = trained_identity(card.name, trained.checksums(GRAPH, TOKENIZER, HEAD), settings)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.identity}>"

    def score(self, pairs: Sequence[tuple[Document, Mention, Entity]]) -> list[float]:
        """A score a pair, from minus to plus infinity: above 0 where the entity is more likely meant than not.

        Each mention and each entity is tokenised once, and pairs of like length are run together.
        """
        mentions = {(id(document), mention): (document, mention) for document, mention, _ in pairs}
        entities = {id(entity): entity for _, _, entity in pairs}
        read = dict(zip(mentions, self._reader.mentions(list(mentions.values())), strict=True))
        told = dict(zip(entities, self._reader.entities(list(entities.values())), strict=True))
        scores: list[float] = []
        for start in range(0, len(pairs), _CHUNK):
            some = pairs[start : start + _CHUNK]
            scores += self._scores(
                [
                    self._reader.joint(read[id(document), mention], told[id(entity)])
                    for document, mention, entity in some
                ]
            )
        return scores

    def _scores(self, joint: Sequence[Tokens]) -> list[float]:
        found: list[float] = self._tower(joint, self._layer)[:, 0].tolist()
        return found


def load_cross(spec: str | Path, threads: int | None = None) -> CrossEncoder:
    """The cross-encoder by its name in the store, or from its folder."""
    require_retrieval("a cross-encoder")
    from entlink.encoders.trained.folder import open_trained

    if threads is not None and threads < 1:
        raise InputError(f"{threads} threads cannot work. Use 1 or more")
    return CrossEncoder(open_trained(spec, "cross"), threads=threads)
