"""Which texts stand for the entities of a task, and the vectors of all of them in one pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy

from entlink.documents import Span
from entlink.formats.probes.examples import ProbeEntity, ProbeExample, ProbeTask, Representation
from entlink.io.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.encoders.layered.cached import LayerCache
    from entlink.interfaces import Vectors

    Integers = NDArray[numpy.int64]

# What stands for an entity that is not in a sentence: its description, its title alone, or a vector of a file.
Text = Literal["description", "name", "vectors"]
Context = tuple[str, Span]


class Reading(NamedTuple):
    """How entities are put into texts; of a description, the first words are read."""

    representation: Representation
    text: Text = "description"
    lower_case: bool = True
    words: int = 100


class Places(NamedTuple):
    """Rows of a split as places in the pool: one entity a row, or pairs.

    Of a choice, each candidate is a row with its mention: `starts` says where the rows of a mention begin, and
    `gold` which of them is right.
    """

    left: Integers
    right: Integers | None = None
    starts: Integers | None = None
    gold: Integers | None = None


class Pool(NamedTuple):
    """The vectors of all texts of a task, shaped layers, texts, dimension, and where each row finds its own."""

    vectors: Vectors
    splits: dict[str, Places]


def pool_of(task: ProbeTask, reading: Reading, encoder: LayerCache, progress: Progress = ignore_progress) -> Pool:
    """Encode what a task shows; what two rows share is encoded once."""
    texts = _Texts(reading)
    splits = {split: texts.places(rows) for split, rows in task.splits.items()}
    parts = []
    if texts.contexts:
        parts.append(encoder.encode_contexts(list(texts.contexts), progress))
    if texts.texts:
        parts.append(encoder.encode_descriptions(list(texts.texts), progress))
    vectors = numpy.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
    moved = {split: texts.moved(places) for split, places in splits.items()}
    return Pool(numpy.ascontiguousarray(vectors), moved)


class Coverage(NamedTuple):
    """Of how many entities that a task describes there is only a title, which is read in its place."""

    undescribed: int
    entities: int

    @property
    def is_poor(self) -> bool:
        """Whether most entities have no description, so that scores say little of descriptions."""
        return 2 * self.undescribed > self.entities


def coverage(task: ProbeTask) -> Coverage:
    """How many of the entities of a task have a description; none at all where none is read."""
    card = task.card
    if not any("description" in form for form in (card.representation, *card.also)):
        return Coverage(0, 0)
    entities: dict[tuple[str, str], bool] = {}
    for rows in task.splits.values():
        for row in rows:
            for one in row.candidates or row.entities:
                entities[one.entity, one.title or one.description] = bool(one.description.strip())
    return Coverage(sum(not has for has in entities.values()), len(entities))


class _Texts:
    """Distinct contexts and texts, numbered as they come; texts below zero until all contexts are known."""

    def __init__(self, reading: Reading) -> None:
        self.contexts: dict[Context, int] = {}
        self.texts: dict[str, int] = {}
        self._reading = reading

    def places(self, rows: Sequence[ProbeExample]) -> Places:
        if any(row.candidates for row in rows):
            return self._choices(rows)
        found = [self._of_row(row) for row in rows]
        left = numpy.array([one[0] for one in found], numpy.int64)
        pairs = all(len(one) == 2 for one in found)
        return Places(left, numpy.array([one[1] for one in found], numpy.int64) if pairs else None)

    def _of_row(self, row: ProbeExample) -> list[int]:
        if self._reading.representation == "context-description":
            return [self._context(row.entities[0]), self._description(row.entities[-1])]
        put = {"context": self._context, "description": self._description, "statement": self._statement}
        return [put[self._reading.representation](entity) for entity in row.entities]

    def _choices(self, rows: Sequence[ProbeExample]) -> Places:
        left: list[int] = []
        right: list[int] = []
        starts: list[int] = []
        gold: list[int] = []
        for row in rows:
            starts.append(len(left))
            gold.append(len(left) + (row.gold or 0))
            left += [self._context(one if one.sentence else row.entities[0]) for one in row.candidates]
            right += [self._description(one) for one in row.candidates]
        return Places(*(numpy.array(one, numpy.int64) for one in (left, right, starts, gold)))

    def _context(self, entity: ProbeEntity) -> int:
        context = (self._cased(entity.sentence), entity.span)
        return self.contexts.setdefault(context, len(self.contexts))

    def _statement(self, entity: ProbeEntity) -> int:
        return self._text(entity.sentence)

    def _description(self, entity: ProbeEntity) -> int:
        by_name = self._reading.text == "name" and entity.title.strip()
        read = entity.title if by_name or not entity.description.strip() else entity.description
        return self._text(_first_words(read, self._reading.words))

    def _text(self, text: str) -> int:
        return -1 - self.texts.setdefault(self._cased(text), len(self.texts))

    def _cased(self, text: str) -> str:
        return lowered(text) if self._reading.lower_case else text

    def moved(self, places: Places) -> Places:
        """With texts numbered after the contexts."""
        left, right = self._moved(places.left), None if places.right is None else self._moved(places.right)
        return places._replace(left=left, right=right)

    def _moved(self, numbers: Integers) -> Integers:
        return numpy.where(numbers < 0, len(self.contexts) - 1 - numbers, numbers)


def lowered(text: str) -> str:
    """In lower case with as many characters, so that spans still fit."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(one if len(one.lower()) != 1 else one.lower() for one in text)


def _first_words(text: str, words: int) -> str:
    """The beginning of a text, its white space as single spaces."""
    return " ".join(text.split(maxsplit=words)[:words])
