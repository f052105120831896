"""Entities by their pictures: those nearest to a picture, and the cosines of some of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from entlink.encoders.images.dual import PictureDual
from entlink.encoders.images.loading import DEFAULT, load_picture_encoder
from entlink.encoders.images.pictures import Pictures
from entlink.kb.indexes.derived import PICTURES, derived_indexes
from entlink.kb.indexes.vectors.search import VectorSearch
from entlink.kb.indexes.vectors.store import EntityVectors

if TYPE_CHECKING:
    from entlink.documents import Document, Entity
    from entlink.encoders.images.cached import Reference
    from entlink.interfaces import Shortlist, Vectors
    from entlink.kb.knowledge_base import KnowledgeBase

_Key = TypeVar("_Key", int, str)


class Pictured(NamedTuple):
    """An entity, and the cosine of its picture with one that was given."""

    entity: Entity
    cosine: float


def has_pictures(kb: KnowledgeBase) -> bool:
    """Whether the knowledge base has an index over pictures."""
    return any(one.name.startswith(PICTURES) for one in derived_indexes(kb.index_folder))


def picture_dual(
    kb: KnowledgeBase,
    encoder: str | Path | None = None,
    *,
    pictures: str | Path | None = None,
    fetch: bool = False,
    cache: Path | None = None,
) -> PictureDual:
    """The encoder of an index over pictures; where entities' pictures are is what the index was made with.

    Without `encoder` it is that of the index there is, or EfficientNet-Lite0. Addresses are fetched only with
    `fetch`, even where the index was made with it; what was fetched then is in the user's cache.
    """
    made = [one.card.settings["recipe"] for one in derived_indexes(kb.index_folder) if one.name.startswith(PICTURES)]
    if encoder is None:
        encoder = made[0]["load"] if made else DEFAULT
    own: dict[str, Any] = next((recipe for recipe in made if recipe["load"] == str(encoder)), {})
    folder = Path(own.get("pictures", "") if pictures is None else pictures)
    return PictureDual(
        load_picture_encoder(encoder), Pictures(folder, fetch), Pictures(fetch=fetch), spec=str(encoder), cache=cache
    )


def pictures_of_entities(kb: KnowledgeBase) -> Pictures:
    """Where the pictures of entities are: where the index over them found them, else the working directory."""
    made = [one.card.settings["recipe"] for one in derived_indexes(kb.index_folder) if one.name.startswith(PICTURES)]
    return Pictures(Path(made[0].get("pictures", ""))) if made else Pictures()


class TextCosines(NamedTuple):
    """What an encoder that reads pictures and texts says of a document and a candidate."""

    picture_title: float | None  # the document's picture and the candidate's title
    caption_picture: float | None  # the document's text and the candidate's picture


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


class PictureCosines:
    """The cosines between documents' pictures and entities'; nothing is loaded before it is asked of a picture."""

    def __init__(
        self, kb: KnowledgeBase, *, encoder: str | None = None, pictures: str | None = None, fetch: bool = False
    ) -> None:
        self.kb = kb
        self._encoder, self._folder, self._fetch = encoder, pictures, fetch
        self._loaded: tuple[PictureDual, EntityVectors] | None = None

    @property
    def dual(self) -> PictureDual:
        """The encoder of both."""
        return self._opened()[0]

    @property
    def entities(self) -> EntityVectors:
        """The vectors of entities' pictures."""
        return self._opened()[1]

    def load(self) -> None:
        """Load the encoder now, so that what is missing is an error here."""
        self._opened()

    def forget(self) -> None:
        """The knowledge base has changed."""
        if self._loaded is not None:
            self._loaded[1].forget()

    def documents(self, documents: Iterable[Document]) -> dict[int, Vectors]:
        """The vector of each document's picture, by the document's `id()`; of those with one that can be used."""
        pictured = {id(one): one for one in documents if one.images}
        if not pictured:
            return {}
        vectors = self.dual.encode_documents(list(pictured.values()))
        return {document: row for document, row in zip(pictured, vectors, strict=True) if row.any()}

    def of(self, shortlists: Sequence[Shortlist]) -> list[list[float | None]]:
        """For each candidate the cosine of its picture and the document's; None where either is missing."""
        rows = self.documents(one.document for one in shortlists if one.candidates)
        entities = self._pictures_of(self._keys([one for one in shortlists if id(one.document) in rows]))
        return [
            [_cosine(rows.get(id(one.document)), entities.get(candidate.entity)) for candidate in one.candidates]
            for one in shortlists
        ]

    def of_texts(self, shortlists: Sequence[Shortlist]) -> list[list[TextCosines]]:
        """For each candidate the cosines across pictures and texts; None for those of a document without pictures."""
        asked = [one for one in shortlists if one.document.images and one.candidates]
        keys = self._keys(asked)
        pictures, entities = self.documents(one.document for one in asked), self._pictures_of(keys)
        titles = {id: head[1] for id, key in keys.items() if (head := self.kb.head_of(key)) is not None}
        captions = {id(one.document): one.document.text for one in asked}
        of_titles, of_captions = self._read(titles), self._read(captions)

        def cosines(document: int, entity: str) -> TextCosines:
            return TextCosines(
                _cosine(pictures.get(document), of_titles.get(entity)),
                _cosine(of_captions.get(document), entities.get(entity)),
            )

        return [[cosines(id(one.document), candidate.entity) for candidate in one.candidates] for one in shortlists]

    def _read(self, texts: Mapping[_Key, str]) -> dict[_Key, Vectors]:
        """The vector of each text that is not empty."""
        told = {key: text for key, text in texts.items() if text.strip()}
        return dict(zip(told, self.dual.encode_texts(list(told.values())), strict=True)) if told else {}

    def _keys(self, shortlists: Sequence[Shortlist]) -> dict[str, int]:
        ids = dict.fromkeys(candidate.entity for one in shortlists for candidate in one.candidates)
        return {id: key for id in ids if (key := self.kb.key(id)) is not None}

    def _pictures_of(self, keys: dict[str, int]) -> dict[str, Vectors]:
        """The vectors of the entities with a picture that can be used."""
        vectors = self.entities.of(list(keys.values())) if keys else ()
        return {id: row for id, row in zip(keys, vectors, strict=True) if row.any()}

    def _opened(self) -> tuple[PictureDual, EntityVectors]:
        if self._loaded is None:
            dual = picture_dual(self.kb, self._encoder, pictures=self._folder, fetch=self._fetch)
            self._loaded = dual, EntityVectors(self.kb, dual)
        return self._loaded


def _cosine(document: Vectors | None, entity: Vectors | None) -> float | None:
    return None if document is None or entity is None else float(document @ entity)


def nearest_to(kb: KnowledgeBase, reference: Reference, limit: int, types: Sequence[str] = ()) -> list[Pictured]:
    """The entities whose pictures are most like one picture, as `entlink kb search --picture` shows them."""
    return PictureSearch(kb).nearest([reference], limit, frozenset(types))[0]
