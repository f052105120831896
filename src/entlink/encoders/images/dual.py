"""Documents and entities by their pictures, as a dual encoder: what an index over vectors is made with."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from entlink.encoders.cache import VectorCache
from entlink.encoders.images.cached import PictureVectors, Reference, Warner
from entlink.encoders.images.loading import load_picture_encoder
from entlink.encoders.images.pictures import Pictures, digest, pictures_folder
from entlink.errors import ConfigError, EntlinkError

if TYPE_CHECKING:
    from entlink.documents import Document, Entity, Mention
    from entlink.interfaces import PictureEncoder, Vectors

PICTURES = "pictures-"  # what the identity of an index over pictures begins with


class PictureDual:
    """The first picture of a document, and the first of an entity, in one space.

    All mentions of a document have the vector of its picture. What has no picture, or one that cannot be used, has a
    vector of zeros. `pictures` says where those of entities are, `of_documents` where those of documents are.
    """

    def __init__(
        self,
        encoder: PictureEncoder,
        pictures: Pictures | None = None,
        of_documents: Pictures | None = None,
        *,
        spec: str = "",
        cache: Path | None = None,
    ) -> None:
        self.encoder, self.name, self.dimension = encoder, encoder.name, encoder.dimension
        self.identity = self.entity_identity = f"{PICTURES}{encoder.identity}"
        self.similarity = "cosine"
        self.pictures, self._spec = pictures or Pictures(), spec
        self._entities = PictureVectors(encoder, self.pictures, folder=cache)
        self._documents = PictureVectors(encoder, of_documents, folder=cache)
        self._warn = Warner()
        self._cache = cache
        self._texts: VectorCache | None = None

    def encode_entities(self, entities: Sequence[Entity]) -> Vectors:
        return self._rows(self._entities, [entity_picture(entity) for entity in entities])

    def encode_documents(self, documents: Sequence[Document]) -> Vectors:
        """A row a document."""
        return self._rows(self._documents, [mention_picture(document) for document in documents])

    def encode_pictures(self, references: Sequence[Reference]) -> Vectors:
        """A row a picture; one that cannot be used is an error."""
        return self._documents.encode(references)

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """A row a text in the space of the pictures; an error unless the encoder reads texts, as a CLIP does."""
        if self._texts is None:
            place = pictures_folder() if self._cache is None else self._cache
            self._texts = VectorCache(place, _Texts(self.encoder))
            weakref.finalize(self, self._texts.close)
        return self._texts.encode(texts)

    def encode_mentions(self, mentions: Sequence[tuple[Document, Mention]]) -> Vectors:
        return self.encode_documents([document for document, _ in mentions])

    def entity_content(self, entity: Entity) -> str:
        """What the picture is known by, whatever its name; nothing where there is none that can be read."""
        return self._content(self._entities.pictures, entity_picture(entity))

    def mention_content(self, document: Document, mention: Mention) -> str:
        return self._content(self._documents.pictures, mention_picture(document))

    def recipe(self) -> dict[str, Any]:
        if not self._spec:
            return {}
        return {"load": self._spec, "pictures": str(self.pictures.folder.resolve()), "fetch": self.pictures.fetch}

    def _rows(self, vectors: PictureVectors, references: Sequence[str | None]) -> Vectors:
        found = numpy.zeros((len(references), self.dimension), numpy.float32)
        there: dict[int, Reference] = {row: one for row, one in enumerate(references) if one is not None}
        if there:
            found[list(there)] = vectors.encode(list(there.values()), self._warn)
        return found

    def _content(self, pictures: Pictures, reference: str | None) -> str:
        if reference is None:
            return ""
        try:
            return digest(pictures.read(reference))
        except EntlinkError as problem:
            self._warn(reference, problem)
            return ""


class _Texts:
    """The half of an encoder of pictures that reads texts, for a cache."""

    def __init__(self, encoder: PictureEncoder) -> None:
        encode: Callable[[Sequence[str]], Vectors] | None = getattr(encoder, "encode_texts", None)
        if encode is None:
            raise ConfigError(f"the encoder {encoder.name!r} reads pictures only. Texts are read by a CLIP")
        self._encode = encode
        self.name, self.identity, self.dimension = encoder.name, f"{encoder.identity}-texts", encoder.dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self._encode(texts)


def load_picture_dual(spec: str | Path, *, pictures: str | Path = "", fetch: bool = False) -> PictureDual:
    """The dual encoder of an encoder of pictures; names of entities' pictures are looked for in a folder."""
    encoder = load_picture_encoder(spec)
    return PictureDual(encoder, Pictures(Path(pictures), fetch), Pictures(fetch=fetch), spec=str(spec))


def mention_picture(document: Document) -> str | None:
    """The picture of all mentions of a document: its first."""
    return document.images[0].uri if document.images else None


def entity_picture(entity: Entity) -> str | None:
    """The picture of an entity: its first."""
    return entity.images[0] if entity.images else None
