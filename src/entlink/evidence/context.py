"""How well the text around a mention, and the other entities of the document, fit a candidate: without a model."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from math import log1p, sqrt

from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.folding import is_spaceless
from entlink.text.word_frequency import word_frequency

_WORD = re.compile(r"\w+")
_CACHED = 12_000
_CACHED_WORDS = 200_000
_LONGEST_WORD = 40  # that is remembered
_RAREST = 6.0  # log10 per million, plus 2: what a word says is what is missing to that
_COMMONEST_OF_USE = 4.6  # words as common as "time" say nothing
_DESCRIPTION = 300  # characters
_WINDOW = 60  # words on either side
_TOGETHER = 60  # mentions whose candidates are compared
_LEADERS, _LIKELY = 2, 0.2  # candidates of a mention that speak for others, and how likely they are at least
_MOST = 2.0  # mentions that one word counts for


class ContextEvidence:
    """`context`: the words that the text around a mention and the candidate's description share, rare ones more.

    `others_context` is what the candidate's description shares with those of the other mentions' candidates: "Bulls"
    is the team beside "Jordan", whose descriptions speak of basketball. Both are logarithms: first words say most.
    """

    gives = ("context", "others_context")

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._described: dict[str, tuple[frozenset[str], float]] = {}
        self._vocabulary = _Vocabulary()

    def knowledge_base_changed(self) -> None:
        self._described.clear()

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        self._vocabulary.stay_small()
        found: list[Sequence[Mapping[str, float]]] = []
        for _, group in groupby(shortlists, key=lambda one: id(one.document)):
            found += self._of_document(list(group))
        return found

    def _of_document(self, shortlists: list[Shortlist]) -> Iterator[Sequence[Mapping[str, float]]]:
        words = _Words(shortlists[0].document.text, self._vocabulary)
        for first in range(0, len(shortlists), _TOGETHER):
            together = shortlists[first : first + _TOGETHER]
            own = [self._words_of_leaders(one) for one in together]
            others = _sum({one.mention.text: words for one, words in zip(together, own, strict=True)}.values())
            for shortlist, leading in zip(together, own, strict=True):
                span = shortlist.mention.span
                around = words.around(span.start, span.end)
                surface = frozenset(shortlist.mention.text.lower().split())
                yield [self._fit(one.entity, around, surface, others, leading) for one in shortlist.candidates]

    def _words_of_leaders(self, shortlist: Shortlist) -> dict[str, float]:
        """The words of the descriptions of a mention's likeliest candidates, by how likely these are."""
        found: dict[str, float] = {}
        for one in reversed(shortlist.candidates[:_LEADERS]):
            if one.score >= _LIKELY:
                found.update(dict.fromkeys(self._described_as(one.entity)[0], min(one.score, 1.0)))
        return found

    def _fit(
        self,
        id: str,
        around: frozenset[str],
        surface: frozenset[str],
        others: Mapping[str, float],
        leading: Mapping[str, float],
    ) -> Mapping[str, float]:
        words, norm = self._described_as(id)
        weights = self._vocabulary.weights
        shared = sum(map(weights.__getitem__, around & words))
        beside = 0.0
        for word in words:
            if word in others and word not in surface:
                count = others[word] - leading.get(word, 0.0)
                beside += (count if count < _MOST else _MOST) * weights[word]
        return {"context": log1p(5.0 * shared / norm), "others_context": log1p(3.0 * beside / norm)}

    def _described_as(self, id: str) -> tuple[frozenset[str], float]:
        described = self._described.get(id)
        if described is None:
            if len(self._described) >= _CACHED:
                self._described.clear()
            described = self._described[id] = self._describe(id)
        return described

    def _describe(self, id: str) -> tuple[frozenset[str], float]:
        entity = self.kb.recent.of_id(id)
        if entity is None:
            return frozenset(), 1.0
        told = f"{entity.title} {' '.join(entity.types)} {(entity.description or '')[:_DESCRIPTION]}"
        words = self._vocabulary.words_of(told)
        return words, sqrt(5.0 + len(words))


class _Vocabulary(dict[str, tuple[str, ...]]):
    """What each written word, in lower case, is compared as; words that are too common are compared as nothing."""

    def __init__(self) -> None:
        self.weights: dict[str, float] = {}

    def __missing__(self, written: str) -> tuple[str, ...]:
        found = tuple(piece for word in _WORD.findall(written) for piece in _pieces(word) if self._weight(piece))
        if len(written) <= _LONGEST_WORD:
            self[written] = found
        return found

    def words_of(self, text: str) -> frozenset[str]:
        lower = text.lower()
        written = lower.split() if lower.isascii() else _WORD.findall(lower)
        return frozenset(chain.from_iterable(map(self.__getitem__, set(written))))

    def stay_small(self) -> None:
        if len(self) > _CACHED_WORDS:
            self.clear()

    def _weight(self, word: str) -> float:
        common = word_frequency(word).either
        weight = self.weights[word] = 0.0 if common > _COMMONEST_OF_USE else (_RAREST - common) / _RAREST
        return weight


class _Words:
    """The words of one text by their places, so that each window is a slice."""

    def __init__(self, text: str, vocabulary: _Vocabulary) -> None:
        self._starts: list[int] = []
        self._words: list[str] = []
        for match in _WORD.finditer(text):
            word, start = match[0], match.start()
            step = int(not word.isascii() and is_spaceless(word[0]))  # there, a word is each pair of characters
            for number, piece in enumerate(vocabulary[word.lower()]):
                self._starts.append(start + step * number)
                self._words.append(piece)

    def around(self, start: int, end: int) -> frozenset[str]:
        """The words near a span, less those in it."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        near = frozenset(self._words[max(0, first - _WINDOW) : last + _WINDOW])
        return near.difference(self._words[first:last]) if first < last else near


def _sum(counts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for one in counts:
        for word, count in one.items():
            total[word] = total.get(word, 0.0) + count
    return total


def _pieces(word: str) -> Sequence[str]:
    """A word; of a script without spaces, its pairs of characters."""
    if not word.isascii() and len(word) > 2 and is_spaceless(word[0]):
        return [word[at : at + 2] for at in range(len(word) - 1)]
    if len(word) > 4 and word.endswith("s"):
        return (word[:-1],)
    return (word,)
