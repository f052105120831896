"""Names of a knowledge base without any text, and new ones put together from their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from entlink.documents import Entity
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.own_names import NameSource, given_names

_TRIES = 20  # for each name to draw from


def own_names(entity: Entity) -> list[str]:
    """What an entity calls itself; the title without its parenthesis stands for the title with it."""
    named = list(given_names(entity))
    stripped = any(source is NameSource.STRIPPED for _, source in named)
    return list(dict.fromkeys(name for name, source in named if not (stripped and source is NameSource.TITLE)))


def recombined(kb: KnowledgeBase, names: Sequence[str], random: Random) -> Iterator[str]:
    """Names that no entity has: the beginning of one and the end of another; never the same twice."""
    seen: set[str] = set()
    if len(names) < 2:
        return
    for _ in range(_TRIES * len(names)):
        first, second = random.sample(names, 2)
        made = _joined(first, second)
        if made and made not in seen and not kb.meaning(made).entries:
            seen.add(made)
            yield made


def _joined(first: str, second: str) -> str | None:
    """Of two names of several words, words; of others, halves."""
    if " " in first and " " in second:
        return f"{first.rsplit(' ', 1)[0]} {second.rsplit(' ', 1)[1]}"
    if min(len(first), len(second)) < 2:
        return None
    return first[: (len(first) + 1) // 2] + second[len(second) // 2 :]
