"""Which names are whole words where a script writes without spaces: 法国 and 学习 in 法国学习, not 国学."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from math import log

from entlink.text.folding import is_spaceless

Place = tuple[int, int]
_ALL = 1e8  # words that the texts of a large knowledge base have: a word seen n times has probability n / all
_UNSEEN = 0.5


def whole_words(text: str, matches: Iterable[Place], times: Callable[[str], int]) -> list[Place]:
    """The matches, less those in spaceless scripts that are inside a longer one or cut a likelier word.

    Of the ways to cut a text into names and single characters, the likeliest is taken, by how often each name is in
    the texts of the knowledge base (`times`).
    """
    spaced: list[Place] = []
    spaceless: list[Place] = []
    for place in matches:
        is_cut = is_spaceless(text[place[0]]) or is_spaceless(text[place[1] - 1])
        (spaceless if is_cut else spaced).append(place)
    found = _likeliest_cut(text, _outermost(spaceless), times)
    return found + _not_inside(spaced, found)


def _not_inside(places: Iterable[Place], others: Sequence[Place]) -> list[Place]:
    starts = [start for start, _ in others]
    before = ((place, bisect_right(starts, place[0]) - 1) for place in places)
    return [place for place, number in before if number < 0 or others[number][1] < place[1]]


def _outermost(places: Iterable[Place]) -> list[Place]:
    found: list[Place] = []
    reached = 0
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        if end > reached:
            found.append((start, end))
            reached = end
    return found


def _likeliest_cut(text: str, places: list[Place], times: Callable[[str], int]) -> list[Place]:
    """Places, sorted by start, none of which overlaps another; a group that overlaps is decided at once."""
    kept: list[Place] = []
    group: list[Place] = []
    for place in places:
        if group and place[0] >= group[-1][1]:
            kept += _best_of(text, group, times)
            group = []
        group.append(place)
    return kept + _best_of(text, group, times)


def _best_of(text: str, group: list[Place], times: Callable[[str], int]) -> list[Place]:
    if len(group) < 2:
        return group
    single = log(_ALL / _UNSEEN)
    by_start = {place[0]: place for place in group}
    first, last = group[0][0], group[-1][1]
    cost, step = {last: 0.0}, {}
    for at in range(last - 1, first - 1, -1):
        cost[at], step[at] = cost[at + 1] + single, at + 1
        if at in by_start:
            end = by_start[at][1]
            word = cost[end] + log(_ALL / (times(text[at:end]) + _UNSEEN))
            if word < cost[at]:
                cost[at], step[at] = word, end
    found, at = [], first
    while at < last:
        if by_start.get(at) == (at, step[at]):
            found.append((at, step[at]))
        at = step[at]
    return found
