"""What was learnt of words that several entities share, and the folder that keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from entlink.evidence.learnt_folder import LearntCard, read_learnt, write_learnt

if TYPE_CHECKING:
    from entlink.interfaces import Vectors

_NAME = "senses"


class SenseCard(LearntCard, frozen=True, kw_only=True):
    """`senses.json`: which entities share which words, in the order of the rows of `senses.npz`.

    `encoder` gives the vectors of words, and `identity` says which it was. `reliability` is how well the meanings of
    a word could be told apart where nothing had been learnt from: 0 as by chance, 1 always.
    """

    encoder: str
    identity: str
    senses: dict[str, list[str]]
    reliability: dict[str, float]
    examples: int = 0


class SenseModel(NamedTuple):
    """For each meaning of each word, how the vector of the word is there, as against its mean everywhere."""

    card: SenseCard
    mean: Vectors  # [d]
    rows: Vectors  # [meanings, d]
    first: Mapping[str, int]  # by word: the row of its first meaning

    def scores(self, word: str, vector: Vectors) -> dict[str, float]:
        """How much each meaning of the word is like this use of it."""
        start = self.first[word]
        entities = self.card.senses[word]
        found = self.rows[start : start + len(entities)] @ (vector - self.mean)
        return dict(zip(entities, found.tolist(), strict=True))


def sense_model(card: SenseCard, mean: Vectors, rows: Vectors) -> SenseModel:
    """The model of a card and its arrays."""
    first, start = {}, 0
    for word, entities in card.senses.items():
        first[word] = start
        start += len(entities)
    return SenseModel(card, mean, rows, first)


def read_senses(folder: Path) -> SenseModel:
    """The model in a folder; one that is missing, damaged or of another version is told."""
    import numpy

    card, arrays = read_learnt(folder, _NAME, "senses of words", SenseCard)
    return sense_model(card, arrays["mean"], arrays["rows"].astype(numpy.float32))


def write_senses(folder: Path, model: SenseModel) -> None:
    """Write a model; its folder is there whole or not at all."""
    import numpy

    write_learnt(folder, _NAME, model.card, mean=model.mean, rows=model.rows.astype(numpy.float16))
