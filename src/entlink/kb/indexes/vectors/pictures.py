"""Entities by their pictures: those nearest to a picture, and the cosines of some of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from entlink.encoders.images.dual import PICTURES, PictureDual
from entlink.encoders.images.loading import DEFAULT, load_picture_encoder
from entlink.encoders.images.pictures import Pictures
from entlink.kb.indexes.derived import VECTORS, derived_indexes
from entlink.kb.indexes.vectors.search import VectorSearch

_PREFIX = f"{VECTORS}{PICTURES}"

if TYPE_CHECKING:
    from entlink.documents import Entity
    from entlink.encoders.images.cached import Reference
    from entlink.kb.knowledge_base import KnowledgeBase


class Pictured(NamedTuple):
    """An entity, and the cosine of its picture with one that was given."""

    entity: Entity
    cosine: float


def has_pictures(kb: KnowledgeBase) -> bool:
    """Whether the knowledge base has an index over pictures."""
    return any(one.name.startswith(_PREFIX) for one in derived_indexes(kb.index_folder))


def picture_dual(
    kb: KnowledgeBase,
    encoder: str | Path | None = None,
    *,
    pictures: str | Path | None = None,
    fetch: bool = False,
    cache: Path | None = None,
) -> PictureDual:
    """The encoder of an index over pictures; where entities' pictures are is what the index was made with.

    Without `encoder` it is that of the index there is, or EfficientNet-Lite0.
    """
    made = [one.card.settings["recipe"] for one in derived_indexes(kb.index_folder) if one.name.startswith(_PREFIX)]
    if encoder is None:
        encoder = made[0]["load"] if made else DEFAULT
    own: dict[str, Any] = next((recipe for recipe in made if recipe["load"] == str(encoder)), {})
    folder = Path(own.get("pictures", "") if pictures is None else pictures)
    of_entities = Pictures(folder, fetch or bool(own.get("fetch")))
    return PictureDual(
        load_picture_encoder(encoder), of_entities, Pictures(fetch=fetch), spec=str(encoder), cache=cache
    )


class PictureSearch:
    """Finds the entities whose pictures are most like a picture; `entlink kb index --pictures` makes its index."""

    def __init__(self, kb: KnowledgeBase, dual: PictureDual | None = None) -> None:
        self.kb = kb
        self.dual = picture_dual(kb) if dual is None else dual
        self._search = VectorSearch(kb, self.dual)

    def nearest(
        self, references: Sequence[Reference], limit: int = 10, types: frozenset[str] = frozenset()
    ) -> list[list[Pictured]]:
        """For each picture the entities with the likest ones, best first."""
        vectors = self.dual.encode_pictures(references)
        return [
            [Pictured(entity, score) for key, score in found if (entity := self.kb.entity(key)) is not None]
            for found in self._search.search(vectors, limit, types)
        ]


def nearest_to(kb: KnowledgeBase, reference: Reference, limit: int, types: Sequence[str] = ()) -> list[Pictured]:
    """The entities whose pictures are most like one picture, as `entlink kb search --picture` shows them."""
    return PictureSearch(kb).nearest([reference], limit, frozenset(types))[0]
