"""What the study of candidates is asked for, and what it found."""

from __future__ import annotations

from typing import Literal

from entlink.documents import Record
from entlink.evaluation.published import PublishedFigure
from entlink.evaluation.scoring.conventions import GoldMatch
from entlink.studies.data import Facts

How = Literal[
    "own list", "on demand", "fused", "in turn", "ranked", "missing", "weights", "slots", "slots of paper 4"
]
KS = (1, 10, 50, 100)


class CandidateOptions(Record, frozen=True):
    """How to study candidates.

    `retrievers` keeps to these of the configuration, or adds one by its name. `slices` are those of `entlink
    evaluate`. `limit` takes the first documents only. `deep` asks each stage for as many candidates as the largest
    of `ks`. `dev` are files on which ensembles are chosen, by weights and by slots: of all retrievers, or of each of
    `ensembles`. `published` sets the figures of paper 4 beside. `match_gold` says whether titles lead to entities,
    too.
    """

    ks: tuple[int, ...] = KS
    retrievers: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    limit: int | None = None
    deep: bool = False
    dev: tuple[str, ...] = ()
    ensembles: tuple[tuple[str, ...], ...] = ()
    published: bool = False
    match_gold: GoldMatch = GoldMatch.IDENTIFIER
    format: str | None = None


class Found(Record, frozen=True, omit_defaults=False):
    """How much of some gold mentions is found: recall at each K, MRR, and how long the lists are on average."""

    mentions: int
    recall_at: dict[int, float]
    mrr: float
    candidates: float


class SliceFound(Record, frozen=True, omit_defaults=False):
    """The same of a part of the gold mentions."""

    slice: str
    value: str
    found: Found


class Method(Record, frozen=True, omit_defaults=False):
    """A way to get candidates. `why` tells why there are no figures; milliseconds are a mention's.

    `first_ms` is of the first time a mention is asked for, `second_ms` of the second time: then what can be kept is.
    """

    name: str
    how: How
    found: Found | None = None
    slices: tuple[SliceFound, ...] = ()
    first_ms: float | None = None
    second_ms: float | None = None
    why: str = ""


class CandidateStudy(Record, frozen=True, omit_defaults=False, kw_only=True):
    """All that was measured; `left_out` counts gold that is not asked for, by the reason."""

    facts: Facts
    documents: int
    mentions: int
    left_out: dict[str, int]
    ks: tuple[int, ...]
    methods: list[Method]
    batches: int
    batch_size: int
    notes: list[str]
    published: tuple[PublishedFigure, ...] = ()
    command: str = ""
