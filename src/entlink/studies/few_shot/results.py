"""What the study of few-shot gold is asked for, and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from entlink.documents import Record
from entlink.evaluation.few_shot import SetCounts
from entlink.evaluation.intervals.resampling import Interval
from entlink.evaluation.published import PublishedFigure
from entlink.evaluation.scoring.conventions import GoldMatch
from entlink.studies.data import Facts

Part = Literal["all gold", "few-shot"]
PARTS: tuple[Part, ...] = ("all gold", "few-shot")
AT = "AT"  # the alias table by itself
KS = (1, 10, 100)
SAID_NIL = "NIL said"


class FewShotOptions(Record, frozen=True):
    """How to study few-shot gold.

    `limit` takes the first documents only. `rounds`, `level` and `seed` are of the intervals. `match_gold` says
    whether titles lead to entities, too.
    """

    limit: int | None = None
    rounds: int = 1000
    level: float = 0.95
    seed: int = 0
    match_gold: GoldMatch = GoldMatch.IDENTIFIER
    format: str | None = None


class Estimate(Record, frozen=True, omit_defaults=False):
    """A share with its interval."""

    value: float
    interval: Interval | None = None


class PartScores(Record, frozen=True, omit_defaults=False):
    """A system on a part of the gold.

    `recall_at` is of gold with an entity; of a linker it has R@1 only. `with_nil` and `typed_nil` are the accuracy
    over all gold; the second is None where no NIL of the gold has a type. `losses` says why gold entities were not
    found, `relations` how what was said in place of an entity that was among the alias table's ten is related to it.
    """

    mentions: int
    in_kb: int
    recall_at: dict[int, Estimate]
    with_nil: Estimate
    typed_nil: Estimate | None
    losses: dict[str, int]
    relations: dict[str, int]


class SystemScores(Record, frozen=True, omit_defaults=False):
    """A system on each part that has gold; `why` tells why it has no scores."""

    system: str
    why: str = ""
    parts: Mapping[str, PartScores] = {}


class FewShotStudy(Record, frozen=True, omit_defaults=False, kw_only=True):
    """All that was measured; `counts` are the sizes of the parts."""

    facts: Facts
    options: FewShotOptions
    counts: dict[str, SetCounts]
    systems: list[SystemScores]
    notes: list[str]
    published: tuple[PublishedFigure, ...] = ()
    command: str = ""
