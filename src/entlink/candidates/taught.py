"""Candidates that gold taught: what the mention's surface was linked to in documents with gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from entlink.documents import Candidate, Document, Mention
from entlink.interfaces import Question, Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.taught_names import read_taught


class TaughtRetriever:
    """The entities that a name led to in documents with gold; a score is the share of an entity there.

    `model` is a file that `entlink train names` made. Entities that are no longer there are left out. What
    a document itself taught does not count for it.
    """

    needs = "a file of entlink train names"
    gives = ("taught",)

    def __init__(self, kb: KnowledgeBase, *, model: str | Path, limit: int = 5) -> None:
        self.kb, self.limit = kb, limit
        self._taught = read_taught(Path(model))
        self._types: frozenset[str] = frozenset()

    def keep_to_types(self, types: frozenset[str]) -> None:
        self._types = types

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        return [
            [self._candidates(question.document, mention) for mention in question.mentions] for question in questions
        ]

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        """The share of what others found: 0 for entities that the name never led to."""
        return [
            [{"taught": shares.get(one.entity, 0.0)} for one in shortlist.candidates]
            for shortlist in shortlists
            for shares in (self._shares(shortlist.document, shortlist.mention),)
        ]

    def _shares(self, document: Document, mention: Mention) -> Mapping[str, float]:
        if self.kb.meaning(mention.text).blocked:
            return {}
        return self._taught.of(mention.text, self._taught.whose(document, mention.span))

    def _candidates(self, document: Document, mention: Mention) -> list[Candidate]:
        found: list[Candidate] = []
        for id, share in sorted(self._shares(document, mention).items(), key=lambda one: (-one[1], one[0])):
            entity = self.kb.get(id)
            wanted = not self._types or bool(self._types.intersection(self.kb.types(id)))
            if entity is not None and wanted and len(found) < self.limit:
                found.append(Candidate(id, share, {}, entity.title))
        return found
