"""Filter 7: mentions of an entity that are alike go into one subset, in all snapshots; each subset needs some.

So a name that was learnt for an entity is never asked for, be it in training and testing of different years.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import msgspec

from entlink.datasets.selection import Splits, hash_of
from entlink.datasets.temporal.counting import BUCKETS, bucket_rows
from entlink.datasets.temporal.distances import Nearness
from entlink.datasets.temporal.filters import KEPT
from entlink.datasets.temporal.options import TemporalOptions
from entlink.engine.protocol import Columns, Engine
from entlink.kb.names.index_rows import JsonLines

TRAIN, VALIDATION, TEST = range(3)
PLACED, ENTITIES = "placed.jsonl", "entities.jsonl"
COLUMNS: dict[str, Columns] = {
    PLACED: {"e": "BIGINT", "f": "STRING", "u": "BIGINT"},
    ENTITIES: {**dict.fromkeys(("s", "e", "g", "y", "h"), "BIGINT")},
}
_SHARES = {"train": 0.6, "validation": 0.2, "test": 0.2}  # of names that are not needed in a certain subset
Uses = Mapping[str, Mapping[int, int]]  # of each mention: in which snapshots, how often


class Placed(msgspec.Struct):
    """Mention `f` of entity `e` goes into subset `u`."""

    e: int
    f: str
    u: int


class _Entity(msgspec.Struct):
    """Entity `e` of category `g` has mentions for every subset as of snapshot `s`, and of `y` snapshots in all."""

    s: int
    e: int
    g: int
    y: int
    h: int


class _Group(NamedTuple):
    """Mentions that are alike, or linked by others that are; with the snapshots they are in and how often."""

    mentions: tuple[str, ...]
    times: Mapping[int, int]


def split_bucket(
    engine: Engine,
    filtered: Path,
    bucket: int,
    options: TemporalOptions,
    fixed: Path | None,
    path: Path,
) -> None:
    """Write where the mentions of a bucket's entities go, and which entities have some for every subset."""
    path.mkdir(exist_ok=True)
    query = "SELECT e, g, s, f, d FROM staged ORDER BY e, g, s, f"
    rows = bucket_rows(engine, filtered / KEPT, bucket, query)
    known = read_fixed(fixed, bucket)
    splitter = Splitter(options)
    placed, entities = JsonLines(path / PLACED), JsonLines(path / ENTITIES)
    for entity, of_entity in groupby(rows, itemgetter(0)):
        uses: dict[str, dict[int, int]] = defaultdict(dict)
        categories: dict[int, set[int]] = defaultdict(set)
        for _, category, snapshot, mention, times in of_entity:
            uses[mention][snapshot] = times
            categories[category].add(snapshot)
        places = splitter.split(entity, uses, known.get(entity, {}))
        full = full_snapshots(uses, places)
        chance = hash_of(options.seed, "entity", str(entity)) >> 1
        for mention, place in places.items():
            placed.add(Placed(entity, mention, place))
        for category, seen in categories.items():
            found = sorted(full & seen)
            for snapshot in found:
                entities.add(_Entity(snapshot, entity, category, len(found), chance))
    placed.close()
    entities.close()


def read_fixed(path: Path | None, bucket: int) -> dict[int, dict[str, int]]:
    """Where an earlier part of the dataset has mentions of the entities of a bucket."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    if path is not None:
        decoder = msgspec.json.Decoder(Placed)
        with path.open("rb") as file:
            for line in file:
                one = decoder.decode(line)
                if one.e % BUCKETS == bucket:
                    found[one.e][one.f] = one.u
    return found


class Splitter:
    """Puts the mentions of one entity after the other into subsets."""

    def __init__(self, options: TemporalOptions) -> None:
        self._seed = options.seed
        self._are_near = Nearness(options.ed_men_subsets)
        self._splits = Splits(_SHARES, options.seed)

    def split(self, entity: int, uses: Uses, fixed: Mapping[str, int]) -> dict[str, int]:
        """The subset of each mention; one that is near to mentions of two subsets has none."""
        places: dict[str, int] = {}
        free: list[_Group] = []
        for group in self._groups(uses, fixed):
            taken = {fixed[mention] for mention in group if mention in fixed}
            if not taken:
                free.append(_Group(group, _times(group, uses)))
            elif len(taken) == 1:
                places |= {mention: taken.copy().pop() for mention in group if mention in uses}
            else:  # an earlier dataset is as it is: only what it has there stays
                places |= {mention: fixed[mention] for mention in group if mention in fixed and mention in uses}
        self._place(entity, free, places, uses)
        return places

    def _groups(self, uses: Uses, fixed: Mapping[str, int]) -> list[tuple[str, ...]]:
        """Mentions connected by being near, as few comparisons as their lengths allow."""
        mentions = sorted({*uses, *fixed}, key=lambda mention: (len(mention), mention))
        roots = list(range(len(mentions)))

        def root(number: int) -> int:
            while roots[number] != number:
                roots[number] = roots[roots[number]]
                number = roots[number]
            return number

        for later, longer in enumerate(mentions):
            for earlier in range(later - 1, -1, -1):
                if not self._are_near.may_be(len(mentions[earlier]), len(longer)):
                    break  # those before it are shorter still
                if root(earlier) != root(later) and self._are_near(mentions[earlier], longer):
                    roots[root(later)] = root(earlier)
        groups: dict[int, list[str]] = defaultdict(list)
        for number, mention in enumerate(mentions):
            groups[root(number)].append(mention)
        return [tuple(group) for group in groups.values()]

    def _place(self, entity: int, free: list[_Group], places: dict[str, int], uses: Uses) -> None:
        covered = [_covered(places, uses, subset) for subset in (TRAIN, VALIDATION, TEST)]

        def chance(group: _Group) -> int:
            return hash_of(self._seed, "group", f"{entity} {group.mentions[0]}")

        # First those that are in most snapshots: each subset needs mentions in all of them.
        for group in sorted(free, key=lambda one: (-len(one.times), -sum(one.times.values()), chance(one))):
            gains = [len(group.times.keys() - seen) for seen in covered]
            by_chance = self._splits.place(f"{entity} {group.mentions[0]}")
            subset = gains.index(max(gains)) if max(gains) else by_chance
            covered[subset] |= group.times.keys()
            places.update(dict.fromkeys(group.mentions, subset))


def full_snapshots(uses: Uses, places: Mapping[str, int]) -> set[int]:
    """The snapshots in which an entity has mentions for every subset."""
    return set.intersection(*(_covered(places, uses, subset) for subset in (TRAIN, VALIDATION, TEST)))


def _covered(places: Mapping[str, int], uses: Uses, subset: int) -> set[int]:
    found: set[int] = set()
    for mention, place in places.items():
        if place == subset and mention in uses:
            found |= uses[mention].keys()
    return found


def _times(group: Iterable[str], uses: Uses) -> dict[int, int]:
    times: dict[int, int] = defaultdict(int)
    for mention in group:
        for snapshot, count in uses.get(mention, {}).items():
            times[snapshot] += count
    return dict(times)
