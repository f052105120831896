"""Which words go with which coarse type: naive Bayes over the titles and openings of a sample of entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, log
from typing import TYPE_CHECKING

from entlink.kb.indexes.words.terms import terms_of

if TYPE_CHECKING:
    from entlink.documents import Span
    from entlink.kb.knowledge_base import KnowledgeBase

# The numbers below are chosen by reproductions/schools_nil_types.py on its development mentions.
_ENTITIES, _TYPES = 5_000, 50
_OPENING = 400  # characters of a description
_AROUND, _CHARACTERS = 10, 200  # words on either side of a mention, and how far they are looked for
_OF_NAME, _OF_CONTEXT, _PRIOR = 0.6, 0.06, 0.3  # what a word counts, and how many entities have the type
_SEEN_IN = 2  # entities: a word of one alone says nothing


class TypeWords:
    """The probability of each coarse type of a mention, by the words of its name and those around it.

    Of a large knowledge base some entities are read, evenly spread, and the coarse types that most of them have are
    told apart: neither time nor memory grows with it.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb, self._last, self._told = kb, kb.last_key, kb.types.times_set
        self._entities: Counter[str] = Counter()
        words: dict[str, Counter[str]] = {}
        for type, terms in _typed(kb):
            self._entities[type] += 1
            for term in terms:
                words.setdefault(term, Counter())[type] += 1
        self._words = {term: counts for term, counts in words.items() if counts.total() >= _SEEN_IN}
        self._types = [type for type, _ in sorted(self._entities.items(), key=lambda one: (-one[1], one[0]))[:_TYPES]]

    @property
    def is_stale(self) -> bool:
        """Whether an edit may have changed what is read: of a large knowledge base a few entities are little."""
        last = self._kb.last_key
        return last <= _ENTITIES or last > 1.1 * self._last or self._kb.types.times_set != self._told

    def of(self, text: str, span: Span) -> Mapping[str, float]:
        """The probabilities for a mention in a text; nothing where none of the words is known."""
        sums = [_PRIOR * log(self._entities[type]) for type in self._types]
        is_known = False
        for weight, terms in (
            (_OF_NAME, terms_of(text[span.start : span.end])),
            (_OF_CONTEXT, _around(text, span)),
        ):
            for term in terms:
                if term in self._words:
                    is_known = True
                    sums = [one + weight * told for one, told in zip(sums, self._logs(term), strict=True)]
        return dict(zip(self._types, _probabilities(sums), strict=True)) if is_known else {}

    def _logs(self, term: str) -> Iterator[float]:
        """The logarithm of how likely an entity of each type has the term, with a little for those never seen."""
        counts, total = self._words[term], self._entities.total()
        for type in self._types:
            entities = self._entities[type]
            yield log((counts[type] + entities / total) / (entities + 1))


def _typed(kb: KnowledgeBase) -> Iterator[tuple[str, set[str]]]:
    """The coarse type and the words of entities, evenly spread."""
    last = kb.last_key
    for key in range(1, last + 1, -(-last // _ENTITIES) or 1):
        entity = kb.entity(key)
        type = entity and kb.types.coarse_of(entity.types)
        if entity and type:
            yield type, set(terms_of(f"{entity.title}\n{entity.description[:_OPENING]}"))


def _around(text: str, span: Span) -> Iterable[str]:
    """The words around, each once, in their order."""
    before = terms_of(text[max(0, span.start - _CHARACTERS) : span.start])[-_AROUND:]
    return dict.fromkeys((*before, *terms_of(text[span.end : span.end + _CHARACTERS])[:_AROUND]))


def _probabilities(sums: Sequence[float]) -> list[float]:
    most = max(sums)
    powers = [exp(one - most) for one in sums]
    total = sum(powers)
    return [one / total for one in powers]
