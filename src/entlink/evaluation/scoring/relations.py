"""How a wrong entity is related to the right one: more general, more specific, of another time or place.

These are the kinds of errors of appendix G of the Hansel paper, by what a knowledge base says of both entities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from entlink.documents import Entity

# Properties of Wikidata, and words for them in other sources.
ABOVE = ("P279", "P31", "P361", "P131", "P97", "is_a", "part_of")
PLACES = ("P131", "P17", "P276", "country", "location")
TIMES = ("P585", "P580", "P577", "P569", "date")
MOST_ABOVE = 1_000  # entities looked at on the way up
_YEAR = re.compile(r"[+-]?\d{1,6}(?=$|-)")


class Relation:
    """What the wrong entity is, beside the right one; the first that holds."""

    GENERAL = "more general"
    SPECIFIC = "more specific"
    TIME = "other time"
    PLACE = "other place"
    OTHER = "none of these"
    UNKNOWN = "no claims"


RELATIONS = (
    Relation.GENERAL,
    Relation.SPECIFIC,
    Relation.TIME,
    Relation.PLACE,
    Relation.OTHER,
    Relation.UNKNOWN,
)


class Relations:
    """Asks a knowledge base how two entities are related, by their claims.

    `types` gives the types of an entity by its id, with all above them where a knowledge base knows those.
    """

    def __init__(self, get: Callable[[str], Entity | None], types: Callable[[str], Iterable[str]]) -> None:
        self._get, self._types = get, types

    def between(self, gold: str, predicted: str) -> str:
        """What `predicted` is, beside `gold`."""
        right, wrong = self._get(gold), self._get(predicted)
        if right is None or wrong is None or not (right.claims and wrong.claims):
            return Relation.UNKNOWN
        if wrong.id in self._above(right):
            return Relation.GENERAL
        if right.id in self._above(wrong):
            return Relation.SPECIFIC
        if _differ(right.claims, wrong.claims, TIMES, _year):
            return Relation.TIME
        return Relation.PLACE if _differ(right.claims, wrong.claims, PLACES, str) else Relation.OTHER

    def _above(self, entity: Entity) -> set[str]:
        """All that an entity is a kind, an instance or a part of, step by step; circles end."""
        seen: set[str] = set()
        waiting = list(self._next(entity))
        while waiting and len(seen) < MOST_ABOVE:
            id = waiting.pop()
            if id not in seen and id != entity.id:
                seen.add(id)
                further = self._get(id)
                waiting += self._next(further) if further is not None else ()
        return seen

    def _next(self, entity: Entity) -> Iterator[str]:
        for property in ABOVE:
            yield from entity.claims.get(property, ())
        yield from self._types(entity.id)


def _differ(
    right: Mapping[str, tuple[str, ...]],
    wrong: Mapping[str, tuple[str, ...]],
    properties: Iterable[str],
    as_compared: Callable[[str], str],
) -> bool:
    """Whether both have a property, and no value of it in common."""
    for property in properties:
        ours, theirs = right.get(property), wrong.get(property)
        if ours and theirs and {*map(as_compared, ours)}.isdisjoint(map(as_compared, theirs)):
            return True
    return False


def _year(value: str) -> str:
    """The year of a date: one may be given to the day and another not."""
    year = _YEAR.match(value)
    return str(int(year[0])) if year else value
