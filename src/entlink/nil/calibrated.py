"""NIL by the probability that the best candidate is right, as `entlink calibrate` has fitted it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp

from entlink.documents import Candidate, Link, Mention
from entlink.errors import ConfigError
from entlink.interfaces import Shortlist
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.nil.by_type import NO_TYPES, Limit, Share, limit_for
from entlink.nil.measures import measure, share_of_name
from entlink.nil.threshold import PINNED, ThresholdNil


class CalibratedNil:
    """P(the best is right) is the logistic of bias + Σ weight · measure; below `threshold` the mention is NIL.

    No weight is below 0, so more evidence never makes a link less likely. `types` has thresholds of some types. The
    fit holds for a ranker and for evidence: `always` is what every best candidate had, `sometimes` what else there
    was. Where a mention's candidates have other evidence, or nothing was fitted, the ranker's score is held against
    the default of the threshold policy, and the link is not marked as calibrated.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        weights: Mapping[str, float] = NO_TYPES,
        bias: float = 0.0,
        threshold: Share = 0.5,
        types: Mapping[str, Share] = NO_TYPES,
        ranker: str = "",
        always: Sequence[str] = (),
        sometimes: Sequence[str] = (),
    ) -> None:
        for name, weight in weights.items():
            if not weight >= 0:
                raise ConfigError(
                    f"[nil] calibrated: the weight of {name!r} is {weight}, and none may be below 0. "
                    "Run `entlink calibrate` again"
                )
        self.kb, self.weights, self.bias = kb, dict(weights), bias
        self.threshold, self.types, self.ranker = threshold, types, ranker
        self.always, self.known = frozenset(always), frozenset((*always, *sometimes, PINNED))
        self._uncalibrated = ThresholdNil(types=NO_TYPES)
        self._other_ranker = ""
        self._warned = False

    def runs_with(self, ranker: str) -> None:
        """Tell it the name of the ranker: for another than it was fitted to, nothing is calibrated."""
        self._other_ranker = ranker if self.ranker and ranker != self.ranker else ""

    def decide(self, shortlists: Sequence[Shortlist]) -> list[Link]:
        """Each mention by itself: what is decided of one does not depend on which others are asked about with it."""
        unfit = self._unfit()
        links = []
        for shortlist in shortlists:
            strange = unfit or self._strange(shortlist.candidates)
            if strange:
                self._warn(strange)
                links += self._uncalibrated.decide([shortlist])
            else:
                links.append(self._decided(shortlist.mention, tuple(shortlist.candidates)))
        return links

    def _decided(self, mention: Mention, candidates: tuple[Candidate, ...]) -> Link:
        if not candidates:
            return Link(mention, None, 1.0, True, mention.type)
        best = candidates[0]
        probability = self.probability(candidates)
        if best.evidence.get(PINNED) or probability >= self.limit(best).threshold:
            return Link(mention, best.entity, probability, True, None, best.title, candidates)
        return Link(mention, None, 1.0 - probability, True, mention.type, None, candidates)

    def probability(self, candidates: Sequence[Candidate]) -> float:
        """P(the first of the candidates is right); 0 where there are none, 1 where a rule says so."""
        if not candidates:
            return 0.0
        if candidates[0].evidence.get(PINNED):
            return 1.0
        known = logistic(self.bias + sum(weight * measure(name, candidates) for name, weight in self.weights.items()))
        # It was not fitted to names that several entities have: there, no surer than the ranker is of its choice.
        return min(known, share_of_name(candidates))

    def limit(self, best: Candidate) -> Limit:
        """The threshold that holds for a candidate."""
        return limit_for(self.kb.types(best.entity) if self.types else (), self.types, self.threshold)

    def why_nil(self, link: Link) -> str:
        """Why a mention with candidates became NIL."""
        if not link.calibrated:
            return self._uncalibrated.why_nil(link)
        best = link.candidates[0]
        return (
            f"the best candidate is right with probability {self.probability(link.candidates):.3f}, "
            f"too little for a link: the threshold is {self.limit(best)}"
        )

    # Whether the fit holds

    def _unfit(self) -> str:
        """Why nothing that this linker finds is calibrated; nothing where it may be."""
        if not self.weights:
            return "probabilities were never fitted"
        if self._other_ranker:
            return f"the ranker is {self._other_ranker!r}, probabilities were fitted to {self.ranker!r}"
        return ""

    def _strange(self, candidates: Sequence[Candidate]) -> str:
        """What evidence is not as it was when the probabilities were fitted; nothing where all is."""
        seen = {name for one in candidates for name in one.evidence}
        missing = sorted(self.always - seen) if candidates else []
        if missing:
            return f"no candidate has evidence of {', '.join(missing)}, which probabilities were fitted to"
        new = sorted(seen - self.known) if self.known - {PINNED} else []
        return f"there is evidence of {', '.join(new)}, which probabilities were not fitted to" if new else ""

    def _warn(self, strange: str) -> None:
        if self._warned:
            return
        self._warned = True
        import logging

        logging.getLogger(__name__).warning(
            "scores are not calibrated, and the threshold is %g: %s. Run `entlink calibrate %s`",
            self._uncalibrated.threshold,
            strange,
            self.kb.folder,
        )


def logistic(number: float) -> float:
    """From all numbers to those between 0 and 1."""
    return 1.0 / (1.0 + exp(-min(max(number, -500.0), 500.0)))
