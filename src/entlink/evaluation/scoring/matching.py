"""Which predicted items meet which gold ones: at most one each, and as many as possible."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Sequence

from entlink.evaluation.scoring.conventions import Matching
from entlink.evaluation.scoring.items import Gold, Predicted

Edges = list[list[int]]
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)


def without_article(surface: str) -> str:
    """The surface without a leading article, unless nothing would be left."""
    article = _ARTICLE.match(surface)
    return surface[article.end() :] if article else surface


def place_of(matching: Matching) -> Callable[[Gold | Predicted], Hashable]:
    """What must be equal for two items to be at one place. (Weak matching has no such thing.)"""
    if matching is Matching.STRING:
        return lambda item: (item.unit, item.surface)
    if matching is Matching.STRING_WITHOUT_ARTICLES:
        return lambda item: (item.unit, without_article(item.surface))
    return lambda item: (item.start, item.end)


def edges(gold: Sequence[Gold], predicted: Sequence[Predicted], matching: Matching) -> Edges:
    """For each predicted item the numbers of the gold ones whose place it meets."""
    if matching is Matching.WEAK:
        return _overlaps(gold, predicted)
    place = place_of(matching)
    at: dict[Hashable, list[int]] = {}
    for number, one in enumerate(gold):
        at.setdefault(place(one), []).append(number)
    return [at.get(place(one), []) for one in predicted]


def _overlaps(gold: Sequence[Gold], predicted: Sequence[Predicted]) -> Edges:
    """Gold is sorted by start; a maximum of ends so far tells how far back an overlap can reach."""
    order = sorted(range(len(gold)), key=lambda number: gold[number].start)
    reach, reaches = 0, []
    for number in order:
        reach = max(reach, gold[number].end)
        reaches.append(reach)
    return [_overlapping(one, gold, order, reaches) for one in predicted]


def _overlapping(one: Predicted, gold: Sequence[Gold], order: list[int], reaches: list[int]) -> list[int]:
    first = bisect_right(reaches, one.start)
    last = bisect_left(order, one.end, key=lambda number: gold[number].start)
    found = [number for number in order[first:last] if gold[number].end > one.start]
    # The closest first, so that of several largest pairings one that looks right is chosen.
    return sorted(found, key=lambda number: abs(gold[number].start - one.start) + abs(gold[number].end - one.end))


def most_pairs(met: Edges, is_optional: Sequence[bool]) -> dict[int, int]:
    """Predicted → gold, one to one: as many required gold items as possible, and then optional ones."""
    held: dict[int, int] = {}  # predicted → gold
    taken: dict[int, int] = {}  # gold → predicted
    waiting = []
    for predicted, choices in enumerate(met):
        free = next((gold for gold in choices if gold not in taken and not is_optional[gold]), None)
        if free is not None:
            held[predicted], taken[free] = free, predicted
        elif choices:
            waiting.append(predicted)
    if waiting:
        required = [[gold for gold in choices if not is_optional[gold]] for choices in met]
        waiting = [one for one in waiting if not _augment(one, required, held, taken)]
        for one in waiting:
            _augment(one, met, held, taken)
    return held


def _augment(start: int, met: Edges, held: dict[int, int], taken: dict[int, int]) -> bool:
    """Find an alternating path from a predicted item to a free gold one, breadth first, and flip it."""
    came_from: dict[int, int] = {}
    queue = [start]
    for predicted in queue:
        for gold in met[predicted]:
            if gold in came_from:
                continue
            came_from[gold] = predicted
            if gold not in taken:
                _flip(gold, start, came_from, held, taken)
                return True
            queue.append(taken[gold])
    return False


def _flip(gold: int, start: int, came_from: dict[int, int], held: dict[int, int], taken: dict[int, int]) -> None:
    while True:
        predicted = came_from[gold]
        before = held.get(predicted)
        held[predicted], taken[gold] = gold, predicted
        if predicted == start or before is None:
            return
        gold = before
