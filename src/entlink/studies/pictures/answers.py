"""What rankers say of the mentions: each is fitted when it is first asked, and what a model says is kept on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING

from entlink.io.progress import Progress
from entlink.studies.pictures.material import PLAIN, Condition, Material, Whole
from entlink.studies.pictures.rankers import EvidenceSpec, Input, PictureRanker, RankerSpec
from entlink.studies.pictures.scoring import Run, outcomes

if TYPE_CHECKING:
    from entlink.studies.pictures.models import Models
    from entlink.studies.pictures.results import PictureOptions
    from entlink.studies.place import Place

_NOTHING: frozenset[Input] = frozenset()


class Answers:
    """Rankers over one split of the data; `parts` has the places of train, dev and test, `prefix` names a fold."""

    def __init__(
        self,
        place: Place,
        whole: Whole,
        parts: Mapping[str, Sequence[int]],
        evidence: Sequence[EvidenceSpec],
        models: Models | None,
        options: PictureOptions,
        progress: Progress,
        prefix: str = "",
    ) -> None:
        self.whole, self.parts = whole, dict(parts)
        self.evidence, self.models, self._prefix = list(evidence), models, prefix
        self.place, self.options, self.progress = place, options, progress
        self._fitted: dict[str, PictureRanker] = {}

    def material(self, part: str, condition: Condition = PLAIN) -> Material:
        """A part of the data, changed as the condition says."""
        return self.whole.of(condition).part(self.parts[part], f"{part}, {condition.name}")

    def runs(
        self,
        spec: RankerSpec,
        part: str,
        condition: Condition = PLAIN,
        *,
        without: Set[Input] = _NOTHING,
        prior: bool = True,
        seeds: int | None = None,
    ) -> list[Run]:
        """What the ranker says, a run for each seed; one that is asked about masked names was trained on such."""
        trained = Condition(masked=condition.masked)
        count = (self.options.seeds if seeds is None else seeds) if spec.is_seeded else 1
        return [self._run(spec, part, condition, trained, seed, without, prior=prior) for seed in range(count)]

    def _run(
        self,
        spec: RankerSpec,
        part: str,
        condition: Condition,
        trained: Condition,
        seed: int,
        without: Set[Input],
        *,
        prior: bool,
    ) -> Run:
        material = self.material(part, condition)
        name = f"{self._prefix}{slug(spec.name)}/{trained.name}-{self.options.seed + seed}"

        def scored() -> list[list[float]]:
            ranker = self._ranker(spec, trained, seed, name)
            return ranker.scores(material, without=without, prior=prior)

        if spec.kind == "evidence":
            scores = scored()
        else:
            left = "".join(f"-no-{one}" for one in sorted(without)) + ("" if prior else "-no-prior")
            scores = self.place.kept(f"scores/{name}/{part}-{condition.name}{left}.json", list[list[float]], scored)
        return outcomes(material.asked, material.numbers, scores)

    def _ranker(self, spec: RankerSpec, trained: Condition, seed: int, name: str) -> PictureRanker:
        if name not in self._fitted:
            if spec.kind == "model":
                self._forget_models()
            train, dev = (self.material(part, trained) for part in ("train", "dev"))
            self._fitted[name] = spec.fit(train, dev, self.options.seed + seed, name)
        return self._fitted[name]

    def _forget_models(self) -> None:
        """One model at a time is in memory; they are asked one after the other."""
        for name in [name for name, one in self._fitted.items() if getattr(one, "is_large", False)]:
            del self._fitted[name]


def slug(name: str) -> str:
    """A name as part of a path."""
    return "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-.=") else "_" for sign in name.lower())
