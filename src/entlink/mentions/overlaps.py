"""Which of several overlapping spans stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Scored(NamedTuple):
    """A span with its score."""

    start: int
    end: int
    score: float


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
            kept += cluster if len(cluster) < 2 else _resolved(cluster, lost)
            cluster = [span]
            reach = span[1]
        else:
            cluster.append(span)
            reach = max(reach, span[1])
    kept += _resolved(cluster, lost)
    return kept


def _resolved(cluster: list[Scored], lost: Loser | None) -> list[Scored]:
    kept = []
    while cluster:
        winner = max(_outermost(cluster), key=lambda span: (span.score, span.end - span.start, -span.start))
        kept.append(winner)
        rest = []
        for span in cluster:
            if span.start >= winner.end or span.end <= winner.start:
                rest.append(span)
            elif lost is not None and span != winner:
                lost(span, winner)
        cluster = rest
    return sorted(kept)


def _outermost(cluster: list[Scored]) -> list[Scored]:
    """Spans that lie in no other."""
    return [
        span
        for span in cluster
        if not any(other.start <= span.start and span.end <= other.end and other[:2] != span[:2] for other in cluster)
    ]
