"""The weights of personal mentions, fitted to annotated conversations, and how well that does on held-out ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from entlink.documents import Document, Record
from entlink.errors import InputError, MissingExtraError
from entlink.io.progress import Progress
from entlink.learning.gold_files import GoldFiles
from entlink.learning.personal.lessons import ChoiceLesson, EndLesson, choice_lessons, end_lessons, gold_named
from entlink.learning.personal.named_features import fit_named, rounded
from entlink.linking.conversation.personal.model import PersonalModel, write_model
from entlink.linking.conversation.personal.sums import chance, chosen, shares
from entlink.linking.linker import Linker, load

_FOLDS = 10
_PULL = 1.0
_RAREST = 2


class Lessons(Record, frozen=True):
    """All that some conversations teach: of choices once with what gold says was named, once with what was found."""

    ends: list[EndLesson]
    with_gold: list[ChoiceLesson]
    with_found: list[ChoiceLesson]

    def of(self, wanted: Callable[[str], bool]) -> Lessons:
        """Those of the documents whose ids are wanted."""
        return Lessons(
            [one for one in self.ends if wanted(one.document)],
            [one for one in self.with_gold if wanted(one.document)],
            [one for one in self.with_found if wanted(one.document)],
        )


class ChoiceScore(Record, frozen=True, omit_defaults=False):
    """How phrases were resolved: `right` of `told` that mean something; `linked` in all, `left` rightly alone."""

    phrases: int = 0
    told: int = 0
    linked: int = 0
    right: int = 0
    left: int = 0

    def __add__(self, other: ChoiceScore) -> ChoiceScore:
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return ChoiceScore(*(one + two for one, two in pairs))

    @property
    def accuracy(self) -> float:
        return (self.right + self.left) / self.phrases if self.phrases else 1.0


class PersonalReport(Record, frozen=True, omit_defaults=False):
    """What was learnt from, and figures on conversations that were held out in turn."""

    documents: int
    phrases: int
    ends: tuple[int, int]  # right of all words at which a phrase may end
    with_gold: ChoiceScore
    with_found: ChoiceScore


def require_numpy() -> None:
    """An error that says how to get numpy where it is not there."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise MissingExtraError("fitting weights of personal mentions", "eval") from None


def train_personal(
    kb: str | Path,
    data: Sequence[str | Path],
    output: str | Path,
    *,
    held_out: Sequence[str | Path] = (),
    format: str | None = None,
    config: str | Path | None = None,
    seed: int = 0,
    command: str = "",
    progress: Progress | None = None,
) -> PersonalReport:
    """Fit weights to the conversations of files and write them; those whose ids are in `held_out` are left out.

    `config` is the linker that finds what speakers name, by default the one beside the knowledge base.
    """
    require_numpy()
    files, apart = GoldFiles(data, format), GoldFiles(held_out, format)
    left_out = {document.id for document in apart}
    linker = load(kb, config=config, personal=False)
    try:
        lessons = take_lessons((one for one in files if one.id not in left_out), linker, progress)
    finally:
        linker.kb.close()
    found = cross_validated(lessons, seed, progress)
    made = {
        "command": command,
        "data": files.facts(),
        "held_out": apart.facts(),
        "cross_validated": msgspec.to_builtins(found),
    }
    write_model(Path(output), fit_personal(lessons, made))
    return found


def take_lessons(documents: Iterable[Document], linker: Linker, progress: Progress | None = None) -> Lessons:
    """The lessons of conversations with gold; the linker says what they name besides."""
    found = Lessons([], [], [])
    memory = linker.conversations.memory
    for number, document in enumerate(documents, 1):
        if not document.turns:
            raise InputError(
                f"document {document.id!r} has no turns: personal mentions are learnt from conversations"
            )
        found.ends.extend(end_lessons(document))
        named = gold_named(linker.kb, document)
        if named:
            found.with_gold.extend(choice_lessons(linker.kb, document, named, memory))
            links = linker.link(document).links
            found.with_found.extend(choice_lessons(linker.kb, document, links, memory))
        if progress is not None:
            progress("reading", number, 0)
    if not found.ends or not any(one.is_told for one in found.with_gold):
        raise InputError(
            "there is no personal mention to learn from. Gold links of them have `personal` in their meta, as those "
            "that are read from ConEL's files do"
        )
    return found


def fit_personal(lessons: Lessons, made: Mapping[str, Any] | None = None) -> PersonalModel:
    """The weights that these lessons teach."""
    ends = fit_named(
        [one.row for one in lessons.ends], [one.is_end for one in lessons.ends], pull=_PULL, rarest=_RAREST
    )
    return PersonalModel(
        ends=ends, choice=_fit_choice([*lessons.with_gold, *lessons.with_found]), made=dict(made or {})
    )


def _fit_choice(lessons: Sequence[ChoiceLesson]) -> dict[str, float]:
    import numpy

    from entlink.learning.fit.tables import EvidenceTable
    from entlink.learning.fit.weights import fit_weights

    names = sorted({name for one in lessons for row in one.rows for name in row})
    places = {name: place for place, name in enumerate(names)}
    widest = max(len(one.rows) for one in lessons)
    values = numpy.zeros((len(lessons), widest, len(names)), numpy.float32)
    present = numpy.zeros((len(lessons), widest), numpy.bool_)
    right = numpy.zeros((len(lessons), widest), numpy.bool_)
    for number, one in enumerate(lessons):
        present[number, : len(one.rows)] = True
        right[number, : len(one.rows)] = one.right
        for place, row in enumerate(one.rows):
            for name, value in row.items():
                values[number, place, places[name]] = value
    table = EvidenceTable(tuple(names), values, present, right)
    return rounded(dict(zip(names, fit_weights(table, [0.0] * len(names)), strict=True)))


def cross_validated(lessons: Lessons, seed: int = 0, progress: Progress | None = None) -> PersonalReport:
    """Figures of weights on conversations that they were not fitted to, each in turn."""
    ids = sorted({one.document for one in lessons.ends} | {one.document for one in lessons.with_gold})
    random.Random(seed).shuffle(ids)
    right = everything = 0
    with_gold, with_found = ChoiceScore(), ChoiceScore()
    for fold in range(min(_FOLDS, len(ids))):
        held_out = frozenset(ids[fold::_FOLDS])
        learnt, asked = lessons.of(lambda id: id not in held_out), lessons.of(held_out.__contains__)  # noqa: B023
        if not learnt.ends or not learnt.with_gold:
            continue
        model = fit_personal(learnt)
        right += sum((chance(model.ends, one.row) >= 0.5) == one.is_end for one in asked.ends)
        everything += len(asked.ends)
        with_gold += score_choices(model.choice, asked.with_gold)
        with_found += score_choices(model.choice, asked.with_found)
        if progress is not None:
            progress("cross-validating", fold + 1, _FOLDS)
    return PersonalReport(len(ids), len(lessons.with_gold), (right, everything), with_gold, with_found)


def score_choices(weights: Mapping[str, float] | None, lessons: Collection[ChoiceLesson]) -> ChoiceScore:
    """How these weights resolve phrases; without weights, the nearest that was named is taken."""
    score = ChoiceScore()
    for one in lessons:
        if weights is None:
            answer = None if one.nearest is None else one.entities[one.nearest]
        else:
            answer, _ = chosen(one.entities, shares(weights, one.rows))
        rights = {entity for entity, is_right in zip(one.entities, one.right, strict=False) if is_right}
        is_right = answer is not None and answer in rights
        score += ChoiceScore(1, one.is_told, answer is not None, is_right, answer is None and not one.is_told)
    return score
