"""Which of several overlapping spans stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain

Scored = tuple[int, int, float]  # start, end, score; a plain tuple, since every match of every text makes one
Loser = Callable[[Scored, Scored], None]  # told of each span that lost, and to which


def without_overlaps(spans: Sequence[Scored], lost: Loser | None = None) -> list[Scored]:
    """Spans by start with overlaps resolved: the longer of two nested wins, of two crossing the better scored.

    `spans` are sorted by start, then by end. Of the spans that no other contains the best scored stays and
    takes away all it overlaps; then again with what is left, so that a span inside a beaten one has its chance.
    """
    kept: list[Scored] = []
    cluster: list[Scored] = []
    reach = -1
    for span in spans:
        if span[0] >= reach:
            kept += cluster if len(cluster) < 2 else _resolved(cluster, reach, lost)
            cluster = [span]
            reach = span[1]
        else:
            cluster.append(span)
            if span[1] > reach:
                reach = span[1]
    kept += cluster if len(cluster) < 2 else _resolved(cluster, reach, lost)
    return kept


def _resolved(cluster: list[Scored], reach: int, lost: Loser | None) -> list[Scored]:
    """The spans of a cluster that stay; most often one of them holds all the others."""
    start = cluster[0][0]
    whole = next((span for span in cluster if span[0] == start and span[1] == reach), None)
    if whole is None:
        return _by_queue(cluster, lost)
    if lost is not None:
        for span in cluster:
            if span is not whole:
                lost(span, whole)
    return [whole]


def _by_queue(cluster: list[Scored], lost: Loser | None) -> list[Scored]:
    """A queue of the spans that no other contains; a beaten span lets those inside it come forward.

    Looking for them anew after every winner would take forever in a script without spaces, where a long
    sentence can be one chain of overlapping names.
    """
    meets, inside = _meetings(cluster)
    around = Counter(chain.from_iterable(inside))
    # The better scored comes first, then the longer, then the earlier.
    order = [(-score, start - end, start, number) for number, (start, end, score) in enumerate(cluster)]
    queue = [order[number] for number in range(len(cluster)) if number not in around]
    heapify(queue)
    left, kept = set(range(len(cluster))), []
    while queue:
        winner = heappop(queue)[-1]
        if winner not in left:
            continue
        kept.append(cluster[winner])
        beaten = [number for number in meets[winner] if number in left]
        left.difference_update(beaten, (winner,))
        for loser in beaten:
            if lost is not None:
                lost(cluster[loser], cluster[winner])
            for number in inside[loser]:
                around[number] -= 1
                if not around[number] and number in left:
                    heappush(queue, order[number])
    return sorted(kept)


def _meetings(cluster: list[Scored]) -> tuple[list[list[int]], list[list[int]]]:
    """For each span the numbers of those it overlaps, and of those that lie in it."""
    meets: list[list[int]] = [[] for _ in cluster]
    inside: list[list[int]] = [[] for _ in cluster]
    for number, (start, end, _) in enumerate(cluster):
        for other in range(number + 1, len(cluster)):
            other_start, other_end, _ = cluster[other]
            if other_start >= end:
                break
            meets[number].append(other)
            meets[other].append(number)
            if other_end <= end and (other_start, other_end) != (start, end):
                inside[number].append(other)
            elif other_start == start and other_end > end:
                inside[other].append(number)
    return meets, inside
