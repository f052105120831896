"""What there is to say about the types of a knowledge base as a whole, and how well they cover new entities."""

from __future__ import annotations

import msgspec

from entlink.kb.knowledge_base import KnowledgeBase

LARGEST = 20


class LargestType(msgspec.Struct, frozen=True):
    """A type, what it is called, and how many entities name it themselves."""

    type: str
    name: str
    entities: int


class Coverage(msgspec.Struct, frozen=True):
    """How many new entities there are, how many of them have a type or claim, and how many a fine type at least."""

    entities: int
    with_facts: int
    covered: int

    @property
    def share(self) -> float:
        """The share of the new entities that have a fine type."""
        return self.covered / self.entities if self.entities else 0.0


class TypesOverview(msgspec.Struct, frozen=True):
    """Counts of coarse types, of entities without any, the largest types, and the most frequent fine types."""

    coarse: dict[str, int]
    untyped: int
    type_count: int
    largest: list[LargestType]
    fine_count: int
    fine: dict[str, int]
    coverage: Coverage | None = None


def types_overview(kb: KnowledgeBase, new: KnowledgeBase | None = None, *, largest: int = LARGEST) -> TypesOverview:
    """Count the types of a knowledge base; with `new`, how well its fine types cover what that one adds."""
    coarse, counts, fine = dict(kb.types.coarse_counts()), kb.type_counts(), kb.types.fine_counts()
    return TypesOverview(
        coarse=coarse,
        untyped=len(kb) - sum(coarse.values()),
        type_count=len(counts),
        largest=[LargestType(type, kb.types.name(type), count) for type, count in counts[:largest]],
        fine_count=len(fine),
        fine=dict(list(fine.items())[:largest]),
        coverage=None if new is None else coverage(kb, new),
    )


def coverage(kb: KnowledgeBase, new: KnowledgeBase) -> Coverage:
    """How many of the entities that only `new` has have one of the fine types (TopSnaks) of `kb`."""
    entities = with_facts = covered = 0
    for one in new:
        if kb.key(one.id) is None:
            entities += 1
            with_facts += bool(one.types or one.claims)
            covered += kb.types.is_covered(one)
    return Coverage(entities, with_facts, covered)
