"""What the stages of adapting have in common: the linker so far, and how a new one is measured and judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from math import sqrt
from pathlib import Path
from time import monotonic

from entlink.io.progress import Progress
from entlink.learning.adapt.report import StageFigures
from entlink.learning.adapt.senses import SENSES
from entlink.learning.adapt.state import AdaptFolder, AdaptOptions, AdaptState
from entlink.learning.adapt.weights import (
    Fit,
    Score,
    counted_for,
    fitted,
    ranker_of,
    taken,
    with_ranker,
    with_weights,
)
from entlink.learning.own_texts.cases import Case, Parts, parted, read_cases
from entlink.linking.config import LinkerConfig, read_config
from entlink.linking.linker import Linker, load
from entlink.ranking.combination import DEFAULT_WEIGHTS

_MEASURED_A_MINUTE, _FEWEST_MEASURED, _MOST_MEASURED = 50, 200, 2_000
_KNOWN_TO_HELP = ("names", "evidence", SENSES)
_CHANCE = 1.0  # standard errors


class StageTools:
    """`state` has the linker so far, which a stage changes if it is judged to be better."""

    def __init__(
        self, kb: Path, options: AdaptOptions, folder: AdaptFolder, state: AdaptState, progress: Progress
    ) -> None:
        self.kb, self.options, self.folder, self.state = kb, options, folder, state
        self._progress = progress
        self._began = monotonic()
        self._spent_before = state.seconds

    def _spent(self) -> float:
        """Seconds, those of interrupted runs included."""
        return self._spent_before + monotonic() - self._began

    @property
    def accuracy(self) -> float:
        """That of the linker so far."""
        return next(one.after for one in reversed(self.state.stages) if one.kept and one.after is not None)

    @property
    def _balanced(self) -> float:
        """The same with links of unusual meanings as important as they are: what stages are judged by."""
        kept = (one.figures for one in reversed(self.state.stages) if one.kept)
        return next(float(one["balanced"]) for one in kept if "balanced" in one)

    @cached_property
    def _parts(self) -> Parts:
        return self._parted(read_cases(self.folder.cases))

    def _parted(self, cases: Sequence[Case]) -> Parts:
        most = round(min(_MOST_MEASURED, max(_FEWEST_MEASURED, _MEASURED_A_MINUTE * self.options.minutes)))
        return parted(cases, most, self.options.seed)

    @cached_property
    def _given_weights(self) -> Mapping[str, float]:
        """The weights that the linker to start from names: who wrote them knew why, and only links teach others."""
        given: Mapping[str, float] = read_config(self.options.config).ranker.get("weights", {})
        return given

    @property
    def _alone(self) -> Mapping[str, float]:
        """What a linker weighs that knows no company of names yet."""
        return {"company": 0.0, **self._given_weights}

    @contextmanager
    def _linker(self, config: LinkerConfig) -> Iterator[Linker]:
        linker = load(self.kb, config=self.folder.resolved(config), mentions="given")
        try:
            ranker_of(linker)
            yield linker
        finally:
            linker.kb.close()

    @property
    def _has_links(self) -> bool:
        return "link" in self.state.examples

    def _fitted(self, name: str, config: LinkerConfig, *, note: str = "") -> StageFigures:
        """The configuration with weights fitted to the cases to tune with."""
        with self._linker(config) as linker:
            fit = fitted(linker, self._parts.tune, self._parts.held_back, self._progress)
        return self._judged(name, config, fit, note)

    def _weighed(
        self,
        name: str,
        config: LinkerConfig,
        weights: Mapping[str, float],
        *,
        before: Mapping[str, float] | None = None,
        note: str = "",
    ) -> StageFigures:
        """The configuration with weights that are known to do; `before` are those that its bias goes with."""
        before = before or {**DEFAULT_WEIGHTS, **self.state.config.ranker.get("weights", {})}
        config = with_weights(config, weights)
        with self._linker(config) as linker:
            fit = taken(linker, before, self._parts.held_back, self._progress)
        return self._judged(name, config, fit, note)

    def _judged(self, name: str, config: LinkerConfig, fit: Fit, note: str) -> StageFigures:
        """It is the linker's from now on if what is held back is linked better with it.

        Evidence with weights that did well elsewhere is kept unless it is worse by more than chance may make it. Of
        links, those with an unusual meaning count more than others.
        """
        before, after = self._balanced, fit.score.balanced
        error = sqrt(before * (1 - before) / counted_for(self._parts.held_back))
        kept = after >= before - _CHANCE * error if name in _KNOWN_TO_HELP else after > before
        if kept:
            self.state.config = with_ranker(config, weights=fit.weights, bias=fit.bias)
            note = "; ".join(filter(None, (note, self._why_kept(fit.score, error))))
        figures = {"weights": fit.weights, "balanced": after}
        return StageFigures(name, self.accuracy, fit.score.accuracy, kept, note=note, figures=figures)

    def _why_kept(self, found: Score, error: float) -> str:
        """Why a stage is kept with an accuracy that is lower than before; empty where it is not."""
        if found.accuracy >= self.accuracy:
            return ""
        before, after = self._balanced, found.balanced
        if after >= before:
            return (
                "kept with a lower accuracy: with links of an unusual meaning counted five times, as stages are "
                f"judged, it is {before:.3f} before and {after:.3f} after"
            )
        return (
            f"kept with a lower accuracy: {before - after:.3f} less may be chance (up to {error:.3f} is, with so few "
            "examples held back), and this stage helped on other knowledge bases"
        )
