"""What the study of conversations found: scores of every system on every set, by both conventions."""

from __future__ import annotations

from typing import Literal

from entlink.documents import Record
from entlink.evaluation.published import PublishedFigure
from entlink.evaluation.results import Micro
from entlink.evaluation.scoring.conventions import GoldMatch, Matching
from entlink.studies.data import Facts
from entlink.studies.unfamiliar.results import UnfamiliarStudy

Kind = Literal["linker", "run"]
Which = Literal["all", "covered"]
MATCHINGS = (Matching.STRICT, Matching.STRING)
TASKS = ("md", "md_linked", "el")


class ConversationOptions(Record, frozen=True):
    """How to study conversations.

    `turns` keeps to the turns of these speakers, `personal` counts personal mentions, too, and `limit` takes the
    first conversations of each set. With `domains`, a set whose conversations have a domain is also linked domain by
    domain. `rounds`, `level` and `seed` are of the intervals. `match_gold` says whether titles lead to
    entities, too.
    """

    turns: tuple[str, ...] = ()
    personal: bool = False
    limit: int | None = None
    domains: bool = True
    rounds: int = 1000
    level: float = 0.95
    seed: int = 0
    match_gold: GoldMatch = GoldMatch.IDENTIFIER
    format: str | None = None


class SetFacts(Record, frozen=True, omit_defaults=False):
    """A set: its conversations, the turns of them that count, and their gold.

    `strings` is how much gold there is once what is written twice in a turn counts once. `covered` and
    `covered_strings` are what the knowledge base has of both. `nil` is not in `covered`.
    """

    name: str
    files: list[str]
    conversations: int
    turns: int
    gold: int
    strings: int
    covered: int
    covered_strings: int
    nil: int
    left_out: dict[str, int]


class Scored(Record, frozen=True, omit_defaults=False):
    """Scores by one convention: MD of all spans, MD of those with an entity, and EL."""

    matching: str
    gold: Which
    md: Micro
    md_linked: Micro
    el: Micro

    def task(self, name: str) -> Micro:
        """The scores of a task by its name: md, md_linked or el."""
        return {"md": self.md, "md_linked": self.md_linked, "el": self.el}[name]


class SetBlame(Record, frozen=True, omit_defaults=False):
    """Where the gold of EL was lost, by cause, and why answers are wrong."""

    matching: str
    gold: int
    right: int
    misses: dict[str, int]
    wrong: dict[str, int]


class SetScores(Record, frozen=True, omit_defaults=False, kw_only=True):
    """A system on a set; `why` tells why it has no scores."""

    system: str
    set: str
    kind: Kind
    why: str = ""
    scores: tuple[Scored, ...] = ()
    blame: tuple[SetBlame, ...] = ()
    notes: tuple[str, ...] = ()

    def scored(self, matching: Matching, gold: Which) -> Scored | None:
        """Its scores by a convention, if there are any."""
        wanted = (one for one in self.scores if (one.matching, one.gold) == (str(matching), gold))
        return next(wanted, None)


class SetByDomain(Record, frozen=True, omit_defaults=False):
    """A set linked domain by domain, each against its own part of the knowledge base."""

    set: str
    study: UnfamiliarStudy


class ConversationStudy(Record, frozen=True, omit_defaults=False, kw_only=True):
    """All that was measured."""

    facts: Facts
    options: ConversationOptions
    conventions: dict[str, str]
    sets: list[SetFacts]
    results: list[SetScores]
    domains: list[SetByDomain]
    notes: list[str]
    published: tuple[PublishedFigure, ...] = ()
    command: str = ""

    @property
    def systems(self) -> list[tuple[str, Kind]]:
        """The systems in the order in which they were given, each once."""
        return list(dict.fromkeys((one.system, one.kind) for one in self.results))

    def result(self, system: str, set: str) -> SetScores | None:
        """What was found of a system on a set."""
        return next((one for one in self.results if (one.system, one.set) == (system, set)), None)
