"""Candidates of many mentions as one array, so that thousands of settings can be tried in a breath."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from entlink.documents import Candidate, Document, GoldLink, Mention
from entlink.errors import InputError
from entlink.interfaces import Question
from entlink.kb.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_NOWHERE = 2**62  # the rank of what is in no list: no K is as large


class Asked(NamedTuple):
    """A mention with gold, to learn from: its place, and the entities that are right."""

    document: Document
    mention: Mention
    right: frozenset[str]


def asked(kb: KnowledgeBase, documents: Iterable[Document]) -> Iterator[Asked]:
    """The gold mentions whose entity the knowledge base has; the others can teach no order."""
    for document in documents:
        for gold in document.gold:
            right = frozenset(entity.id for one in gold.entities if (entity := kb.resolve(one)))
            if right:
                yield Asked(document, _mention(document, gold), right)


def _mention(document: Document, gold: GoldLink) -> Mention:
    return Mention(gold.span, document.text[gold.span.start : gold.span.end])


def questions_of(mentions: Sequence[Asked]) -> list[Question]:
    """A question a document, in the order of the mentions."""
    questions: list[Question] = []
    for one in mentions:
        if questions and questions[-1].document is one.document:
            questions[-1] = Question(one.document, [*questions[-1].mentions, one.mention])
        else:
            questions.append(Question(one.document, [one.mention]))
    return questions


class EvidenceTable(NamedTuple):
    """Evidence of mentions × candidates × features, padded; `right` tells which candidates are: several may be."""

    features: tuple[str, ...]
    values: NDArray[numpy.float32]
    present: NDArray[numpy.bool_]
    right: NDArray[numpy.bool_]

    @property
    def reached(self) -> NDArray[numpy.bool_]:
        """The mentions with a right candidate."""
        found: NDArray[Any] = self.right.sum(1) > 0
        return found

    def ranks(self, weights: Sequence[float]) -> NDArray[Any]:
        """At which place, from 0, the best right candidate of each mention comes; beyond any K where there is none.

        Wrong candidates that tie with it count before it: a tie is no merit.
        """
        import numpy

        scores = self.scores(weights)
        own = numpy.where(self.right, scores, -numpy.inf).max(1)
        before = ((scores >= own[:, None]) & ~self.right).sum(1)
        ranks: NDArray[Any] = numpy.where(self.reached, before, _NOWHERE)
        return ranks

    def scores(self, weights: Sequence[float]) -> NDArray[Any]:
        import numpy

        summed = self.values @ numpy.asarray(weights, numpy.float32)
        return numpy.where(self.present, summed, -numpy.inf)


def evidence_table(
    lists: Sequence[Sequence[Candidate]], right: Sequence[frozenset[str]], features: Sequence[str]
) -> EvidenceTable:
    """The table of some candidate lists with what is right for each."""
    import numpy

    if not lists:
        raise InputError("there is no gold mention with an entity of the knowledge base to learn from")
    widest = max(1, max(map(len, lists)))
    values = numpy.zeros((len(lists), widest, len(features)), numpy.float32)
    present = numpy.zeros((len(lists), widest), numpy.bool_)
    is_right = numpy.zeros((len(lists), widest), numpy.bool_)
    for number, (candidates, entities) in enumerate(zip(lists, right, strict=True)):
        for place, one in enumerate(candidates):
            values[number, place] = [one.evidence.get(feature, 0.0) for feature in features]
            present[number, place] = True
            is_right[number, place] = one.entity in entities
    return EvidenceTable(tuple(features), values, present, is_right)


def recall_at(ranks: NDArray[Any], k: int) -> float:
    return float((ranks < k).mean())
