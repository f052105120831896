"""Which cases a model is trained on, which it is looked at with meanwhile, and what each is told from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from entlink.documents import Candidate
from entlink.learning.own_texts.cases import PLAIN, Case, Parts, is_known_by_name
from entlink.learning.pairs.examples import Example

BI_ENCODER, CROSS_ENCODER = "bi-encoder", "cross-encoder"
_ENOUGH_CONTESTED = 500  # cases
_PLAIN_FOR_ONE = 4
_ASIDE = 0.1  # of the pages with contested names
_NEGATIVES = {BI_ENCODER: 3, CROSS_ENCODER: 4}


class Lesson(NamedTuple):
    """Examples to train on, and others that tell how far it has come."""

    train: list[Example]
    aside: list[Example]


def lesson(model: str, parts: Parts, weights: Mapping[str, float], seed: int, uses: Sequence[Case] = ()) -> Lesson:
    """The examples of a model, told from the candidates that mislead most by the weights so far.

    It learns from `uses` of shared words, too, but for those on pages that are measured on.
    """
    random = Random(seed)
    train, aside = _of_bi_encoder(parts) if model == BI_ENCODER else _of_cross_encoder(parts, Random(seed))
    measured = {one.source for one in (*parts.tune, *parts.held_back, *aside)}
    train = [*train, *(one for one in uses if one.source not in measured)]
    return Lesson(*([_example(model, one, weights, random) for one in part] for part in (train, aside)))


def _of_bi_encoder(parts: Parts) -> tuple[Sequence[Case], Sequence[Case]]:
    """All cases, plain ones not too many to each of the others."""
    asked = [one for one in parts.train if one.kind != PLAIN]
    times = len(parts.train) // (_PLAIN_FOR_ONE * max(1, len(asked)))
    return parts.train + asked * times, parts.tune


def _of_cross_encoder(parts: Parts, random: Random) -> tuple[Sequence[Case], Sequence[Case]]:
    """Names that are known to mean several, where there are enough: it has no time for others."""
    contested = [one for one in parts.train if sum(map(is_known_by_name, one.candidates)) > 1]
    if len(contested) < _ENOUGH_CONTESTED:
        return parts.train, parts.tune
    pages = sorted({one.source for one in contested})
    aside = set(random.sample(pages, round(_ASIDE * len(pages))))
    return [one for one in contested if one.source not in aside], [one for one in contested if one.source in aside]


def _example(model: str, case: Case, weights: Mapping[str, float], random: Random) -> Example:
    def misleads(one: Candidate) -> tuple[bool, float]:
        told = sum(weight * one.evidence.get(name, 0.0) for name, weight in weights.items())
        return model == CROSS_ENCODER and is_known_by_name(one), told

    order = sorted(case.candidates, key=misleads, reverse=True) if weights else case.candidates
    return case._replace(candidates=order).example(_NEGATIVES[model], random)
