"""Candidates whose names and descriptions hold the words of the mention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log1p
from typing import TYPE_CHECKING

from entlink.documents import Candidate
from entlink.errors import ConfigError, DamagedError
from entlink.interfaces import Question, Shortlist
from entlink.kb.indexes.words.search import Found, Weight, WordSearch
from entlink.kb.indexes.words.terms import terms_of

if TYPE_CHECKING:
    from entlink.documents import Document, Mention
    from entlink.kb.knowledge_base import KnowledgeBase

CONTEXT_TERMS = 10  # on each side of the mention
_CONTEXT_CHARACTERS = 300  # on each side: more than ten words take
_CACHED_CANDIDATES = 250_000  # about 400 bytes each, and almost every surface has as many as the limit
_CACHED_KEYS = 200_000


class BM25Retriever:
    """The entities whose words fit the mention's best; where a description is missing, by their names alone.

    With `context`, the words around the mention are looked for too, each with that weight beside 1 for the mention's
    own. Scores are those of `WordSearch`, in [0, 1); `count` tells how often an entity holds the mention's words.
    """

    needs = "the extra retrieval; its index is made at the first use"
    gives = ("bm25", "count")

    def __init__(
        self, kb: KnowledgeBase, *, limit: int = 30, k1: float = 1.2, b: float = 0.75, context: float = 0.0
    ) -> None:
        if not context >= 0:
            raise ConfigError(f"context = {context} does not fit: a word around the mention weighs 0 or more")
        self.kb, self.limit, self.context = kb, limit, context
        self.search = WordSearch(kb, k1=k1, b=b)
        self._types: frozenset[str] = frozenset()
        self._found: dict[str, tuple[Candidate, ...]] = {}
        self._keys: dict[str, int | None] = {}

    def keep_to_types(self, types: frozenset[str]) -> None:
        self._types = types
        self._found.clear()

    def knowledge_base_changed(self) -> None:
        self._found.clear()
        self._keys.clear()

    def retrieve(self, questions: Sequence[Question]) -> list[list[Sequence[Candidate]]]:
        if self.context > 0:
            return [
                [self._in_context(question.document, mention) for mention in question.mentions]
                for question in questions
            ]
        return [[self.candidates(mention.text) for mention in question.mentions] for question in questions]

    def candidates(self, surface: str) -> tuple[Candidate, ...]:
        """The candidates of a surface, whatever stands around it; cached."""
        found = self._found.get(surface)
        if found is None:
            if len(self._found) * self.limit >= _CACHED_CANDIDATES:
                self._found.clear()
            blocked = self.kb.meaning(surface).blocked
            hits = [] if blocked else self.search.search(surface, self.limit, self._types)
            found = self._found[surface] = self._candidates(hits)
        return found

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        """How often each candidate holds the mention's words, beside its score."""
        return [
            [{"bm25": weight.score, "count": log1p(weight.times)} for weight in self._weigh(*shortlist)]
            for shortlist in shortlists
        ]

    def _weigh(self, document: Document, mention: Mention, candidates: Sequence[Candidate]) -> list[Weight]:
        keys = [self._key(candidate.entity) for candidate in candidates]
        if self.context <= 0:
            return self.search.weigh(mention.text, keys)
        # How often the mention occurs is of its own words alone.
        own = self.search.weigh(mention.text, keys)
        around = self.search.weigh(self._query(document, mention), keys)
        return [weight._replace(times=one.times) for weight, one in zip(around, own, strict=True)]

    def _in_context(self, document: Document, mention: Mention) -> tuple[Candidate, ...]:
        if not terms_of(mention.text) or self.kb.meaning(mention.text).blocked:
            return ()
        hits = self.search.search(self._query(document, mention), self.limit, self._types)
        # How often the mention occurs is of its own words alone.
        own = self.search.weigh(mention.text, [hit.key for hit in hits])
        return self._candidates([hit._replace(times=one.times) for hit, one in zip(hits, own, strict=True)])

    def _query(self, document: Document, mention: Mention) -> dict[str, float]:
        """The words of the mention and those around it; of a conversation, none after the turn of the mention."""
        text, (start, end) = document.text, (mention.span.start, mention.span.end)
        last = end + _CONTEXT_CHARACTERS
        if document.turns:
            last = min(last, next((turn.end for turn in document.turn_spans if end <= turn.end), last))
        before = terms_of(text[max(0, start - _CONTEXT_CHARACTERS) : start])[-CONTEXT_TERMS:]
        after = terms_of(text[end:last])[:CONTEXT_TERMS]
        query: dict[str, float] = dict(Counter(terms_of(mention.text)))
        for term in (*before, *after):
            query[term] = query.get(term, 0.0) + self.context
        return query

    def _candidates(self, hits: Sequence[Found]) -> tuple[Candidate, ...]:
        candidates = []
        for key, score, times in hits:
            try:
                id, title = self.kb.head(key)
            except DamagedError:
                continue  # another process removed it just now
            candidates.append(Candidate(id, score, {"bm25": score, "count": log1p(times)}, title))
        return tuple(candidates)

    def _key(self, id: str) -> int:
        if id not in self._keys:
            if len(self._keys) >= _CACHED_KEYS:
                self._keys.clear()
            self._keys[id] = self.kb.key(id)
        key = self._keys[id]
        return -1 if key is None else key
