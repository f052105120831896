"""How much work a study is, told before it begins: most of it is encoding all entities by every model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import ceil
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from entlink.datasets.temporal import TemporalDataset
    from entlink.interfaces import DualEncoder
    from entlink.learning.train_config import TrainConfig
    from entlink.studies.time.results import TimeOptions

_TRIED = 96  # entities
_USUAL_RATE = 300.0  # entities a second, where there is no encoder to try
_PLAIN_TOKENS = 44  # what a plain encoder reads of an entity, about
_A_STEP = 3.5  # times the encoding of its batch


class Expected(NamedTuple):
    """Distinct texts of entities, models that encode each of them, steps of training, and how long that takes, about.

    `seconds` are without linkers, and without what a study that was interrupted has done already.
    """

    snapshots: int
    texts: int
    encoders: int
    steps: int
    seconds: float


def expected(
    texts: int,
    train: Sequence[int],
    mentions: int,
    options: TimeOptions,
    training: TrainConfig,
    rate: float | None,
) -> Expected:
    """The work of a study over snapshots with so many rows to train on."""
    how = training.training
    rate = (rate or _USUAL_RATE) * _PLAIN_TOKENS / training.model.entity_tokens
    a_step = how.batch * how.accumulate
    limits = [how.steps or how.epochs * ceil(rows / a_step) for rows in train] if options.train else []
    steps = 0 if options.minutes else sum(min(limit, options.steps) for limit in limits)
    learning = len(limits) * (options.minutes or 0.0) * 60 + steps * 2 * a_step * _A_STEP / rate
    encoders = len(limits) + 1
    return Expected(len(train), texts, encoders, steps, learning + encoders * (texts + mentions) / rate)


def rate_of(dual: DualEncoder, data: TemporalDataset, date: str) -> float:
    """Entities that an encoder reads in a second here."""
    from entlink.studies.time.asked import pool_of

    tried = list(islice(pool_of(data, date), _TRIED))
    start = perf_counter()
    dual.encode_entities(tried)
    return len(tried) / (perf_counter() - start)
