"""The tables and figures of the study: each asks rankers about the same mentions, whole or in part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from entlink.datasets.selection import hash_of
from entlink.studies.pictures.answers import Answers
from entlink.studies.pictures.material import PLAIN, Condition
from entlink.studies.pictures.rankers import PICTURES_OF_BOTH, TEXTS, Input, RankerSpec, without_prior
from entlink.studies.pictures.results import (
    SPLITS,
    Ablated,
    Compared,
    Curve,
    PictureOptions,
    Pooled,
    RankerScores,
    Removal,
    Robust,
    SliceScores,
)
from entlink.studies.pictures.scoring import Run, compared, f1_of, scores_of, some_of
from entlink.studies.pictures.sets import Asked, page_of

MASKED, RANDOM, BOTH = Condition(masked=True), Condition(random=True), Condition(masked=True, random=True)
ALL = "test with near-copies"  # a part of the data
AS_IT_IS, WITH_RANDOM, WITH_NEAR = "as it is", "random pictures", "near-copies put back"
NAMES_MASKED, MASKED_RANDOM = "names masked", "names masked, random pictures"
T, V, TV = "T", "V", "T+V"
_DEV_FOLD = 9  # of the pages that are trained on, one in so many is for dev


class Analyses:
    """Each method is a part of the study."""

    def __init__(self, answers: Answers, options: PictureOptions) -> None:
        self._answers, self._options = answers, options
        self.specs: list[RankerSpec] = [*answers.evidence, *(answers.models.table if answers.models else [])]

    # Tables 5 and 8

    def rankers(self) -> list[RankerScores]:
        """Every ranker on dev and test."""
        return [self._of(spec) for spec in self.specs]

    def _of(self, spec: RankerSpec) -> RankerScores:
        found = {}
        for part in ("dev", "test"):
            runs = self._answers.runs(spec, part)
            found[part] = scores_of(self._answers.material(part).asked, runs, self._options)
        count = self._options.seeds if spec.is_seeded else 1
        seconds = self._answers.models.seconds_of(spec) if self._answers.models else None
        return RankerScores(spec.name, spec.modality, spec.kind, count, found["dev"], found["test"], seconds)

    def pairs(self) -> list[tuple[RankerSpec, RankerSpec]]:
        """What reads text only, with its twin that looks at pictures, too."""
        named = {spec.name: spec for spec in self._answers.evidence}
        found: list[tuple[RankerSpec, RankerSpec]] = [
            (named[text], named[f"{text} + picture"])
            for text in ("text", "P(e|m) + text")
            if text in named and f"{text} + picture" in named
        ]
        models = self._answers.models
        return found + [(models.text, fusion) for fusion in models.fusions] if models else found

    def compared(self) -> list[Compared]:
        """Text and picture against text alone, on the test part."""
        asked = self._answers.material("test").asked
        return [
            compared(
                AS_IT_IS,
                asked,
                (text.name, self._answers.runs(text, "test")),
                (both.name, self._answers.runs(both, "test")),
                self._options,
            )
            for text, both in self.pairs()
        ]

    # Table 7

    def slices(self) -> list[SliceScores]:
        """F1 by the visual clue, the type, the topic and whatever else the slices are."""
        asked = self._answers.material("test").asked
        wanted = [spec for pair in self.pairs() for spec in pair] or self.specs
        runs = {spec.name: self._answers.runs(spec, "test") for spec in wanted}
        places: dict[tuple[str, str], list[int]] = {}
        for at, one in enumerate(asked):
            for label in one.labels:
                places.setdefault(label, []).append(at)
        order = {name: place for place, name in enumerate(self._options.slices)}
        return [
            SliceScores(
                *label,
                len(kept),
                len(kept) / len(asked),
                {name: f1_of(*some_of(asked, own, kept)) for name, own in runs.items()},
            )
            for label, kept in sorted(places.items(), key=lambda one: (order[one[0][0]], -len(one[1]), one[0][1]))
        ]

    # Table 6, table 9, figures 8 and 9

    def ablation(self) -> list[Ablated]:
        """A fusion trained without each of its inputs; the first seed."""
        models = self._answers.models
        return [Ablated(spec.name, told, *self._both(spec)) for told, spec in models.ablated()] if models else []

    def pooling(self) -> list[Pooled]:
        """A fusion with each way of pooling; the first seed."""
        models = self._answers.models
        return [Pooled(spec.name, how, *self._both(spec)) for how, spec in models.pooled()] if models else []

    def curves(self) -> list[Curve]:
        """A fusion with fewer hard negatives, and with fewer in the batch; the first seed."""
        models, found = self._answers.models, []
        for negatives, specs in models.curves() if models else ():
            both = [self._both(spec) for _, spec in specs]
            numbers = [number for number, _ in specs]
            name = models.best.name if models else ""
            found.append(Curve(name, negatives, numbers, [dev for dev, _ in both], [test for _, test in both]))
        return found

    def _both(self, spec: RankerSpec) -> tuple[float, float]:
        dev, test = (
            f1_of(self._answers.material(part).asked, self._answers.runs(spec, part, seeds=1))
            for part in ("dev", "test")
        )
        return dev, test

    def removal(self) -> Removal | None:
        """Who has which mentions right once inputs are removed from one trained ranker, and P(e|m) with them."""
        spec = self._whole()
        if spec is None:
            return None
        asked = self._answers.material("test").asked
        left: dict[str, frozenset[Input]] = {T: PICTURES_OF_BOTH, V: TEXTS, TV: frozenset()}
        runs = {
            name: self._answers.runs(spec, "test", without=without, prior=False, seeds=1)[0]
            for name, without in left.items()
        }
        regions: Counter[str] = Counter({" & ".join(names): 0 for names in _regions((T, V, TV))})
        for row in zip(*runs.values(), strict=True):
            names = [name for name, one in zip(runs, row, strict=True) if one.is_right]
            if names:
                regions[" & ".join(names)] += 1
        f1 = {name: f1_of(asked, [run]) for name, run in runs.items()}
        whole = f1_of(asked, self._answers.runs(spec, "test", seeds=1))
        return Removal(spec.name, len(asked), dict(regions), f1, whole)

    def _whole(self) -> RankerSpec | None:
        """The ranker that sees all: a fusion, else the sum of all evidence."""
        if self._answers.models:
            return self._answers.models.best
        pairs = self.pairs()
        return pairs[-1][1] if pairs else None

    # Robustness

    def robustness(self) -> tuple[list[Robust], list[Compared]]:
        """Names masked, random pictures, near-copies put back; over the test part, or over folds."""
        folds = self._folds() if self._options.folds > 1 else [self._answers]
        found: list[Robust] = []
        tests: list[Compared] = []
        for text, both in self.pairs():
            rows = _Rows(folds, text, both, self._options)
            found += rows.robust()
            tests += rows.compared()
        unique = {(one.condition, one.ranker): one for one in found}
        return list(unique.values()), tests

    def _folds(self) -> list[Answers]:
        """As many splits as there are folds, each page in the test part of one of them."""
        return [self._fold(number) for number in range(self._options.folds)]

    def _fold(self, number: int) -> Answers:
        ours, options = self._answers, self._options
        kept = {at for split in SPLITS for at in ours.parts[split]}
        parts: dict[str, list[int]] = {name: [] for name in (*SPLITS, ALL)}
        for at, one in enumerate(ours.whole.asked):
            split = _split_of_fold(page_of(one.document), number, options)
            if at in kept:
                parts[split].append(at)
            if split == "test":
                parts[ALL].append(at)
        prefix = f"fold-{number + 1}-of-{options.folds}/"
        return Answers(ours.place, ours.whole, parts, ours.evidence, ours.models, options, ours.progress, prefix)


def _split_of_fold(page: str, number: int, options: PictureOptions) -> str:
    if hash_of(options.seed, "fold", page) % options.folds == number:
        return "test"
    return "train" if hash_of(options.seed, "dev", page) % _DEV_FOLD else "dev"


class _Rows:
    """A pair of rankers where the data is changed, over one split or all folds; the first seed of models."""

    def __init__(self, folds: Sequence[Answers], text: RankerSpec, both: RankerSpec, options: PictureOptions) -> None:
        self._folds, self._options = folds, options
        self._text, self._both = text, both
        # Whoever masks the name hides what P(e|m) is about.
        self._can_mask = without_prior(text) and without_prior(both)

    def robust(self) -> Iterator[Robust]:
        for condition, part, changed, specs in self._conditions():
            asked = self._asked(part)
            for spec in specs:
                run = self._run(spec, part, changed)
                yield Robust(condition, spec.name, scores_of(asked, [run], self._options))

    def _conditions(self) -> Iterator[tuple[str, str, Condition, list[RankerSpec]]]:
        pair = [self._text, self._both]
        yield AS_IT_IS, "test", PLAIN, pair
        yield WITH_RANDOM, "test", RANDOM, [self._both]
        yield WITH_NEAR, ALL, PLAIN, pair
        if self._can_mask:
            yield NAMES_MASKED, "test", MASKED, pair
            yield MASKED_RANDOM, "test", BOTH, [self._both]

    def compared(self) -> Iterator[Compared]:
        asked, options = self._asked("test"), self._options
        text, both = self._text.name, self._both.name

        def of(spec: RankerSpec, condition: Condition) -> list[Run]:
            return [self._run(spec, "test", condition)]

        plain = text, of(self._text, PLAIN)
        yield compared(f"{AS_IT_IS} (first seed)", asked, plain, (both, of(self._both, PLAIN)), options)
        yield compared(WITH_RANDOM, asked, plain, (both, of(self._both, RANDOM)), options)
        if self._can_mask:
            seen = both, of(self._both, MASKED)
            yield compared(NAMES_MASKED, asked, (text, of(self._text, MASKED)), seen, options)
            random = f"{both}, random pictures", of(self._both, BOTH)
            yield compared(NAMES_MASKED, asked, random, seen, options)

    def _asked(self, part: str) -> list[Asked]:
        return [one for fold in self._folds for one in fold.material(part).asked]

    def _run(self, spec: RankerSpec, part: str, condition: Condition) -> Run:
        prior = not condition.masked
        return [one for fold in self._folds for one in fold.runs(spec, part, condition, prior=prior, seeds=1)[0]]


def _regions(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(1, len(names) + 1):
        yield from combinations(names, size)
