"""What the study of an unfamiliar knowledge base found, by system and by domain."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from entlink.documents import Record
from entlink.evaluation.published import PublishedFigure
from entlink.evaluation.results import Macro, Micro
from entlink.evaluation.scoring.counts import Counts, macro, micro
from entlink.evaluation.scoring.ranking import BlinkColumns
from entlink.studies.data import Facts

TASKS = ("md", "ed", "el")
TASKS_MEAN = (
    "MD counts every gold span, NIL or not. ED compares the set of entities of each document, of a conversation of "
    "each turn, wherever they stand (C2W of Cornolti et al. 2013): the paper's ED is above its MD on Reddit, which "
    "no score can be that looks at places"
)


class DomainFacts(Record, frozen=True, omit_defaults=False):
    """A domain: its entities, the documents that belong to it, and where the gold of those documents is.

    `inside` is gold in the domain itself, `elsewhere` in other domains only, `unknown` not in the knowledge base.
    """

    name: str
    types: int
    entities: int
    documents: int = 0
    gold: int = 0
    inside: int = 0
    elsewhere: int = 0
    unknown: int = 0
    nil: int = 0


class Given(Record, frozen=True, omit_defaults=False):
    """Given the gold spans: right, answered (not NIL), and asked for; without gold outside of the domain."""

    correct: int
    answered: int
    mentions: int

    @property
    def counts(self) -> Counts:
        return Counts(self.correct, self.answered, self.mentions)


class Outside(Record, frozen=True, omit_defaults=False):
    """Gold outside of the domain: how much of it got an entity, given its spans and end to end. Each is an error."""

    gold: int
    linked_given: int
    linked_end_to_end: int | None = None


class DomainScores(Record, frozen=True, omit_defaults=False):
    """A system in one domain. End to end there are counts of MD, ED and EL: right, predicted, gold."""

    domain: str
    given: Given
    blink: BlinkColumns
    outside: Outside
    end_to_end: dict[str, Counts] | None = None


class Average(Record, frozen=True, omit_defaults=False):
    """Scores over all domains as one, and their means over domains."""

    micro: Micro
    macro: Macro

    @classmethod
    def of(cls, counts: Sequence[Counts]) -> Average:
        return cls(Micro.of(micro(counts)), Macro(*macro(counts), over="domain", groups=len(counts)))


class SystemScores(Record, frozen=True, omit_defaults=False):
    """A system over all domains; `why` tells why it has no scores.

    The recall of `given` is accuracy: of the gold in the domain, what was answered right.
    """

    name: str
    why: str = ""
    given: Average | None = None
    blink: BlinkColumns | None = None
    end_to_end: dict[str, Average] | None = None
    outside: Outside | None = None
    domains: tuple[DomainScores, ...] = ()

    @classmethod
    def of(cls, name: str, domains: list[DomainScores]) -> SystemScores:
        ends = [one.end_to_end for one in domains]
        parts = [end for end in ends if end is not None]
        return cls(
            name,
            given=Average.of([one.given.counts for one in domains]),
            blink=_mean([one.blink for one in domains]),
            end_to_end={task: Average.of([part[task] for part in parts]) for task in TASKS} if parts else None,
            outside=_sum([one.outside for one in domains]),
            domains=tuple(domains),
        )


def _mean(columns: Sequence[BlinkColumns]) -> BlinkColumns:
    """The mean of each column over domains, as the last row of BLINK's tables."""

    def mean(values: Sequence[float]) -> float:
        return fsum(values) / len(values)

    return BlinkColumns(
        mean([one.retriever_accuracy for one in columns]),
        mean([one.recall for one in columns]),
        mean([one.normalised for one in columns]),
        mean([one.unnormalised for one in columns]),
        columns[0].k,
        sum(one.mentions for one in columns),
    )


def _sum(parts: Sequence[Outside]) -> Outside:
    ends = [one.linked_end_to_end for one in parts if one.linked_end_to_end is not None]
    return Outside(
        sum(one.gold for one in parts),
        sum(one.linked_given for one in parts),
        sum(ends) if ends else None,
    )


class UnfamiliarStudy(Record, frozen=True, omit_defaults=False, kw_only=True):
    """All that was measured; `left_out` counts documents that belong to no domain in question, by the reason."""

    facts: Facts
    by: str
    depth: int
    detector: str
    convention: str
    description: str
    domains: list[DomainFacts]
    left_out: dict[str, int]
    systems: list[SystemScores]
    notes: list[str]
    published: tuple[PublishedFigure, ...] = ()
    command: str = ""
