"""Which of the entities that share a word is meant: "French" before "painter", and after "speaks"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from entlink.errors import ConfigError, MissingExtraError
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase

try:
    import numpy
except ImportError as problem:
    raise MissingExtraError("telling the senses of words", "retrieval") from problem

from entlink.encoders.text.word_vectors import WordVectors
from entlink.evidence.sense_model import read_senses


class SensesEvidence:
    """How well each of the entities that share the mention's word fits the words around it.

    `model` is the folder that `entlink adapt` made. A score is positive for those that fit the words around better
    than the others that share it, and 0 for all other entities and words.
    """

    needs = "the extra retrieval and what entlink adapt learnt"
    gives = ("senses",)
    when = "pool"  # of those that share the word, the more are compared the better

    def __init__(self, kb: KnowledgeBase, *, model: str | Path) -> None:
        self.kb = kb
        self._model = read_senses(Path(model))
        self._words = WordVectors(self._model.card.encoder)
        if self._words.identity != self._model.card.identity:
            raise ConfigError(
                f"{model}: these senses were learnt with the encoder {self._model.card.identity}, and "
                f"{self._model.card.encoder!r} is now {self._words.identity}. Adapt the linker anew"
            )

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        """How much better than the others each of those that share the word fits; 0 where only one was found."""
        scores: list[list[float]] = [[0.0] * len(one.candidates) for one in shortlists]
        shared = [self._shared(one) for one in shortlists]
        asked = [number for number, places in enumerate(shared) if len(places) > 1]
        vectors = self._words.of([(shortlists[number].document, shortlists[number].mention) for number in asked])
        for number, vector in zip(asked, vectors, strict=True):
            one, places = shortlists[number], shared[number]
            found = self._model.scores(one.mention.text, vector)
            told = numpy.array([found[one.candidates[place].entity] for place in places])
            for place, score in zip(places, (told - told.mean()).tolist(), strict=True):
                scores[number][place] = score
        return [[{"senses": score} for score in own] for own in scores]

    def _shared(self, shortlist: Shortlist) -> list[int]:
        """The places of the candidates that share the word."""
        entities = self._model.card.senses.get(shortlist.mention.text, ())
        return [place for place, one in enumerate(shortlist.candidates) if one.entity in entities]
