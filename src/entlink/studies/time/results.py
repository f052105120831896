"""What the study of time is asked for, and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from entlink.documents import Record
from entlink.evaluation.intervals.resampling import Interval
from entlink.evaluation.published import PublishedFigure

KS = (1, 2, 4, 8, 16, 32, 64)
STEPS, PRESET = 150, "time-bi-encoder"
Setting = Literal["in snapshot", "out of snapshot", "difference", "not trained on a snapshot"]
IN: Setting = "in snapshot"
OUT: Setting = "out of snapshot"
DROP: Setting = "difference"
UNTRAINED: Setting = "not trained on a snapshot"


class TimeOptions(Record, frozen=True, kw_only=True):
    """How to study time.

    `snapshots` are dates of the dataset, none for all. A bi-encoder is trained on each, as `preset` and `settings`
    over it say, for `steps` steps (but not more than the preset has) or `minutes`; without `train` none is. `base` is
    what it is trained from, `tokens` are read of a mention in its text and as many of an entity: None leaves both to
    the preset. `emerging` compares adding new entities with building anew. Intervals are over targets.
    """

    snapshots: tuple[str, ...] = ()
    base: str | None = None
    preset: str = PRESET
    settings: Mapping[str, str] = {}
    steps: int = STEPS
    minutes: float | None = None
    train: bool = True
    tokens: int | None = None
    ks: tuple[int, ...] = KS
    categories: str | None = None
    emerging: bool = True
    rounds: int = 1000
    level: float = 0.95
    seed: int = 0


class SnapshotFacts(Record, frozen=True, omit_defaults=False):
    """A snapshot: its entities, rows to learn from, and mentions asked; `missing` targets are not among the
    entities.
    """

    date: str
    entities: int
    train: int
    validation: int
    continual: int
    new: int
    missing: int


class Training(Record, frozen=True, omit_defaults=False):
    """How the bi-encoder of a snapshot was trained: `best` is the share of held-out mentions it has right."""

    date: str
    steps: int
    examples: int
    best: float | None
    seconds: float
    model: str


class Cell(Record, frozen=True, omit_defaults=False):
    """Accuracy@K on a part of a snapshot's mentions: None where there is no such mention."""

    test: str
    mentions: int
    accuracy_at: dict[int, float] | None


class MatrixRow(Record, frozen=True, omit_defaults=False):
    """What a system has on each snapshot; `train` is the one it was trained on, None where on none."""

    system: str
    train: str | None
    entities: str
    cells: list[Cell]


class Estimate(Record, frozen=True, omit_defaults=False):
    """A mean over mentions, or a difference of two, with its interval; `p` is of a permutation test."""

    value: float
    interval: Interval | None = None
    p: float | None = None


class Mean(Record, frozen=True, omit_defaults=False):
    """Accuracy@K of a system on a category over all snapshots; `targets` are what is drawn for the interval."""

    system: str
    category: str
    setting: Setting
    mentions: int
    targets: int
    at: dict[int, Estimate]


class Emerging(Record, frozen=True, omit_defaults=False):
    """New entities of a snapshot, linked in two ways by one system.

    `added`: with the knowledge base and model of the snapshot before, to which the new entities are added. `rebuilt`:
    with those of the snapshot. `seconds` are those of the edit, and of the build with what was trained for it.
    """

    system: str
    earlier: str
    later: str
    entities_added: int
    mentions: int
    targets: int
    added: dict[int, Estimate]
    rebuilt: dict[int, Estimate]
    difference: dict[int, Estimate]
    seconds_to_add: float
    seconds_to_rebuild: float


class TimeStudy(Record, frozen=True, omit_defaults=False, kw_only=True):
    """All that was measured."""

    dataset: str
    entlink: str
    options: TimeOptions
    training: dict[str, Any] | None
    snapshots: list[SnapshotFacts]
    trainings: list[Training]
    systems: dict[str, str]
    categories: list[str]
    rows: list[MatrixRow]
    means: list[Mean]
    emerging: list[Emerging]
    notes: list[str]
    published: tuple[PublishedFigure, ...] = ()
    seconds: float = 0.0
    command: str = ""
