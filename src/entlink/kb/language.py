"""What a knowledge base is written in, from the names and descriptions of some entities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from entlink.text.languages import Writing, writing_of, written_in

if TYPE_CHECKING:
    from entlink.kb.knowledge_base import KnowledgeBase

_ENTITIES, _DESCRIPTION = 60, 400


def language_of(kb: KnowledgeBase) -> str | None:
    """What a knowledge base is surely written in: a language, or a script that is not the Latin one."""
    return written_in(writing_of_kb(kb))


def writing_of_kb(kb: KnowledgeBase) -> Writing:
    """Of some entities, from the first to the last."""
    return writing_of(_sample(kb))


def _sample(kb: KnowledgeBase) -> Iterator[str]:
    """Their names, and how they are described."""
    last = kb.last_key
    for key in range(1, last + 1, -(-last // _ENTITIES) or 1):
        entity = kb.entity(key)
        if entity is not None:
            yield " ".join((entity.title, *entity.aliases, entity.description[:_DESCRIPTION]))
