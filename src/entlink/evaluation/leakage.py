"""Whether a test was seen before: texts, passages and answers it shares with training data or a knowledge base."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from entlink.documents import Document, Entity, Record
from entlink.evaluation.items import gold_items
from entlink.kb.folding import fold

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
    """Compare a test set with training documents and with the descriptions in a knowledge base.

    The test is held in memory as one number a passage; the rest streams past.
    """
    index = _Index(test, passage)
    same_ids, same_texts, shared, pairs = set(), set(), set(), set()
    for document in training:
        if document.id in index.ids:
            same_ids.add(document.id)
        same_texts |= index.same_text(document.text)
        shared |= index.sharing(document.text)
        pairs |= {(gold.surface, entity) for gold in gold_items(document) for entity in gold.entities}
    of_kb = None if kb is None else {one for entity in kb for one in index.sharing(entity.description)}
    return Leakage(
        documents=len(index.ids),
        passage=passage,
        same_ids=len(same_ids),
        same_texts=len(same_texts),
        with_passages_of_training=len(shared),
        with_passages_of_kb=None if of_kb is None else len(of_kb),
        answers=_share_known(index.pairs, pairs),
        examples=sorted(same_texts | shared | (of_kb or set()))[:_SHOWN],
    )


class _Index:
    """The passages of a test set, as hashes: the id of a document that has each."""

    def __init__(self, test: Iterable[Document], passage: int) -> None:
        self._passage = passage
        self.ids: set[str] = set()
        self.pairs: list[list[tuple[str, str]]] = []
        self._texts: dict[int, list[str]] = {}
        self._passages: dict[int, list[str]] = {}
        for document in test:
            self._add(document)

    def _add(self, document: Document) -> None:
        self.ids.add(document.id)
        self._texts.setdefault(_number(_words(document.text)), []).append(document.id)
        for one in set(self._hashes(document.text)):
            self._passages.setdefault(one, []).append(document.id)
        self.pairs += [
            [(gold.surface, entity) for entity in gold.entities] for gold in gold_items(document) if gold.entities
        ]

    def same_text(self, text: str) -> set[str]:
        """Test documents with the same words."""
        words = _words(text)
        return set(self._texts.get(_number(words), ())) if words else set()

    def sharing(self, text: str) -> set[str]:
        """Test documents with a passage of the text."""
        return {id for one in self._hashes(text) for id in self._passages.get(one, ())}

    def _hashes(self, text: str) -> Iterator[int]:
        words, size = _words(text), self._passage
        for start in range(len(words) - size + 1):
            yield _number(words[start : start + size])


def _words(text: str) -> list[str]:
    """Words, folded as names are; where a script has no spaces, its characters."""
    return fold(text).tokens


def _number(words: Sequence[str]) -> int:
    """64 bits, of this process only: texts are compared, never stored."""
    return hash(tuple(words))


def _share_known(links: list[list[tuple[str, str]]], known: set[tuple[str, str]]) -> float:
    return sum(any(pair in known for pair in pairs) for pairs in links) / len(links) if links else 0.0
