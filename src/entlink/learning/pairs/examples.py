"""What is learnt from: a mention, the entity it means, and some that it does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from entlink.documents import Document, Mention

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase


class Example(NamedTuple):
    """A mention with its entity and wrong ones to tell it from; the loss is multiplied by `weight`."""

    document: Document
    mention: Mention
    entity: str
    negatives: tuple[str, ...] = ()
    weight: float = 1.0

    @property
    def place(self) -> tuple[str, int, int]:
        """Which mention it is about: several examples are about one that may mean several entities."""
        return self.document.id, self.mention.span.start, self.mention.span.end


def gold_examples(kb: KnowledgeBase, documents: Iterable[Document]) -> Iterator[Example]:
    """The gold mentions whose entity the knowledge base has, without negatives.

    Of a mention with several right entities, each is an example, and together they weigh as much as one.
    """
    for document in documents:
        for gold in document.gold:
            found = (entity.id for one in gold.entities if (entity := kb.resolve(one)))
            right = list(dict.fromkeys(found))
            mention = Mention(gold.span, document.text[gold.span.start : gold.span.end])
            for id in right:
                yield Example(document, mention, id, weight=1 / len(right))


def right_entities(examples: Sequence[Example]) -> dict[tuple[str, int, int], set[str]]:
    """By mention, all entities that are right for it."""
    right: dict[tuple[str, int, int], set[str]] = {}
    for example in examples:
        right.setdefault(example.place, set()).add(example.entity)
    return right
