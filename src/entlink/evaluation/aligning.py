"""Gold and predictions side by side: joined by id while both are read, with what does not fit told at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isnan
from operator import attrgetter
from typing import Literal, NamedTuple

import msgspec

from entlink.documents import Document
from entlink.errors import InputError
from entlink.evaluation.offsets import check_offsets

Missing = Literal["stop", "empty", "skip"]
_SHOWN = 3
_SCORE = attrgetter("score")


class Pair(NamedTuple):
    """A document with gold, and the same document with predictions."""

    gold: Document
    predicted: Document


class Aligned:
    """Pairs of documents with the same id, in the order of the gold; iterate it once.

    `missing` says what a document is that only one side has: an error, one without links there, or left out. `lists`
    says of gold and predictions whether they are lists of links, which do not name a document without any: such a
    side lacks none. With `any_text` the two may have different texts, as for matching by strings.
    What comes in the same order on both sides is held one at a time; what does not, until its other half comes.
    """

    def __init__(
        self,
        gold: Iterable[Document],
        predictions: Iterable[Document],
        *,
        missing: Missing = "stop",
        lists: tuple[bool, bool] = (False, False),
        any_text: bool = False,
    ) -> None:
        self._gold, self._predictions, self._missing = gold, iter(predictions), missing
        self._lists, self._any_text = lists, any_text
        self._waiting: dict[str, Document] = {}
        self._seen: set[str] = set()
        self.only_gold: list[str] = []
        self.only_predicted: list[str] = []

    def __iter__(self) -> Iterator[Pair]:
        done: set[str] = set()
        gold_is_list, predictions_are_list = self._lists
        for document in self._gold:
            if document.id in done:
                raise InputError(_twice("gold", document.id))
            done.add(document.id)
            predicted = self._find(document.id)
            if predicted is not None:
                yield _checked(Pair(document, predicted), any_text=self._any_text)
                continue
            self.only_gold.append(document.id)
            if self._missing == "empty" or (self._missing == "stop" and predictions_are_list):
                yield Pair(document, _bare(document))
        late = self._left_over()
        self.only_predicted = [document.id for document in late]
        self._check_sides(len(done))
        if self._missing == "empty" or (self._missing == "stop" and gold_is_list):
            yield from (Pair(_bare(document), document) for document in late)

    def _check_sides(self, size: int) -> None:
        gold_is_list, predictions_are_list = self._lists
        if size and len(self.only_gold) == size and self.only_predicted:
            raise InputError(f"gold and predictions have no document in common: {self._told(size)}")
        if self._missing == "stop":
            lacks_predictions = self.only_gold and not predictions_are_list
            lacks_gold = self.only_predicted and not gold_is_list
            if lacks_predictions or lacks_gold:
                raise InputError(self._told(size))

    def _find(self, id: str) -> Document | None:
        if id in self._waiting:
            return self._waiting.pop(id)
        for document in self._fresh():
            if document.id == id:
                return document
            self._waiting[document.id] = document
        return None

    def _left_over(self) -> list[Document]:
        return [*self._waiting.values(), *self._fresh()]

    def _fresh(self) -> Iterator[Document]:
        """What has not been read yet of the predictions."""
        for document in self._predictions:
            if document.id in self._seen:
                raise InputError(_twice("the predictions", document.id))
            self._seen.add(document.id)
            yield document

    def _told(self, size: int) -> str:
        parts = []
        if self.only_gold:
            parts.append(
                f"{len(self.only_gold)} of {size} gold documents have no predictions ({_some(self.only_gold)})"
            )
        if self.only_predicted:
            count = len(self.only_predicted)
            parts.append(f"{count} documents with predictions are not in the gold ({_some(self.only_predicted)})")
        return (
            f"{' and '.join(parts)}. Check that both are of one set and have the same ids; `--missing empty` counts "
            "what is missing as a document without links, `--missing skip` leaves it out"
        )


def _twice(where: str, id: str) -> str:
    return f"two documents of {where} have the id {id!r}. Ids must differ: gold and predictions are joined by them"


def _some(ids: list[str]) -> str:
    return ", ".join(map(repr, ids[:_SHOWN])) + (", …" if len(ids) > _SHOWN else "")


def _bare(document: Document) -> Document:
    """The same document with neither gold nor links."""
    return msgspec.structs.replace(document, gold=(), links=())


def _checked(pair: Pair, *, any_text: bool) -> Pair:
    """Raises where the two cannot be of one text, or a score is no number."""
    gold, predicted = pair
    if not (any_text or "lacks" in gold.meta or "lacks" in predicted.meta) and gold.text != predicted.text:
        raise InputError(_differs(gold, predicted))
    if any(map(isnan, map(_SCORE, predicted.links))):
        name = next(link.mention.text for link in predicted.links if isnan(link.score))
        problem = f"the score of {name!r} is not a number (NaN)"
        raise InputError(f"document {gold.id!r}: {problem}. Write a number, or leave it out")
    check_offsets(gold, predicted)
    return pair


def _differs(gold: Document, predicted: Document) -> str:
    place = next(
        (number for number, (one, other) in enumerate(zip(gold.text, predicted.text, strict=False)) if one != other),
        min(len(gold.text), len(predicted.text)),
    )
    ours, theirs = gold.text[place : place + 20], predicted.text[place : place + 20]
    return (
        f"document {gold.id!r}: gold and predictions have different texts from character {place} on: "
        f"{ours!r} and {theirs!r}. Offsets compare only in one text: link the text of the gold"
    )
