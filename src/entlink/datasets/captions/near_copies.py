"""Mentions whose entity's picture is nearly the caption's own: by the cosine of the two pictures' vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from entlink.datasets.captions.documents import NEAR_COPY, OWN
from entlink.documents import Document, GoldLink, Image
from entlink.errors import InputError
from entlink.kb.knowledge_base import KnowledgeBase


class NearCopies:
    """Marks the mentions whose entity's first picture has a cosine above a limit with that of the caption.

    Vectors of entities, and the encoder, are those of the knowledge base's index over pictures.
    """

    def __init__(self, kb: KnowledgeBase, above: float) -> None:
        from entlink.kb.indexes.vectors.pictures import has_pictures, picture_dual
        from entlink.kb.indexes.vectors.store import EntityVectors

        if not has_pictures(kb):
            raise InputError(
                f"{kb.folder}: near-copies are found by an index over pictures, and there is none. "
                f"Run `entlink kb index {kb.folder} --pictures efficientnet-lite0 --picture-folder FOLDER`"
            )
        self._kb, self._above = kb, above
        self._dual = picture_dual(kb)
        self._entities = EntityVectors(kb, self._dual)

    @property
    def encoder(self) -> str:
        """What the vectors are made with."""
        return self._dual.name

    def mark(self, documents: Sequence[Document], files: Sequence[Path | None]) -> list[Document]:
        """The documents, their mentions marked; `files` are their pictures, None where there is none."""
        found = [one for one, file in zip(documents, files, strict=True) if file is not None and _entities(one)]
        paths = {one.id: file for one, file in zip(documents, files, strict=True) if file is not None}
        if not found:
            return list(documents)
        pictured = [msgspec.structs.replace(one, images=(Image(str(paths[one.id])),)) for one in found]
        rows = {one.id: row for one, row in zip(found, self._dual.encode_documents(pictured), strict=True)}
        ids = dict.fromkeys(id for one in found for id in _entities(one))
        keys = {id: key for id in ids if (key := self._kb.key(id)) is not None}
        of_entities = dict(zip(keys, self._entities.of(list(keys.values())), strict=True))

        def marked(document: Document, gold: GoldLink) -> GoldLink:
            if document.id not in rows or not gold.entities or gold.meta.get("picture") == OWN:
                return gold
            cosine = float(rows[document.id] @ of_entities[gold.entities[0]])
            mark = {"picture": NEAR_COPY} if cosine > self._above else {}
            return msgspec.structs.replace(gold, meta={**gold.meta, **mark})

        return [msgspec.structs.replace(one, gold=tuple(marked(one, gold) for gold in one.gold)) for one in documents]


def _entities(document: Document) -> list[str]:
    return [gold.entities[0] for gold in document.gold if gold.entities]
