"""Negatives: entities that a mention may be taken for, and does not mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from entlink.interfaces import Question
from entlink.io.progress import Progress, ignore_progress
from entlink.learning.pairs.examples import Example, right_entities

if TYPE_CHECKING:
    from entlink.documents import Candidate
    from entlink.interfaces import DualEncoder
    from entlink.kb.knowledge_base import KnowledgeBase

Retrieve = Callable[[Sequence[Question]], list[list[Sequence["Candidate"]]]]
_STAGE = "mining negatives"
_ASKED_AT_ONCE = 256  # mentions


def name_negatives(
    kb: KnowledgeBase, examples: Sequence[Example], count: int, progress: Progress = ignore_progress
) -> list[Example]:
    """Examples with the other entities that have the name as negatives, likeliest first, at most `count`."""
    right = right_entities(examples)
    mined: list[Example] = []
    for at, example in enumerate(examples):
        if at % _ASKED_AT_ONCE == 0:
            progress(_STAGE, at, len(examples))
        own = right[example.place]
        named = (id for _, id, _ in kb.entities_named(kb.meaning(example.mention.text), count + len(own)))
        mined.append(with_negatives(example, named, own, count))
    return mined


def retrieved_negatives(
    retrieve: Retrieve, examples: Sequence[Example], count: int, progress: Progress = ignore_progress
) -> list[Example]:
    """Examples with the best wrong candidates that a retriever, or a whole linker, finds."""
    right = right_entities(examples)
    mined: list[Example] = []
    for part in _parts(examples):
        progress(_STAGE, len(mined), len(examples))
        lists = iter(one for found in retrieve(_questions(part)) for one in found)
        for example in part:
            candidates = (candidate.entity for candidate in next(lists))
            mined.append(with_negatives(example, candidates, right[example.place], count))
    return mined


def nearest_negatives(
    kb: KnowledgeBase,
    dual: DualEncoder,
    examples: Sequence[Example],
    count: int,
    progress: Progress = ignore_progress,
) -> list[Example]:
    """Examples with the wrong entities whose vectors are nearest to that of the mention."""
    from entlink.candidates.dense import DenseRetriever

    most = max(map(len, right_entities(examples).values()), default=1)
    retriever = DenseRetriever(kb, encoder=dual, limit=count + most, search="index")
    return retrieved_negatives(retriever.retrieve, examples, count, progress)


def with_negatives(example: Example, wrong: Iterable[str], right: set[str], count: int) -> Example:
    """The example with the first `count` of the entities that are not right."""
    found = (id for id in dict.fromkeys(wrong) if id not in right)
    return example._replace(negatives=tuple(id for id, _ in zip(found, range(count), strict=False)))


def _parts(examples: Sequence[Example]) -> Iterator[Sequence[Example]]:
    for start in range(0, len(examples), _ASKED_AT_ONCE):
        yield examples[start : start + _ASKED_AT_ONCE]


def _questions(examples: Sequence[Example]) -> list[Question]:
    """A question a run of examples of one document."""
    questions: list[Question] = []
    for one in examples:
        if questions and questions[-1].document is one.document:
            questions[-1] = Question(one.document, [*questions[-1].mentions, one.mention])
        else:
            questions.append(Question(one.document, [one.mention]))
    return questions
