"""Whether a test was seen before: texts, passages and answers it shares with training data or a knowledge base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from entlink.documents import Document, Entity, GoldLink, Record
from entlink.evaluation.scoring.items import surface_of
from entlink.text.folding import fold

PASSAGE = 12
_SHOWN = 5


class Leakage(Record, frozen=True, omit_defaults=False):
    """What a test shares with training data and with the texts of a knowledge base.

    A shared passage is a run of `passage` words. `answers` is the share of test links whose name and entity stand
    together in the training data: no leak by itself, but what could be had by heart.
    """

    documents: int
    passage: int
    same_ids: int
    same_texts: int
    with_passages_of_training: int
    with_passages_of_kb: int | None
    answers: float
    examples: list[str]
    training_documents: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether no text and no passage of the test was found elsewhere."""
        return not (self.same_texts or self.with_passages_of_training or self.with_passages_of_kb)


class Texts(Protocol):
    """What is asked of a knowledge base here."""

    def __iter__(self) -> Iterator[Entity]: ...


def leakage(
    test: Iterable[Document],
    training: Iterable[Document] = (),
    kb: Texts | None = None,
    *,
    passage: int = PASSAGE,
) -> Leakage:
    """Compare a test set with training documents and with the descriptions in a knowledge base."""
    index = LeakIndex(passage)
    for document in test:
        index.add(document)
    return index.compare(training, kb)


class LeakIndex:
    """The passages of a test set, one number each; what it is compared with streams past."""

    def __init__(self, passage: int = PASSAGE) -> None:
        self._passage = passage
        self._ids: set[str] = set()
        self._answers: Counter[tuple[tuple[str, str], ...]] = Counter()
        self._texts: dict[int, list[str]] = {}
        self._passages: dict[int, list[str]] = {}

    def add(self, document: Document) -> None:
        """Take in a document of the test."""
        self._ids.add(document.id)
        self._texts.setdefault(_number(_words(document.text)), []).append(document.id)
        for one in set(self._hashes(document.text)):
            self._passages.setdefault(one, []).append(document.id)
        for gold in document.gold:
            if gold.entities:
                self._answers[_pairs(document, gold)] += 1

    def compare(self, training: Iterable[Document] = (), kb: Texts | None = None) -> Leakage:
        """What the test shares with training documents, and with the descriptions in a knowledge base."""
        same_ids, same_texts, shared = set[str](), set[str](), set[str]()
        known: set[tuple[str, str]] = set()
        count = 0
        for document in training:
            count += 1
            same_ids |= self._ids & {document.id}
            same_texts |= self._same_text(document.text)
            shared |= self._sharing(document.text)
            known.update(pair for gold in document.gold for pair in _pairs(document, gold))
        of_kb = None if kb is None else {one for entity in kb for one in self._sharing(entity.description)}
        total = self._answers.total()
        found = sum(times for pairs, times in self._answers.items() if known.intersection(pairs))
        return Leakage(
            documents=len(self._ids),
            passage=self._passage,
            same_ids=len(same_ids),
            same_texts=len(same_texts),
            with_passages_of_training=len(shared),
            with_passages_of_kb=None if of_kb is None else len(of_kb),
            answers=found / total if total else 0.0,
            examples=sorted(same_texts | shared | (of_kb or set()))[:_SHOWN],
            training_documents=count,
        )

    def _same_text(self, text: str) -> set[str]:
        """Test documents with the same words."""
        words = _words(text)
        return set(self._texts.get(_number(words), ())) if words else set()

    def _sharing(self, text: str) -> set[str]:
        """Test documents with a passage of the text."""
        return {id for one in self._hashes(text) for id in self._passages.get(one, ())}

    def _hashes(self, text: str) -> Iterator[int]:
        words, size = _words(text), self._passage
        for start in range(len(words) - size + 1):
            yield _number(words[start : start + size])


def _pairs(document: Document, gold: GoldLink) -> tuple[tuple[str, str], ...]:
    """A gold mention with each of its entities."""
    surface = surface_of(document, gold)
    return tuple((surface, entity) for entity in gold.entities)


def _words(text: str) -> list[str]:
    """Words, folded as names are; where a script has no spaces, its characters."""
    return fold(text).tokens


def _number(words: Sequence[str]) -> int:
    """64 bits, of this process only: texts are compared, never stored."""
    return hash(tuple(words))
