"""Which cases the bi-encoder is trained on, which it is looked at with meanwhile, and what each is told from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from entlink.documents import Candidate
from entlink.learning.own_texts.cases import PLAIN, Case, Parts
from entlink.learning.pairs.examples import Example

BI_ENCODER = "bi-encoder"
_PLAIN_FOR_ONE = 4
_NEGATIVES = 3


class Lesson(NamedTuple):
    """Examples to train on, and others that tell how far it has come."""

    train: list[Example]
    aside: list[Example]


def lesson(parts: Parts, weights: Mapping[str, float], seed: int, uses: Sequence[Case] = ()) -> Lesson:
    """The examples of a bi-encoder, told from the candidates that mislead most by the weights so far.

    It learns from `uses` of shared words, too, but for those on pages that are measured on.
    """
    random = Random(seed)
    measured = {one.source for one in (*parts.tune, *parts.held_back)}
    train = [*_all_kinds(parts), *(one for one in uses if one.source not in measured)]
    return Lesson(*([_example(one, weights, random) for one in part] for part in (train, parts.tune)))


def _all_kinds(parts: Parts) -> Sequence[Case]:
    """All cases to train on, plain ones not too many to each of the others."""
    asked = [one for one in parts.train if one.kind != PLAIN]
    times = len(parts.train) // (_PLAIN_FOR_ONE * max(1, len(asked)))
    return parts.train + asked * times


def _example(case: Case, weights: Mapping[str, float], random: Random) -> Example:
    def misleads(one: Candidate) -> float:
        return sum(weight * one.evidence.get(name, 0.0) for name, weight in weights.items())

    order = sorted(case.candidates, key=misleads, reverse=True) if weights else case.candidates
    return case._replace(candidates=order).example(_NEGATIVES, random)
