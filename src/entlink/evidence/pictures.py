"""How like a document's picture an entity's is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from entlink.encoders.images.dual import PictureDual
    from entlink.interfaces import Vectors
    from entlink.kb.indexes.vectors.store import EntityVectors


class PicturesEvidence:
    """The cosine between the first picture of the document and that of each candidate.

    A candidate has no number where either picture is missing or cannot be used. `encoder` is that of the index that
    `entlink kb index --pictures` made, unless it is named; `pictures` is the folder of entities' pictures, `fetch`
    takes those that are addresses. Nothing is loaded before the first document with a picture.
    """

    needs = "the extra images and an encoder of pictures"
    gives = ("pictures",)

    def __init__(
        self, kb: KnowledgeBase, *, encoder: str | None = None, pictures: str | None = None, fetch: bool = False
    ) -> None:
        self.kb = kb
        self._encoder, self._folder, self._fetch = encoder, pictures, fetch
        self._loaded: tuple[PictureDual, EntityVectors] | None = None

    def knowledge_base_changed(self) -> None:
        if self._loaded is not None:
            self._loaded[1].forget()

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        pictured = {id(one.document): one.document for one in shortlists if one.document.images and one.candidates}
        if not pictured:
            return [[{} for _ in one.candidates] for one in shortlists]
        dual, entities = self._opened()
        vectors = dual.encode_documents(list(pictured.values()))
        rows = {document: row for document, row in zip(pictured, vectors, strict=True) if row.any()}
        of_entities = self._of_entities(entities, [one for one in shortlists if id(one.document) in rows])
        return [
            [_number(rows.get(id(one.document)), of_entities.get(candidate.entity)) for candidate in one.candidates]
            for one in shortlists
        ]

    def _of_entities(self, entities: EntityVectors, shortlists: Sequence[Shortlist]) -> dict[str, Vectors]:
        """The vectors of all candidates that have a picture, by id."""
        ids = dict.fromkeys(candidate.entity for one in shortlists for candidate in one.candidates)
        keys = {id: key for id in ids if (key := self.kb.key(id)) is not None}
        vectors = entities.of(list(keys.values()))
        return {id: row for id, row in zip(keys, vectors, strict=True) if row.any()}

    def _opened(self) -> tuple[PictureDual, EntityVectors]:
        if self._loaded is None:
            from entlink.kb.indexes.vectors.pictures import picture_dual
            from entlink.kb.indexes.vectors.store import EntityVectors

            dual = picture_dual(self.kb, self._encoder, pictures=self._folder, fetch=self._fetch)
            self._loaded = dual, EntityVectors(self.kb, dual)
        return self._loaded


def _number(document: Vectors | None, entity: Vectors | None) -> Mapping[str, float]:
    return {} if document is None or entity is None else {"pictures": float(document @ entity)}
