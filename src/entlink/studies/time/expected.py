"""How much work a study is, told before it begins: most of it is encoding all entities by every model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from entlink.datasets.temporal import TemporalDataset
    from entlink.interfaces import DualEncoder
    from entlink.studies.time.results import TimeOptions

_TRIED = 96  # entities
_USUAL_RATE = 300.0  # entities a second, where there is no encoder to try
_PLAIN_TOKENS = 44  # what a plain encoder reads of an entity, about
_A_STEP = 3.5  # times the encoding of its batch
_BATCH = 64


class Expected(NamedTuple):
    """Distinct texts of entities, models that encode each of them, steps of training, and how long that takes, about.

    `seconds` are without linkers, and without what a study that was interrupted has done already.
    """

    snapshots: int
    texts: int
    encoders: int
    steps: int
    seconds: float


def expected(texts: int, train: Sequence[int], mentions: int, options: TimeOptions, rate: float | None) -> Expected:
    """The work of a study over snapshots with so many rows to train on."""
    rate = (rate or _USUAL_RATE) * _PLAIN_TOKENS / options.tokens
    models = len(train) if options.train else 0
    steps = models * options.steps
    training = models * options.minutes * 60 if options.minutes else steps * 2 * _BATCH * _A_STEP / rate
    encoding = (models + 1) * (texts + mentions) / rate
    return Expected(len(train), texts, models + 1, steps, training + encoding)


def rate_of(dual: DualEncoder, data: TemporalDataset, date: str) -> float:
    """Entities that an encoder reads in a second here."""
    from entlink.studies.time.asked import pool_of

    tried = list(islice(pool_of(data, date), _TRIED))
    start = perf_counter()
    dual.encode_entities(tried)
    return len(tried) / (perf_counter() - start)
