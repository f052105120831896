"""What a multimodal model learns from: a mention with its picture, its entity, and all candidates with P(e|m)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from entlink.documents import Document, Mention

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.pairs.examples import Example


class PicturedExample(NamedTuple):
    """A mention with its entity, and its candidates with P(e|m), best first; its own entity may be among them.

    The picture is the first of the document; there may be none. The loss is multiplied by `weight`.
    """

    document: Document
    mention: Mention
    entity: str
    candidates: tuple[tuple[str, float], ...] = ()
    weight: float = 1.0

    @property
    def place(self) -> tuple[str, int, int]:
        """Which mention it is about."""
        return self.document.id, self.mention.span.start, self.mention.span.end

    def wrong(self, count: int) -> tuple[str, ...]:
        """The first `count` candidates that are not its entity."""
        others = dict.fromkeys(id for id, _ in self.candidates if id != self.entity)
        return tuple(id for id, _ in zip(others, range(count), strict=False))


def pictured(kb: KnowledgeBase, examples: Sequence[Example]) -> list[PicturedExample]:
    """Examples with their entity and negatives as candidates, each with P(e|m) by the knowledge base."""
    found = []
    for one in examples:
        named = {name.entity: name.probability for name in kb.aliases(one.mention.text)}
        candidates = tuple((id, named.get(id, 0.0)) for id in dict.fromkeys((one.entity, *one.negatives)))
        found.append(PicturedExample(one.document, one.mention, one.entity, candidates, one.weight))
    return found
