"""Of what coarse type a NIL is: a vote of its words, and of the entities that its name and document lead to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from entlink.documents import Candidate, Document, Link, Span
from entlink.errors import MissingExtraError
from entlink.interfaces import Linked
from entlink.kb.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from entlink.kb.indexes.words.search import WordSearch
    from entlink.kb.types.type_words import TypeWords

# How much each kind of votes weighs: measured by reproductions/schools_nil_types.py on its development mentions.
_WORDS, _DESCRIPTIONS, _CANDIDATES, _DOCUMENT = 1.0, 1.0, 0.5, 0.3
_LEADING = 10  # candidates, and entities whose descriptions have the words of the name
_CACHED = 50_000
Votes = Mapping[str, float]


class VotedTypes:
    """The coarse type with most votes.

    Votes are of the words of the name and those around it; of the entities whose descriptions have the words of the
    name, where the index over words is there; of the mention's candidates by their scores; and of what the document's
    other mentions are linked to. Where all that is nothing there is no type.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._described: dict[str, Votes] = {}

    def knowledge_base_changed(self) -> None:
        self._described.clear()
        self.__dict__.pop("_word_search", None)
        words = self.__dict__.get("_type_words")
        if words is not None and words.is_stale:
            del self.__dict__["_type_words"]

    def types_of(self, linked: Sequence[Linked]) -> list[dict[Span, str]]:
        """See `NilTyper.types_of`."""
        return [self._types_in(one) if one.untyped and self.kb.types.are_there else {} for one in linked]

    def _types_in(self, linked: Linked) -> dict[Span, str]:
        around = self._votes((one.entity, one.score) for one in linked.links if one.entity is not None)
        winners = ((one.mention.span, self._winner(linked.document, one, around)) for one in linked.untyped)
        return {span: type for span, type in winners if type is not None}

    def _winner(self, document: Document, link: Link, around: Votes) -> str | None:
        votes: dict[str, float] = defaultdict(float)
        for weight, own in (
            (_WORDS, self._type_words.of(document.text, link.mention.span)),
            (_DESCRIPTIONS, self._of_descriptions(link.mention.text)),
            (_CANDIDATES, self._of_candidates(link.candidates)),
            (_DOCUMENT, around),
        ):
            for type, share in own.items():
                votes[type] += weight * share
        return min(votes, key=lambda type: (-votes[type], type), default=None)

    def _of_candidates(self, candidates: Sequence[Candidate]) -> Votes:
        return self._votes((one.entity, one.score**0.5) for one in candidates[:_LEADING] if one.score > 0)

    def _of_descriptions(self, surface: str) -> Votes:
        """Of the entities in whose descriptions the words of a name are; the index is not made for this."""
        if self._word_search is None:
            return {}
        found = self._described.get(surface)
        if found is None:
            if len(self._described) >= _CACHED:
                self._described.clear()
            hits = self._word_search.search(surface, _LEADING)
            heads = [(head, one.score**2) for one in hits if (head := self.kb.head_of(one.key)) is not None]
            found = self._described[surface] = self._votes((id, score) for (id, _), score in heads)
        return found

    @cached_property
    def _word_search(self) -> WordSearch | None:
        from entlink.kb.indexes.derived import WORDS, derived_folder, is_complete
        from entlink.kb.indexes.words.search import WordSearch

        try:
            return WordSearch(self.kb) if is_complete(derived_folder(self.kb, WORDS)) else None
        except MissingExtraError:
            return None

    @cached_property
    def _type_words(self) -> TypeWords:
        from entlink.kb.types.type_words import TypeWords

        return TypeWords(self.kb)

    def _votes(self, entities: Iterable[tuple[str, float]]) -> Votes:
        """The coarse types of entities by their weights, which together are 1, or less where some have no type."""
        votes: dict[str, float] = defaultdict(float)
        total = 0.0
        for id, weight in entities:
            total += weight
            type = self.kb.types.coarse(id)
            if type is not None:
                votes[type] += weight
        return {type: weight / total for type, weight in votes.items()} if total else {}
