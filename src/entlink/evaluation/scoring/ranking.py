"""How well candidates are found and ordered, over gold mentions: recall@K, accuracy@K, MRR, BLINK's columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import fsum
from typing import NamedTuple

from entlink.documents import Candidate, GoldLink, Link, Record
from entlink.evaluation.scoring.items import fits

KS = (1, 2, 4, 8, 10, 16, 32, 50, 64, 100)


class Outcome(NamedTuple):
    """What became of one gold mention.

    `rank` is the place of the right entity among the candidates as they were given, from 1; `retriever_rank` the
    one by the retriever's own number. None: it is not among them. `says_nil` is false also where nothing was said.
    """

    is_nil: bool
    says_nil: bool
    is_right: bool
    rank: int | None
    retriever_rank: int | None


Outcomes = Mapping[Outcome, int]
# Those there are without candidates: a right answer is its own first one, and nothing said is as good as a wrong one.
RIGHT, WRONG = Outcome(False, False, True, 1, 1), Outcome(False, False, False, None, None)
RIGHT_NIL, WRONG_NIL = Outcome(True, True, True, None, None), Outcome(True, False, False, None, None)
SAID_NIL = Outcome(False, True, False, None, None)


class BlinkColumns(Record, frozen=True):
    """The four columns of BLINK's tables.

    `retriever_accuracy` is of the retriever's own first candidate, `recall` of its first `k`;
    `normalised` is the accuracy of the final choice where the gold entity was among those, `unnormalised` over all.
    """

    retriever_accuracy: float
    recall: float
    normalised: float
    unnormalised: float
    k: int
    mentions: int


def outcome(gold: GoldLink, answer: Link | None, evidence: str | None = None) -> Outcome:
    """What became of a gold mention, given the answer at its place.

    The retriever's order is that of the evidence named so (such as `bi-encoder`), else of the candidates as given.
    """
    if answer is None:
        return Outcome(gold.is_nil, False, False, None, None)
    candidates = answer.candidates
    is_right, rank = fits(gold, answer), rank_of(gold, candidates)
    if rank is None and is_right and not gold.is_nil:
        rank = 1  # an answer that is not among its candidates, or has none, is the first of them
        return Outcome(False, False, True, rank, rank)
    own = rank if evidence is None or rank is None else rank_of(gold, _by_evidence(candidates, evidence))
    return Outcome(gold.is_nil, answer.is_nil, is_right, rank, own)


def rank_of(gold: GoldLink, candidates: Sequence[Candidate]) -> int | None:
    """The place from 1 of the first candidate that is right; None where there is none."""
    for place, candidate in enumerate(candidates, 1):
        if candidate.entity in gold.entities:
            return place
    return None


def _by_evidence(candidates: Sequence[Candidate], evidence: str) -> list[Candidate]:
    return sorted(candidates, key=lambda one: -one.evidence.get(evidence, float("-inf")))


# The scores take outcomes with how often each came, such as a Counter: there are few that differ.


def accuracy(outcomes: Outcomes) -> float:
    """The share of gold mentions whose answer is right; NIL is right for NIL."""
    return _share(outcomes, lambda one: one.is_right)


def accuracy_at(outcomes: Outcomes, k: int) -> float:
    """The share of gold mentions with a right answer among the first `k`: the entity, or for NIL gold a NIL.

    Where all gold is in the knowledge base, and no NIL is said, this is recall@K.
    """
    return _share(
        outcomes, lambda one: one.is_right or (not (one.is_nil or one.says_nil) and _is_within(one.rank, k))
    )


def recall_at(outcomes: Outcomes, k: int) -> float:
    """The share of gold entities among the first `k` candidates; NIL gold does not count."""
    return _share(of_entities(outcomes), lambda one: _is_within(one.rank, k))


def reciprocal_rank(outcomes: Outcomes) -> float:
    """MRR: the mean of 1 ÷ rank over gold entities, 0 where the entity is not among the candidates."""
    return _share(of_entities(outcomes), lambda one: 1.0 / one.rank if one.rank else 0.0)


def blink_columns(outcomes: Outcomes, k: int = 64) -> BlinkColumns:
    """BLINK's four columns over gold in the knowledge base."""
    entities = of_entities(outcomes)
    found = {one: times for one, times in entities.items() if _is_within(one.retriever_rank, k)}
    return BlinkColumns(
        _share(entities, lambda one: one.retriever_rank == 1),
        _share(entities, lambda one: one in found),
        _share(found, lambda one: one.is_right),
        _share(entities, lambda one: one in found and one.is_right),
        k,
        sum(entities.values()),
    )


def of_entities(outcomes: Outcomes) -> Outcomes:
    """Those of gold that is not NIL."""
    return {one: times for one, times in outcomes.items() if not one.is_nil}


def _is_within(rank: int | None, k: int) -> bool:
    return rank is not None and rank <= k


def _share(outcomes: Outcomes, part: Callable[[Outcome], float]) -> float:
    total = sum(outcomes.values())
    return fsum(part(one) * times for one, times in outcomes.items()) / total if total else 0.0
