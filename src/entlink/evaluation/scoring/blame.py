"""Which stage lost a link, and how good the rest could have been: blame and ceilings."""

from __future__ import annotations

from collections.abc import Mapping

from entlink.documents import GoldLink, Link, Record
from entlink.evaluation.scoring.ranking import rank_of


class Cause:
    """Why a gold link is not among the answers. Each miss has one cause: the first stage that lost it.

    Plain strings: millions of them are counted, and members of an enumeration take long to hash.
    """

    COVERAGE = "not in the knowledge base"
    DETECTION = "mention not found"
    BOUNDARIES = "mention found with other boundaries"
    CANDIDATES = "right entity not among the candidates"
    RANKING = "another candidate ranked first"
    UNKNOWN = "another entity chosen; candidates were not written"
    UNKNOWN_NIL = "NIL said; candidates were not written"
    NIL = "NIL said, though the right entity ranked first"
    NOT_NIL = "an entity chosen where gold is NIL"


STAGE_OF: Mapping[str, str] = {
    Cause.COVERAGE: "knowledge base",
    Cause.DETECTION: "detection",
    Cause.BOUNDARIES: "detection",
    Cause.CANDIDATES: "candidates",
    Cause.RANKING: "ranking",
    Cause.UNKNOWN: "candidates or ranking",
    Cause.UNKNOWN_NIL: "candidates or nil",
    Cause.NIL: "nil",
    Cause.NOT_NIL: "nil",
}


class Ceilings(Record, frozen=True):
    """The share of gold that each stage left reachable: what recall would be with every later stage perfect.

    `candidates` and `ranking` are None where the predictions do not tell their candidates, `coverage` is None
    without a knowledge base.
    """

    coverage: float | None
    detection: float
    candidates: float | None
    ranking: float | None
    final: float


def cause_of(gold: GoldLink, answer: Link | None, *, overlapped: bool, is_covered: bool) -> str:
    """Why this gold link was lost. `answer` is the one at its place, and not right."""
    if not is_covered:
        return Cause.COVERAGE
    if answer is None:
        return Cause.BOUNDARIES if overlapped else Cause.DETECTION
    if gold.is_nil:
        return Cause.NOT_NIL
    candidates = answer.candidates
    if not candidates:
        # `Blamer` knows in the end whether a NIL without candidates had none, or does not tell.
        return Cause.UNKNOWN_NIL if answer.is_nil else Cause.UNKNOWN
    rank = rank_of(gold, candidates)
    if rank is None:
        return Cause.CANDIDATES
    return Cause.NIL if answer.is_nil and rank == 1 else Cause.RANKING


def ceilings(gold: int, lost: Mapping[str, int], *, coverage: float | None, has_candidates: bool) -> Ceilings:
    """The ceilings from the causes of all misses, over so many gold links.

    `coverage` is the share of gold that the knowledge base knows, where there is one.
    """

    def share(*stages: str) -> float:
        missed = sum(count for cause, count in lost.items() if STAGE_OF[cause] in stages)
        return (gold - missed) / gold if gold else 1.0

    found = ("knowledge base", "detection")
    known = has_candidates and not lost.get(Cause.UNKNOWN)
    return Ceilings(
        coverage,
        share(*found),
        share(*found, "candidates") if known else None,
        share(*found, "candidates", "ranking") if known else None,
        share(*STAGE_OF.values()),
    )
