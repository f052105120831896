"""Learns which words around a shared word speak for which of the entities that share it.

One matrix M is learnt for all words: a use of a word with the vector x speaks for an entity with the vector e by
x·M·e. So what tells languages from countries is learnt from all languages and countries at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy

from entlink.learning.detector.adam import Adam

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.interfaces import Vectors

_EPOCHS, _BATCH = 24, 256
_RATE, _DECAY = 5e-4, 1.0
_PARTS = 4
_OF_A_MEANING, _OF_A_USE = 8.0, 2.0  # what its uses weigh together, and each at most: meanings count alike
_APART = 0.3  # how much oftener than by chance two meanings are to be told from one another


class Uses(NamedTuple):
    """Uses of words: the vector of each, its word, and which of the word's entities it means.

    Of a word's `senses` those that matter more come first. Uses with the same of `passages` see the same text, and
    are learnt from together or not at all.
    """

    vectors: Vectors  # [n, d]
    words: Sequence[str]
    meant: Sequence[str]
    passages: Sequence[str]
    senses: Mapping[str, Sequence[str]]
    entities: Mapping[str, Vectors]  # [d] each


class Fitted(NamedTuple):
    """The words that can be told apart, the mean of all vectors, and a row for each meaning that can.

    `reliability` is how far each word is to be trusted, and has been multiplied into its rows.
    """

    senses: dict[str, list[str]]
    mean: Vectors
    rows: Vectors
    reliability: dict[str, float]


def fit_senses(uses: Uses, seed: int) -> Fitted:
    """Learn from all uses; what a word is worth is told by quarters of them that were not learnt from."""
    table = _Table(uses)
    random = numpy.random.default_rng(seed)
    numbers = {passage: number for number, passage in enumerate(dict.fromkeys(uses.passages))}
    part = random.integers(0, _PARTS, len(numbers))[[numbers[one] for one in uses.passages]]
    unseen = numpy.zeros((len(uses.words), table.most), numpy.float32)
    for number in range(_PARTS):
        aside = numpy.flatnonzero(part == number)
        unseen[aside] = table.scores(table.fit(part != number, random), aside)
    told = {word: found for word, scores in _by_meaning(uses, unseen).items() if (found := _second(scores))}
    reliability = {word: one.reliability for word, one in told.items()}
    senses = {word: [uses.senses[word][0], uses.senses[word][one.meaning]] for word, one in told.items()}
    matrix = table.fit(numpy.ones(len(part), bool), random)
    rows = [
        reliability[word] * (matrix @ uses.entities[entity]) / table.spread
        for word, entities in senses.items()
        for entity in entities
    ]
    return Fitted(senses, table.mean, numpy.array(rows, numpy.float32), reliability)


class _Second(NamedTuple):
    """The place of a meaning that can be told from the first, and how reliably."""

    meaning: int
    reliability: float


def _by_meaning(uses: Uses, scores: Vectors) -> dict[str, list[Vectors]]:
    """By word, and by each of its meanings in their order, the scores of the uses that mean it."""
    rows: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row, pair in enumerate(zip(uses.words, uses.meant, strict=True)):
        rows[pair].append(row)
    return {
        word: [scores[rows[word, entity], : len(entities)] for entity in entities]
        for word, entities in uses.senses.items()
    }


def _second(scores: Sequence[Vectors]) -> _Second | None:
    """The next meaning that can be told from the first; more than two would only blur one another."""
    for place in range(1, len(scores)):
        worth = _reliability(scores, place)
        if worth > _APART:
            return _Second(place, round(worth, 4))
    return None


def _reliability(scores: Sequence[Vectors], place: int) -> float:
    """How much oftener than by chance uses of the first meaning and another are told apart, both counting alike."""
    if not len(scores[0]) or not len(scores[place]):
        return 0.0
    first = (scores[0][:, 0] > scores[0][:, place]).mean()
    other = (scores[place][:, place] > scores[place][:, 0]).mean()
    return float(first + other - 1)


class _Table:
    """The uses as arrays: standardised vectors, and the entities that each is told from."""

    def __init__(self, uses: Uses) -> None:
        self.mean = uses.vectors.mean(axis=0)
        spread = uses.vectors.std(axis=0)
        self.spread = numpy.where(spread > 1e-6, spread, 1.0).astype(numpy.float32)
        self._inputs = (uses.vectors - self.mean) / self.spread
        places = {entity: place for place, entity in enumerate(uses.entities)}
        self._entities = numpy.array(list(uses.entities.values()), numpy.float32)
        self.most = max(len(entities) for entities in uses.senses.values())
        self._choices = numpy.zeros((len(uses.words), self.most), numpy.int64)
        self._there = numpy.zeros((len(uses.words), self.most), bool)
        self._meant = numpy.zeros(len(uses.words), numpy.int64)
        for row, (word, entity) in enumerate(zip(uses.words, uses.meant, strict=True)):
            entities = list(uses.senses[word])
            self._choices[row, : len(entities)] = [places[one] for one in entities]
            self._there[row, : len(entities)] = True
            self._meant[row] = entities.index(entity)
        counts = Counter(zip(uses.words, uses.meant, strict=True))
        self._weights = numpy.array(
            [min(_OF_A_USE, _OF_A_MEANING / counts[pair]) for pair in zip(uses.words, uses.meant, strict=True)],
            numpy.float32,
        )

    def fit(self, chosen: NDArray[numpy.bool_], random: numpy.random.Generator) -> Vectors:
        """The matrix that tells the chosen uses best."""
        size = self._inputs.shape[1], self._entities.shape[1]
        weights: list[Vectors] = [numpy.zeros(size, numpy.float32)]
        adam = Adam(weights, _DECAY)
        rows = numpy.flatnonzero(chosen)
        for _ in range(_EPOCHS):
            order = random.permutation(rows)
            for start in range(0, len(order), _BATCH):
                adam.step(weights, [self._gradient(weights[0], order[start : start + _BATCH])], _RATE)
        return weights[0]

    def scores(self, matrix: Vectors, rows: NDArray[numpy.int64]) -> Vectors:
        """Of some uses, what speaks for each meaning of their words, as far as these have so many."""
        asked = self._inputs[rows] @ matrix
        scores = numpy.einsum("nd,nkd->nk", asked, self._entities[self._choices[rows]])
        found: Vectors = numpy.where(self._there[rows], scores, -numpy.inf)
        return found

    def _gradient(self, matrix: Vectors, rows: NDArray[numpy.int64]) -> Vectors:
        """That of the weighted mean of how unlikely the meant entity is by the softmax."""
        scores = self.scores(matrix, rows)
        raised = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        wrong = raised / raised.sum(axis=1, keepdims=True)
        wrong[numpy.arange(len(rows)), self._meant[rows]] -= 1.0
        weights = self._weights[rows]
        wrong *= (weights / weights.sum())[:, None]
        back = numpy.einsum("nk,nkd->nd", wrong, self._entities[self._choices[rows]])
        found: Vectors = (self._inputs[rows].T @ back).astype(numpy.float32)
        return found
