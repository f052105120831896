"""What the study of captioned pictures is asked for, and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from entlink.documents import Record
from entlink.evaluation.intervals.resampling import Interval
from entlink.evaluation.published import PublishedFigure
from entlink.evaluation.scoring.conventions import GoldMatch
from entlink.studies.candidates.results import CandidateStudy
from entlink.studies.data import Facts

Part = Literal["candidates", "rankers", "cases", "ablation", "removal", "slices", "curves", "pooling", "robustness"]
PARTS: tuple[Part, ...] = (
    "candidates",
    "rankers",
    "cases",
    "ablation",
    "removal",
    "slices",
    "curves",
    "pooling",
    "robustness",
)
SPLITS = ("train", "dev", "test")
SLICES = ("title", "ambiguous", "gold:clue", "type", "meta:topic")
R_AT = 5


class PictureOptions(Record, frozen=True, kw_only=True):
    """How to study captioned pictures.

    All rankers order the same `k` candidates of a mention. Every model of the first table is trained with `seeds`
    seeds, for at most `minutes` each, as `preset` and `settings` over it say; `models` False trains none. `only`
    keeps to these parts. With `folds` above 1, the table of robustness is made of so many folds by page, so that
    every mention is tested. Mentions whose entity's picture is as near to the caption's own as `near_copy` are
    left out.
    """

    k: int = 10
    seeds: int = 5
    minutes: float | None = None
    models: bool = True
    preset: str = "multimodal"
    settings: Mapping[str, str] = {}
    only: tuple[Part, ...] = ()
    folds: int = 1
    slices: tuple[str, ...] = SLICES
    near_copy: float = 0.7
    cases: int = 12
    rounds: int = 1000
    level: float = 0.95
    seed: int = 0
    match_gold: GoldMatch = GoldMatch.IDENTIFIER
    format: str | None = None
    limit: int | None = None

    def wants(self, part: Part) -> bool:
        """Whether a part is asked for."""
        return not self.only or part in self.only


class SplitFacts(Record, frozen=True, omit_defaults=False):
    """A part of the data: mentions whose entity is in the knowledge base, near-copies not among them.

    `reached` have it among their candidates, `pictured` have a picture on both sides.
    """

    split: str
    documents: int
    mentions: int
    near_copies: int
    reached: int
    pictured: int


class Mean(Record, frozen=True, omit_defaults=False):
    """A mean over runs, their sample standard deviation where there are several, and an interval over documents."""

    value: float
    deviation: float | None = None
    interval: Interval | None = None


class Scores(Record, frozen=True, omit_defaults=False):
    """A ranker on some mentions: P over those answered, R over all. `recall_at_5` is None for runs without lists."""

    mentions: int
    answered: float
    f1: Mean
    precision: Mean
    recall: Mean
    recall_at_5: Mean | None


class RankerScores(Record, frozen=True, omit_defaults=False):
    """A ranker on the dev and test part; `why` says why it has no scores, `runs` how often it was trained."""

    ranker: str
    modality: str
    kind: Literal["evidence", "model", "run"]
    runs: int = 0
    dev: Scores | None = None
    test: Scores | None = None
    seconds: float | None = None
    why: str = ""


class Compared(Record, frozen=True, omit_defaults=False):
    """By how much the F1 of `other` is above that of `first` on the same mentions; `p` of a permutation test."""

    condition: str
    first: str
    other: str
    mentions: int
    difference: float
    interval: Interval
    p: float


class SliceScores(Record, frozen=True, omit_defaults=False):
    """F1 of rankers on a part of the test mentions, by the rankers' names."""

    slice: str
    value: str
    mentions: int
    share: float
    f1: dict[str, float]


class Ablated(Record, frozen=True, omit_defaults=False):
    """A model trained without some inputs; F1."""

    ranker: str
    without: str
    dev: float
    test: float


class Removal(Record, frozen=True, omit_defaults=False):
    """Which mentions a trained model has right with some of its inputs only, P(e|m) removed, too.

    `regions` counts mentions by who has them right, such as "T & T+V". `scores` are F1 by what is left.
    """

    ranker: str
    mentions: int
    regions: dict[str, int]
    f1: dict[str, float]
    f1_with_prior: float


class Curve(Record, frozen=True, omit_defaults=False):
    """F1 of a model by the number of hard negatives (K) or of negatives in the batch (B)."""

    ranker: str
    negatives: Literal["K", "B"]
    numbers: list[int]
    dev: list[float]
    test: list[float]


class Pooled(Record, frozen=True, omit_defaults=False):
    """F1 of a model by how one vector is made of a mention's tokens."""

    ranker: str
    pooling: str
    dev: float
    test: float


class Robust(Record, frozen=True, omit_defaults=False):
    """A ranker where the data was changed."""

    condition: str
    ranker: str
    scores: Scores


class Pictured(Record, frozen=True, omit_defaults=False):
    """An entity in a case: its id and title, and its picture as a small data URL if it has one."""

    id: str
    title: str
    picture: str = ""


class Case(Record, frozen=True, omit_defaults=False):
    """A mention that the text and the text with the picture link to different entities."""

    ranker: str
    twin: str
    document: str
    left: str
    mention: str
    right: str
    picture: str
    gold: Pictured
    with_picture: Pictured | None
    by_text: Pictured | None
    helped: bool | None


class PictureStudy(Record, frozen=True, omit_defaults=False, kw_only=True):
    """All that was measured; what was not asked for is empty or None."""

    facts: Facts
    options: PictureOptions
    training: dict[str, object] | None
    splits: list[SplitFacts]
    left_out: dict[str, int]
    text_evidence: list[str]
    candidates: CandidateStudy | None
    rankers: list[RankerScores]
    compared: list[Compared]
    slices: list[SliceScores]
    sliced: list[str]
    ablation: list[Ablated]
    removal: Removal | None
    curves: list[Curve]
    pooling: list[Pooled]
    robustness: list[Robust]
    cases: list[Case]
    differing: dict[str, int]
    notes: list[str]
    published: tuple[PublishedFigure, ...] = ()
    seconds: float = 0.0
    command: str = ""
