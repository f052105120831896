"""Candidates by the document's picture: entities whose pictures are most like it.

`entlink kb index NAME.kb --pictures ENCODER` makes the index that is searched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from entlink.documents import Candidate
from entlink.encoders.extras import require_images
from entlink.errors import ConfigError
from entlink.interfaces import Question, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from entlink.interfaces import Vectors


class PicturesRetriever:
    """The entities whose pictures are most like the first one of the document: the same for all its mentions.

    The score is the cosine. `encoder` is that of the index, unless it is named; `pictures` is the folder of entities'
    pictures, `fetch` takes those that are addresses. A document without a picture that can be used has none.
    """

    needs = "the extra images, and entlink kb index --pictures ENCODER"
    gives = ("pictures",)

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        limit: int = 30,
        encoder: str | None = None,
        pictures: str | None = None,
        fetch: bool = False,
    ) -> None:
        if limit < 1:
            raise ConfigError(f"limit = {limit} does not fit: it is 1 or more")
        require_images("retrieval by pictures")
        from entlink.kb.indexes.vectors.index import missing_index
        from entlink.kb.indexes.vectors.pictures import PictureCosines
        from entlink.kb.indexes.vectors.search import VectorSearch

        self.kb, self.limit = kb, limit
        self._types: frozenset[str] = frozenset()
        self._pictures = PictureCosines(kb, encoder=encoder, pictures=pictures, fetch=fetch)
        self._nearest = VectorSearch(kb, self._pictures.dual, self._pictures.entities)
        if not self._nearest.is_ready:
            raise missing_index(kb, self._pictures.dual)

    def keep_to_types(self, types: frozenset[str]) -> None:
        self._types = types

    def knowledge_base_changed(self) -> None:
        self._pictures.forget()

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        """The entities with the likest pictures, for each mention of a document with one."""
        found = self._found([question for question in questions if question.mentions])
        return [
            [
                () if self.kb.meaning(mention.text).blocked else found.get(id(question.document), ())
                for mention in question.mentions
            ]
            for question in questions
        ]

    def _found(self, questions: Sequence[Question]) -> dict[int, Sequence[Candidate]]:
        """The candidates of each document with a picture, by its `id()`."""
        rows: dict[int, Vectors] = self._pictures.documents(question.document for question in questions)
        if not rows:
            return {}
        import numpy

        nearest = self._nearest.search(numpy.stack(list(rows.values())), self.limit, self._types)
        return {document: self._candidates(own) for document, own in zip(rows, nearest, strict=True)}

    def _candidates(self, nearest: Sequence[tuple[int, float]]) -> list[Candidate]:
        heads = [(self.kb.head_of(key), cosine) for key, cosine in nearest]
        return [Candidate(head[0], cosine, {"pictures": cosine}, head[1]) for head, cosine in heads if head]

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        """The cosine of each candidate's picture and the document's; 0 where either is missing."""
        return [[{"pictures": cosine or 0.0} for cosine in own] for own in self._pictures.of(shortlists)]
