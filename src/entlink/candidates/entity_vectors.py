"""Candidates by the words around a mention: entities near them in the space of words and entities.

`entlink kb index NAME.kb --entity-vectors` trains that space on the texts and links of the knowledge base.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from entlink.documents import Candidate
from entlink.encoders.extras import require_retrieval
from entlink.errors import ConfigError
from entlink.interfaces import Question, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from entlink.kb.indexes.entity_vectors.dual import WordAndEntityVectors
    from entlink.kb.indexes.vectors.search import VectorSearch


class EntityVectorsRetriever:
    """The entities nearest to the mean vector of the words around a mention, scored by the cosine.

    `surface` says how much the mention's own words count beside those around it; 0 hides the name. `reach` is how
    many characters on each side are read.
    """

    needs = "the extra retrieval, and entlink kb index --entity-vectors"
    gives = ("entity-vectors",)

    def __init__(self, kb: KnowledgeBase, *, limit: int = 30, surface: float = 1.0, reach: int = 200) -> None:
        for setting, value in (("limit", limit), ("reach", reach)):
            if value < 1:
                raise ConfigError(f"{setting} = {value} does not fit: it is 1 or more")
        if surface < 0:
            raise ConfigError(f"surface = {surface} does not fit: it is a weight, from 0 upwards")
        require_retrieval("retrieval by vectors of words and entities")
        self.kb, self.limit = kb, limit
        self._surface, self._reach = surface, reach
        self._types: frozenset[str] = frozenset()
        self._opened()

    def _opened(self) -> None:
        from entlink.kb.indexes.vectors.search import VectorSearch

        self.vectors: WordAndEntityVectors = self.kb.entity_vectors(surface=self._surface, reach=self._reach)
        self._nearest: VectorSearch = VectorSearch(self.kb, self.vectors.dual, self.vectors.entities)

    def keep_to_types(self, types: frozenset[str]) -> None:
        self._types = types

    def knowledge_base_changed(self) -> None:
        if self.vectors.folder.parent != self.kb.index_folder:
            self._opened()

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        """The nearest entities of each mention."""
        pairs = [(question.document, mention) for question in questions for mention in question.mentions]
        vectors = self.vectors.dual.encode_mentions(pairs)
        vectors[[self.kb.meaning(mention.text).blocked for _, mention in pairs]] = 0
        found = iter(self._nearest.search(vectors, self.limit, self._types))
        return [[self._candidates(next(found)) for _ in question.mentions] for question in questions]

    def _candidates(self, nearest: Sequence[tuple[int, float]]) -> list[Candidate]:
        heads = [(self.kb.head_of(key), cosine) for key, cosine in nearest]
        return [Candidate(head[0], cosine, {"entity-vectors": cosine}, head[1]) for head, cosine in heads if head]

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        """The cosine of each candidate and its mention; 0 for what has no vector."""
        pairs = [(one.document, one.mention) for one in shortlists]
        ids = list(dict.fromkeys(candidate.entity for one in shortlists for candidate in one.candidates))
        if not ids:
            return [() for _ in shortlists]
        places = {id: place for place, id in enumerate(ids)}
        entities, mentions = self.vectors.of(ids), self.vectors.dual.encode_mentions(pairs)
        return [
            [{"entity-vectors": float(entities[places[candidate.entity]] @ own)} for candidate in one.candidates]
            for one, own in zip(shortlists, mentions, strict=True)
        ]
