"""A probing task from its folder, with every row checked: what is wrong is named by file and line."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from entlink.errors import SourceError
from entlink.formats.json_records import read_json_lines
from entlink.formats.probes.examples import SPLITS, ProbeCard, ProbeEntity, ProbeExample, ProbeTask
from entlink.formats.probes.writing import CARD, ENTITIES
from entlink.io.inputs import OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import OFFSETS, Place, span_problem

_METRICS = {
    "classification": ("accuracy", "f1"),
    "typing": ("f1",),
    "similarity": ("spearman",),
    "choice": ("accuracy",),
}
_SHOWN = 3


class _Described(msgspec.Struct, frozen=True):
    id: str
    title: str = ""
    description: str = ""


def read_task(folder: Path | str, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> ProbeTask:
    """The task in a folder. Rows that are wrong raise, or with `on_error="skip"` go to `on_problem`.

    An empty split, a single class and, where one label is right, a label that no training row has, always raise.
    """
    folder = Path(folder)
    card = read_card(folder)
    table = {one.id: one for one in _entities(folder / ENTITIES)}
    check = _Rows(card, table)
    wanted = ("test",) if card.kind == "similarity" else SPLITS
    splits = {}
    for split in wanted:
        path = folder / f"{split}.jsonl"
        if not path.is_file():
            raise SourceError(f"the task {card.name!r} has no {split}.jsonl", str(folder), "", "Build it again")
        rows = read_json_lines(path, ProbeExample, check.row, on_error=on_error, on_problem=on_problem)
        splits[split] = tuple(rows)
        if not splits[split]:
            raise SourceError("this split is empty", str(path), "", "Build the task again with more rows")
    task = ProbeTask(card, splits)
    _check_classes(task, folder)
    return task


def read_card(folder: Path | str) -> ProbeCard:
    """The card of the task in a folder."""
    path = Path(folder) / CARD
    if not path.is_file():
        raise SourceError(f"there is no {CARD} here", str(folder), "", "Give the folder of a probing task")
    try:
        card = msgspec.convert(tomllib.loads(path.read_text(encoding="utf8")), ProbeCard)
    except UnicodeDecodeError as problem:
        raise SourceError("the card is not UTF-8", str(path), f"byte {problem.start}", "Convert it") from problem
    except tomllib.TOMLDecodeError as problem:
        raise SourceError(f"this is not TOML: {problem}", str(path), "", "Correct the card") from problem
    except msgspec.ValidationError as problem:
        hint = "docs/probes.md shows what a card holds"
        raise SourceError(f"the card has a wrong or missing key: {problem}", str(path), "", hint) from problem
    _check_card(card, path)
    return card


def _check_card(card: ProbeCard, path: Path) -> None:
    if card.metric not in _METRICS[card.kind]:
        fitting = " or ".join(_METRICS[card.kind])
        raise SourceError(f"the metric {card.metric!r} does not fit {card.kind}", str(path), "", f"Use {fitting}")
    mixed = [one for one in (card.representation, *card.also) if one != "context-description"]
    if card.kind == "choice" and (card.representation != "context-description" or mixed):
        hint = 'Write representation = "context-description"'
        raise SourceError("a choice compares a context with descriptions", str(path), "", hint)


def _entities(path: Path) -> Iterator[_Described]:
    def made(record: _Described, fields: dict[str, Any], place: Place) -> _Described:
        return record

    return read_json_lines(path, _Described, made) if path.is_file() else iter(())


class _Rows:
    """Checks the rows of one task, and puts in the descriptions that they share."""

    def __init__(self, card: ProbeCard, table: dict[str, _Described]) -> None:
        self._card, self._table = card, table
        self._forms = (card.representation, *card.also)
        self._check = {
            "classification": self._classification,
            "typing": self._typing,
            "similarity": self._similarity,
            "choice": self._choice,
        }[card.kind]

    def row(self, record: ProbeExample, fields: dict[str, Any], place: Place) -> ProbeExample:
        if unknown := sorted(fields.keys() - set(ProbeExample.__struct_fields__)):
            known = ", ".join(ProbeExample.__struct_fields__)
            raise place.error(f"a row has no field {unknown[0]!r}", f"Its fields are {known}")
        row = msgspec.structs.replace(
            record,
            entities=tuple(self._filled(one, place) for one in record.entities),
            candidates=tuple(self._filled(one, place) for one in record.candidates),
        )
        self._check(row, place)
        self._mentions(row, place)
        return row

    def _filled(self, entity: ProbeEntity, place: Place) -> ProbeEntity:
        if not entity.entity or entity.title or entity.description:
            return entity
        found = self._table.get(entity.entity)
        if found is None:
            if self._forms == ("context",):
                return entity
            raise place.error(f"{ENTITIES} has no entity {entity.entity!r}", "Build the task again")
        return msgspec.structs.replace(entity, title=found.title, description=found.description)

    def _mentions(self, row: ProbeExample, place: Place) -> None:
        """Every entity has what its representation reads: a mention in a sentence, and a text or a name."""
        in_place = [one for one in row.candidates if one.sentence]
        for number, entity in enumerate((*row.entities, *in_place)):
            # of a mention with its description, the second entity is the one that is described
            is_described = self._card.kind != "choice" and number == 1
            needs_mention = "context" in self._forms or ("context-description" in self._forms and not is_described)
            if needs_mention and not 0 <= entity.start < entity.end <= len(entity.sentence):
                problem = (
                    f"{span_problem(entity.start, entity.end)}; the sentence has {len(entity.sentence)} characters"
                )
                raise place.error(problem, OFFSETS)
            if "statement" in self._forms and not entity.sentence.strip():
                raise place.error("an entity has no sentence", "Give each entity the sentence it is in")
        described: Sequence[ProbeEntity] = row.candidates
        if self._card.kind != "choice":
            described = row.entities if "description" in self._forms else row.entities[-1:]
        if any("description" in form for form in self._forms):
            for entity in described:
                if not (entity.title.strip() or entity.description.strip()):
                    problem = f"the entity {entity.entity!r} has neither a title nor a description"
                    raise place.error(problem, "Leave out rows whose entities are not known")

    def _classification(self, row: ProbeExample, place: Place) -> None:
        if len(row.labels) != 1:
            raise place.error(f"there are {len(row.labels)} labels", 'Give one, as in labels = ["true"]')
        if len(row.entities) not in (1, 2):
            raise place.error(f"there are {len(row.entities)} entities", "Give one or two")

    def _typing(self, row: ProbeExample, place: Place) -> None:
        if len(row.entities) != 1:
            raise place.error(f"there are {len(row.entities)} entities", "Give one")
        if not row.labels or len(set(row.labels)) < len(row.labels):
            raise place.error("the labels are none, or one comes twice", "Give each type of the entity once")

    def _similarity(self, row: ProbeExample, place: Place) -> None:
        if len(row.entities) != 2:
            raise place.error(f"there are {len(row.entities)} entities", "Give two")
        if row.score is None or not math.isfinite(row.score):
            raise place.error(f"the score is {row.score}", "Give a number")

    def _choice(self, row: ProbeExample, place: Place) -> None:
        if len(row.entities) != 1:
            raise place.error(f"there are {len(row.entities)} entities", "Give the mention alone")
        size = len(row.candidates)
        if row.gold is None or not 0 <= row.gold < size:
            raise place.error(f"gold is {row.gold}, and there are {size} candidates", "Count candidates from 0")
        if row.priors and len(row.priors) != size:
            raise place.error(f"there are {len(row.priors)} priors for {size} candidates", "Give one each, or none")
        if any(one is not None and not 0 <= one <= 1 for one in row.priors):
            raise place.error(f"a prior is not between 0 and 1: {row.priors}", "Give probabilities")


def _check_classes(task: ProbeTask, folder: Path) -> None:
    """At least two labels in training, and none elsewhere that training lacks, but for typing."""
    if task.card.kind not in ("classification", "typing"):
        return
    seen = set(task.labels)
    train = str(folder / "train.jsonl")
    if len(sizes := {len(row.entities) for rows in task.splits.values() for row in rows}) > 1:
        problem = f"rows have {' or '.join(map(str, sorted(sizes)))} entities"
        raise SourceError(problem, str(folder), "", "Give all rows of a task as many")
    if len(seen) < 2:
        found = f"one label only, {task.labels[0]!r}" if seen else "no label"
        raise SourceError(f"the training rows have {found}", train, "", "A probe needs rows of two labels or more")
    if task.card.kind == "classification" and task.card.metric == "f1" and len(seen) > 2:
        problem = f"the metric is f1, and there are {len(seen)} labels"
        raise SourceError(problem, str(folder / CARD), "", "F1 is of the second of two labels: use accuracy")
    if task.card.kind == "typing":
        return  # there are thousands of types, and those never seen count as missed
    for split, rows in task.splits.items():
        if unseen := sorted({label for row in rows for label in row.labels} - seen):
            shown = ", ".join(map(repr, unseen[:_SHOWN])) + (" …" if len(unseen) > _SHOWN else "")
            problem = f"{len(unseen)} labels are in no training row: {shown}"
            hint = "Leave those rows out, or add rows of these labels to train.jsonl"
            raise SourceError(problem, str(folder / f"{split}.jsonl"), "", hint)
