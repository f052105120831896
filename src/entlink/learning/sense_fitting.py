"""Learns which words around a shared word speak for which of the entities that share it.

One matrix M is learnt for all words: a use of a word with the vector x speaks for an entity with the vector e by
x·M·e. So what tells languages from countries is learnt from all languages and countries at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy

from entlink.learning.adam import Adam

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.interfaces import Vectors

_EPOCHS, _BATCH = 24, 256
_RATE, _DECAY = 5e-4, 1.0
_PARTS = 4
_OF_A_MEANING, _OF_A_USE = 8.0, 2.0  # what its uses weigh together, and each at most: meanings count alike
_TRUST = 2.0  # the power of a word's reliability that its scores are multiplied with


class Uses(NamedTuple):
    """Uses of words: the vector of each, its word, and which of the word's entities it means.

    Uses with the same of `passages` see the same text, and are learnt from together or not at all.
    """

    vectors: Vectors  # [n, d]
    words: Sequence[str]
    meant: Sequence[str]
    passages: Sequence[str]
    senses: Mapping[str, Sequence[str]]
    entities: Mapping[str, Vectors]  # [d] each


class Fitted(NamedTuple):
    """The words that can be told apart, the mean of all vectors, and a row for each meaning of each word.

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
    right = numpy.zeros(len(uses.words), bool)
    for number in range(_PARTS):
        aside = part == number
        right[aside] = table.right(table.fit(~aside, random), aside)
    reliability = {word: worth for word, worth in _reliability(uses, right).items() if worth > 0}
    senses = {word: list(uses.senses[word]) for word in reliability}
    matrix = table.fit(numpy.ones(len(part), bool), random)
    rows = [
        reliability[word] ** _TRUST * (matrix @ uses.entities[entity]) / table.spread
        for word, entities in senses.items()
        for entity in entities
    ]
    return Fitted(senses, table.mean, numpy.array(rows, numpy.float32), reliability)


def _reliability(uses: Uses, right: NDArray[numpy.bool_]) -> dict[str, float]:
    """Of each word, how much oftener than by chance it was told right, its meanings counting alike."""
    found: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for word, entity, is_right in zip(uses.words, uses.meant, right.tolist(), strict=True):
        found[word][entity].append(is_right)
    told = {}
    for word, entities in uses.senses.items():
        share = sum(sum(each) / len(each) for each in found[word].values()) / len(entities)
        chance = 1 / len(entities)
        told[word] = round(max(0.0, (share - chance) / (1 - chance)), 4)
    return told


class _Table:
    """The uses as arrays: standardised vectors, and the entities that each is told from."""

    def __init__(self, uses: Uses) -> None:
        self.mean = uses.vectors.mean(axis=0)
        spread = uses.vectors.std(axis=0)
        self.spread = numpy.where(spread > 1e-6, spread, 1.0).astype(numpy.float32)
        self._inputs = (uses.vectors - self.mean) / self.spread
        places = {entity: place for place, entity in enumerate(uses.entities)}
        self._entities = numpy.array(list(uses.entities.values()), numpy.float32)
        most = max(len(entities) for entities in uses.senses.values())
        self._choices = numpy.zeros((len(uses.words), most), numpy.int64)
        self._there = numpy.zeros((len(uses.words), most), bool)
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

    def right(self, matrix: Vectors, chosen: NDArray[numpy.bool_]) -> NDArray[numpy.bool_]:
        """Whether each of the chosen uses is told right."""
        rows = numpy.flatnonzero(chosen)
        found: NDArray[numpy.bool_] = self._scores(matrix, rows).argmax(axis=1) == self._meant[rows]
        return found

    def _scores(self, matrix: Vectors, rows: NDArray[numpy.int64]) -> Vectors:
        asked = self._inputs[rows] @ matrix
        scores = numpy.einsum("nd,nkd->nk", asked, self._entities[self._choices[rows]])
        found: Vectors = numpy.where(self._there[rows], scores, -numpy.inf)
        return found

    def _gradient(self, matrix: Vectors, rows: NDArray[numpy.int64]) -> Vectors:
        """That of the weighted mean of how unlikely the meant entity is by the softmax."""
        scores = self._scores(matrix, rows)
        raised = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        wrong = raised / raised.sum(axis=1, keepdims=True)
        wrong[numpy.arange(len(rows)), self._meant[rows]] -= 1.0
        weights = self._weights[rows]
        wrong *= (weights / weights.sum())[:, None]
        back = numpy.einsum("nk,nkd->nd", wrong, self._entities[self._choices[rows]])
        found: Vectors = (self._inputs[rows].T @ back).astype(numpy.float32)
        return found
