"""What an evaluation found, as records that are saved as JSON and read again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from entlink.documents import Record
from entlink.errors import SourceError
from entlink.evaluation.intervals.resampling import Interval, Intervals
from entlink.evaluation.leakage import Leakage
from entlink.evaluation.scoring.blame import Ceilings
from entlink.evaluation.scoring.conventions import Convention
from entlink.evaluation.scoring.counts import Counts
from entlink.evaluation.scoring.ranking import BlinkColumns
from entlink.evaluation.scoring.tally import Column
from entlink.io.inputs import Input, input_name, open_input

KIND = "entlink evaluation, version 1"
TASKS = ("md", "md_linked", "ed", "el")


class Micro(Record, frozen=True, omit_defaults=False):
    """Scores over all documents as one, with the counts behind them."""

    precision: float
    recall: float
    f1: float
    correct: int
    predicted: int
    gold: int
    intervals: Intervals | None = None

    @classmethod
    def of(cls, counts: Counts, intervals: Intervals | None = None) -> Micro:
        return cls(*counts.scores, *counts, intervals)


class Macro(Record, frozen=True, omit_defaults=False):
    """Means of scores `over` groups: the values of a field of meta, or documents."""

    precision: float
    recall: float
    f1: float
    over: str
    groups: int
    intervals: Intervals | None = None


class Task(Record, frozen=True, omit_defaults=False):
    """A task's scores, and the name of the convention they are counted by."""

    convention: str
    micro: Micro
    macro: Macro


class ConventionName(Record, frozen=True, omit_defaults=False):
    """The convention of the scores, by its names and in words."""

    name: str
    matching: str
    nil: str
    description: str
    chosen: str = ""
    gold: str = "identifier"

    @classmethod
    def of(cls, convention: Convention, chosen: str = "") -> ConventionName:
        rules = str(convention.matching), str(convention.nil)
        return cls(convention.name, *rules, convention.describe(), chosen, str(convention.gold))


class Slice(Record, frozen=True, omit_defaults=False):
    """A part of the gold: how much of it was found (`md`) and linked right (`el`), and how many candidates had it.

    Only slices of documents have a precision in `el`; elsewhere predicted is what was predicted at the gold's places.
    """

    slice: str
    value: str
    gold: int
    documents: int
    md_recall: float
    el_recall: float
    intervals: Intervals | None = None
    precision: float | None = None
    f1: float | None = None
    candidate_recall: float | None = None


class Example(Record, frozen=True):
    """A miss or a wrong answer to read: the text around it, what is right and what was said."""

    cause: str
    stage: str
    document: str
    left: str
    mention: str
    right: str
    gold: tuple[str, ...] = ()
    predicted: str | None = None
    says_nil: bool = False
    score: float | None = None
    candidates: tuple[str, ...] = ()


class Blame(Record, frozen=True, omit_defaults=False):
    """How many gold links each cause lost, how many answers were wrong and why, and examples of both."""

    misses: dict[str, int]
    stages: dict[str, int]
    wrong: dict[str, int]
    ceilings: Ceilings
    examples: list[Example]


class Saliency(Record, frozen=True, omit_defaults=False):
    """How many spans are predicted a document, against how many gold has."""

    gold_per_document: float
    predicted_per_document: float
    ratio: float | None
    outside: int


class Coverage(Record, frozen=True, omit_defaults=False):
    """How much of the gold the knowledge base knows: of links, and of distinct entities. The scores are over that."""

    kb: str
    convention: str
    links: int
    covered_links: int
    entities: int
    covered_entities: int
    examples: list[str]
    el: Micro


class Ranking(Record, frozen=True, omit_defaults=False):
    """Over gold mentions: accuracy in the knowledge base and with NIL, recall and accuracy at K, MRR."""

    accuracy: float
    accuracy_in_kb: float
    accuracy_typed_nil: float
    mentions: int
    in_kb: int
    recall_at: dict[int, float]
    accuracy_at: dict[int, float]
    mrr: float | None
    blink: BlinkColumns | None
    accuracy_interval: Interval | None = None
    accuracy_in_kb_interval: Interval | None = None
    macro_accuracy_in_kb: float | None = None
    accuracy_typed_nil_interval: Interval | None = None


class FileFacts(Record, frozen=True, omit_defaults=False):
    """A file that was read: its name, format and checksum."""

    name: str
    format: str
    sha256: str
    skipped: int = 0


class PerDocument(Record, frozen=True, omit_defaults=False):
    """Counts by document, for tests between runs: of each task the correct, predicted and gold."""

    ids: list[str]
    groups: list[str]
    counts: dict[str, tuple[list[int], list[int], list[int]]]

    def column(self, task: str) -> Column:
        found = Column()
        for counts in zip(*self.counts[task], strict=True):
            found.add(Counts(*counts))
        return found


class Evaluation(Record, frozen=True, omit_defaults=False, kw_only=True):
    """All that was measured of one run. `nil_types` has of NIL gold, by its type, how often what was said."""

    kind: str = KIND
    name: str
    version: str
    documents: int
    convention: ConventionName
    md: Task
    md_linked: Task
    ed: Task
    el: Task
    nil: Micro
    nil_typed: Micro
    nil_types: Mapping[str, Mapping[str, int]] = {}
    conventions: dict[str, dict[str, Task]]
    ranking: Ranking
    slices: list[Slice]
    blame: Blame
    saliency: Saliency
    coverage: Coverage | None
    leakage: Leakage | None
    notes: list[str]
    settings: dict[str, Any]
    per_document: PerDocument
    gold: FileFacts | None = None
    predictions: FileFacts | None = None
    command: str = ""

    def task(self, name: str) -> Task:
        """A task by its name: md, md_linked, ed or el."""
        found: Mapping[str, Task] = {"md": self.md, "md_linked": self.md_linked, "ed": self.ed, "el": self.el}
        return found[name]


def encode_evaluation(evaluation: Evaluation) -> bytes:
    """The evaluation as JSON, a line for each of its parts."""
    parts = msgspec.to_builtins(evaluation)
    lines = (msgspec.json.encode(name) + b": " + msgspec.json.encode(part) for name, part in parts.items())
    return b"{\n" + b",\n".join(lines) + b"\n}\n"


def is_evaluation(head: bytes) -> bool:
    """Whether a file that begins so is a saved evaluation."""
    return re.match(rb'\s*\{\s*"kind":\s*"entlink evaluation', head) is not None


def read_evaluation(source: Input) -> Evaluation:
    """An evaluation that was saved."""
    name = input_name(source)
    with open_input(source) as file:
        content = file.read()
    hint = "Make it with `entlink evaluate GOLD PREDICTIONS -o RUN.json`"
    if is_evaluation(content) and KIND.encode() not in content[:200]:
        raise SourceError("it was saved by another version of entlink", name, hint="Evaluate again")
    try:
        return msgspec.json.decode(content, type=Evaluation)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SourceError(f"this is not a saved evaluation ({error})", name, hint=hint) from error
