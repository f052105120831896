"""Mentions and entities in the space of words and entities that was trained for a knowledge base."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy

from entlink.encoders.dual import unit, window
from entlink.encoders.static.cooccurrence import information, product
from entlink.encoders.static.loading import load_static_folder
from entlink.errors import MissingModelError
from entlink.kb.indexes.derived import ENTITIES, derived_folder, is_complete, read_complete
from entlink.kb.indexes.entity_vectors.texts import DESCRIBED, described
from entlink.kb.indexes.search_rows import mapped
from entlink.kb.indexes.vectors.store import EntityVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.documents import Document, Entity, Mention
    from entlink.encoders.static.encoder import StaticEncoder
    from entlink.interfaces import Vectors
    from entlink.kb.knowledge_base import KnowledgeBase

WORDS, CONTEXTS, FOLDING, SHARES = "words", "contexts.json", "folding.npy", "shares.npy"
REACH = 200  # characters on each side of a mention
_CHARACTERS = DESCRIBED * 40  # of a description, which have all its first words


class WordSpace:
    """What turns counts of contexts into vectors: mapped, and opened from a folder."""

    def __init__(self, folder: Path) -> None:
        self.contexts = {
            word: number
            for number, word in enumerate(msgspec.json.decode((folder / CONTEXTS).read_bytes(), type=list[str]))
        }
        self._folding, self._shares = mapped(folder / FOLDING), numpy.asarray(mapped(folder / SHARES))

    @property
    def dimension(self) -> int:
        return int(self._folding.shape[1])

    def numbers(self, tokens: Sequence[str]) -> NDArray[numpy.int64]:
        """The contexts among some tokens."""
        known = self.contexts
        return numpy.array([known[token] for token in tokens if token in known], numpy.int64)

    def vectors(self, bags: Sequence[NDArray[numpy.int64]]) -> Vectors:
        """A row of length 1 for each bag of contexts; zeros for one that says nothing."""
        keys = [bag + row * len(self.contexts) for row, bag in enumerate(bags)]
        pairs, counts = numpy.unique(numpy.concatenate([numpy.zeros(0, numpy.int64), *keys]), return_counts=True)
        size = max(1, len(self.contexts))
        matrix = information(pairs // size, pairs % size, counts.astype(numpy.float64), len(bags), self._shares)
        return unit(product(matrix, numpy.asarray(self._folding)))


class WordEntityDual:
    """Mentions by the words around them, entities by their descriptions; vectors of links come from the index.

    The vector of a mention is the mean of the vectors of the words around it, and `surface` times that of its own
    words. An entity that changed since the index was made is known by its title and description alone.
    """

    name = ENTITIES
    index_name = ENTITIES
    similarity = "cosine"

    def __init__(self, folder: Path, *, surface: float = 1.0, reach: int = REACH) -> None:
        self.words: StaticEncoder = load_static_folder(folder / WORDS)
        self._space = WordSpace(folder)
        self.dimension = self.words.dimension
        self.identity = self.entity_identity = str(read_complete(folder).settings["identity"])
        self._surface, self._reach = surface, reach

    def encode_mentions(self, mentions: Sequence[tuple[Document, Mention]]) -> Vectors:
        around = self.words.encode([self._around(*one) for one in mentions])
        if not self._surface:
            return around
        own = self.words.encode([mention.text for _, mention in mentions])
        return unit(around + self._surface * own)

    def encode_entities(self, entities: Sequence[Entity]) -> Vectors:
        return self._space.vectors(
            [self._space.numbers(described(one.title, _start(one.description))) for one in entities]
        )

    def mention_content(self, document: Document, mention: Mention) -> object:
        return mention.text, self._around(document, mention)

    def entity_content(self, entity: Entity) -> str:
        return f"{entity.title}\n{_start(entity.description)}"

    def recipe(self) -> dict[str, Any]:
        return {}

    def _around(self, document: Document, mention: Mention) -> str:
        """The words on both sides, without the mention's own."""
        text = window(document, mention, self._reach)
        start = document.text.find(text, max(0, mention.span.start - self._reach))
        first, last = mention.span.start - start, mention.span.end - start
        return f"{text[:first]} {text[last:]}"


class WordAndEntityVectors:
    """The static vectors of a knowledge base's words and entities: those that `entlink kb index` trained.

    `of` gives a row of length 1 for each id, zeros for an entity that is not there, or has no word that is known.
    Entities that were added or changed since are known by their descriptions. Vectors are mapped.
    """

    def __init__(self, kb: KnowledgeBase, *, surface: float = 1.0, reach: int = REACH) -> None:
        self.kb = kb
        folder = derived_folder(kb, ENTITIES)
        if not is_complete(folder):
            raise MissingModelError(
                f"{kb.folder}: no vectors of words and entities. "
                f"Run `entlink kb index {kb.folder} --entity-vectors` to train them"
            )
        self.folder = folder
        self.dual = WordEntityDual(folder, surface=surface, reach=reach)
        self.entities = EntityVectors(kb, self.dual)

    @property
    def dimension(self) -> int:
        return self.dual.dimension

    @property
    def identity(self) -> str:
        """Names these vectors: others were trained at another time, or with other settings."""
        return self.dual.entity_identity

    @property
    def words(self) -> StaticEncoder:
        """The encoder of texts of the same space."""
        return self.dual.words

    def of(self, ids: Sequence[str]) -> Vectors:
        """A row an entity, by id."""
        keys = [self.kb.key(id) for id in ids]
        known = [row for row, key in enumerate(keys) if key is not None]
        vectors = numpy.zeros((len(ids), self.dimension), numpy.float32)
        if known:
            vectors[known] = self.entities.of([key for key in keys if key is not None])
        return vectors


def _start(description: str | None) -> str:
    return (description or "")[:_CHARACTERS]
