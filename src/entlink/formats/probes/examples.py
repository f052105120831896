"""What a probing task is made of: entities as the task shows them, rows with gold, and the card of the task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from entlink.documents import Leaf, Record, Span

Family = Literal["cap", "cerp", "efp", "et", "esr", "ert", "ned"]
# What is learnt: one label of a pair or of one entity; several labels of one entity; nothing, the cosine of two
# entities is compared with gold scores; which of the candidates a mention means.
Kind = Literal["classification", "typing", "similarity", "choice"]
Metric = Literal["accuracy", "f1", "spearman"]
# Which vectors stand for an entity: of its mention in its sentence; of its description; of the whole sentence, read
# as a description is; of the mention and of the description, as two entities.
Representation = Literal["context", "description", "statement", "context-description"]
FAMILIES: tuple[Family, ...] = ("cap", "cerp", "efp", "et", "esr", "ert", "ned")
REPRESENTATIONS: tuple[Representation, ...] = ("context", "description", "statement", "context-description")
SPLITS = ("train", "valid", "test")


class ProbeEntity(Leaf, frozen=True):
    """An entity as a task shows it: a mention in a sentence, or a title with a description, or both.

    `start` and `end` are the mention's characters in `sentence`. `entity` is an id; where a row gives only the id,
    title and description are those of the task's `entities.jsonl`.
    """

    sentence: str = ""
    start: int = 0
    end: int = 0
    entity: str = ""
    title: str = ""
    description: str = ""

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    @property
    def mention(self) -> str:
        return self.sentence[self.start : self.end]


class ProbeExample(Record, frozen=True):
    """A row: one or two entities, and what is right of them.

    Classification has one of `labels`, typing any number, similarity a `score` and perhaps the `head` whose pairs
    are ranked together, choice `candidates` of which the one at `gold` is meant. A prior of None is one that the
    source does not know. A candidate with a sentence of its own is read in that one: where a blank is to be filled,
    its name stands in the blank.
    """

    entities: tuple[ProbeEntity, ...]
    labels: tuple[str, ...] = ()
    score: float | None = None
    head: str = ""
    candidates: tuple[ProbeEntity, ...] = ()
    priors: tuple[float | None, ...] = ()
    gold: int | None = None
    id: str = ""


class ProbeCard(Record, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one should know of a task; `representation` is what is reported, `also` what is run beside it."""

    name: str
    title: str
    family: Family
    kind: Kind
    metric: Metric
    representation: Representation
    source: str
    licence: str
    also: tuple[Representation, ...] = ()
    published: str = ""  # what the paper's Table 1 calls the task that it was built as
    lower_case: bool = True
    sizes: Mapping[str, int] = {}  # rows of each split
    covered: int | None = None  # of how many rows of the source all descriptions were found, ...
    of: int | None = None  # ... and how many rows the source has
    notes: str = ""
    settings: Mapping[str, str | int | float | bool] = {}  # what it was built with


class ProbeTask(msgspec.Struct, frozen=True):
    """A task that was read: its card, and the rows of each split."""

    card: ProbeCard
    splits: Mapping[str, tuple[ProbeExample, ...]]

    @property
    def has_training(self) -> bool:
        return self.card.kind != "similarity"

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the training rows, sorted."""
        return tuple(sorted({label for row in self.splits.get("train", ()) for label in row.labels}))
