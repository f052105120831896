"""Ranking by the joint score: how likely a span is a mention, times how likely it means the entity."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, isfinite
from pathlib import Path

from entlink.documents import Candidate
from entlink.errors import ConfigError
from entlink.interfaces import Shortlist

_EVIDENCE = "joint"


class JointRanker:
    """Scores a candidate by P(mention) · P(entity | mention), as ELQ does: the sum of their logarithms, as a chance.

    P(entity | mention) is the softmax of the evidence `joint` over the candidates of the mention; one without it
    scores 0. P(mention) is the score of the mention, 1 where it has none. `model` says by what the evidence is
    multiplied; `scale` says it instead.
    """

    needs = "a model of entlink train joint, or its scale"

    def __init__(self, model: str | Path | None = None, *, scale: float | None = None) -> None:
        if (model is None) == (scale is None):
            raise ConfigError("the ranker joint needs either the model whose evidence it ranks, or its scale")
        if scale is not None and not (isfinite(scale) and scale > 0):
            raise ConfigError(f"scale = {scale} does not fit: it is above 0")
        self.scale = _scale_of(model) if model is not None else float(scale or 0.0)

    def rank(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Candidate]]:
        return [self._ranked(one) for one in shortlists]

    def _ranked(self, shortlist: Shortlist) -> list[Candidate]:
        told = [one.evidence.get(_EVIDENCE) for one in shortlist.candidates]
        most = max((one for one in told if one is not None), default=0.0)
        powers = [0.0 if one is None else exp(self.scale * (one - most)) for one in told]
        whole, found = sum(powers) or 1.0, shortlist.mention.score
        chance = 1.0 if found is None else found
        scored = [
            Candidate(one.entity, chance * power / whole, one.evidence, one.title)
            for one, power in zip(shortlist.candidates, powers, strict=True)
        ]
        return sorted(scored, key=lambda one: -one.score)


def _scale_of(model: str | Path) -> float:
    from entlink.encoders.joint.model import load_joint

    return load_joint(model).settings.scale
