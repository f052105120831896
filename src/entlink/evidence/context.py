"""How well the words around a mention fit the text of a candidate, without a model."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import sqrt

from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.folding import is_spaceless
from entlink.text.word_frequency import word_frequency

_WORD = re.compile(r"\w+")
_CACHED = 20_000
_RAREST = 6.0  # log10 per million, plus 2: what a word says is what is missing to that
_COMMONEST_OF_USE = 4.6  # words as common as "time" say nothing
_DESCRIPTION = 600  # characters
_WINDOW = 60  # words on either side


class ContextEvidence:
    """`context`: the words that the text around a mention and the candidate's description share, rare ones more.

    `title_context` is the same of the candidate's title: "Queen (band)" where the text speaks of a band.
    """

    gives = ("context", "title_context")

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._described: dict[str, tuple[frozenset[str], frozenset[str], float]] = {}
        self._weights: dict[str, float] = {}

    def knowledge_base_changed(self) -> None:
        self._described.clear()

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        found: list[Sequence[Mapping[str, float]]] = []
        text, words = "", _Words("")
        for shortlist in shortlists:
            if shortlist.document.text is not text:
                text = shortlist.document.text
                words = _Words(text)
            around = words.around(shortlist.mention.span.start, shortlist.mention.span.end)
            found.append([self._fit(around, one.entity) for one in shortlist.candidates])
        return found

    def _fit(self, around: frozenset[str], id: str) -> Mapping[str, float]:
        described = self._described.get(id)
        if described is None:
            if len(self._described) >= _CACHED:
                self._described.clear()
            described = self._described[id] = self._describe(id)
        words, title, norm = described
        shared = sum(map(self._weight, around & words))
        return {"context": shared / norm, "title_context": sum(map(self._weight, around & title))}

    def _describe(self, id: str) -> tuple[frozenset[str], frozenset[str], float]:
        entity = self.kb.get(id)
        if entity is None:
            return frozenset(), frozenset(), 1.0
        words = words_of(f"{entity.title} {' '.join(entity.types)} {(entity.description or '')[:_DESCRIPTION]}")
        words = frozenset(word for word in words if self._weight(word))
        return words, frozenset(words_of(entity.title)), sqrt(5.0 + len(words))

    def _weight(self, word: str) -> float:
        found = self._weights.get(word)
        if found is None:
            if len(self._weights) >= 10 * _CACHED:
                self._weights.clear()
            common = word_frequency(word).either
            found = self._weights[word] = 0.0 if common > _COMMONEST_OF_USE else (_RAREST - common) / _RAREST
        return found


class _Words:
    """The words of one text by their places, so that each window is a slice."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._words: list[str] = []
        for match in _WORD.finditer(text):
            for word in _pieces(match[0].lower()):
                self._starts.append(match.start())
                self._words.append(word)

    def around(self, start: int, end: int) -> frozenset[str]:
        """The words near a span, less those in it."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        own = self._words[first:last]
        near = self._words[max(0, first - _WINDOW) : first] + self._words[last : last + _WINDOW]
        return frozenset(near).difference(own)


def words_of(text: str) -> frozenset[str]:
    return frozenset(piece for word in set(_WORD.findall(text.lower())) for piece in _pieces(word))


def _pieces(word: str) -> Sequence[str]:
    """A word; of a script without spaces, its pairs of characters."""
    if not word.isascii() and len(word) > 2 and is_spaceless(word[0]):
        return [word[at : at + 2] for at in range(len(word) - 1)]
    if len(word) > 4 and word.endswith("s"):
        return (word[:-1],)
    return (word,)
