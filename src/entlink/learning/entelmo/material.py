"""A WikiEnt set as numbers: contexts and descriptions as rows of words, and the vocabulary that is predicted."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy

from entlink.datasets.selection import hash_of
from entlink.datasets.wikient.rows import Context, read_contexts, read_descriptions
from entlink.encoders.recurrent.words import (
    CONTEXT_START,
    DESCRIPTION_START,
    SENTENCE_END,
    SENTENCE_START,
    window_start,
    word_bytes,
    words,
    words_within,
)
from entlink.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from entlink.encoders.recurrent.settings import RecurrentShape
    from entlink.io.progress import Progress
    from entlink.learning.entelmo.config import EntElmoModel

    Row = NDArray[numpy.int32]

SPECIAL = (SENTENCE_END, "<UNK>", CONTEXT_START, DESCRIPTION_START, SENTENCE_START)
UNKNOWN = SPECIAL.index("<UNK>")
_EVERY = 4096  # rows between two reports of progress


class Lesson(NamedTuple):
    """A context as words, the words `[first, last)` of its mention, and the place of its description."""

    words: Row
    first: int
    last: int
    description: int


class LessonTable:
    """Lessons in a few arrays: an object for each would take ten times the memory."""

    def __init__(self) -> None:
        self._words = array("i")
        self._ends, self._places = array("q"), array("i")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, at: int) -> Lesson:
        begin, end = self._ends[at - 1] if at else 0, self._ends[at]
        return Lesson(numpy.array(self._words[begin:end], numpy.int32), *self._places[3 * at : 3 * at + 3])

    def append(self, lesson: Lesson) -> None:
        self._words.extend(lesson.words.tolist())
        self._ends.append(len(self._words))
        self._places.extend(lesson[1:])

    def tokens(self, at: int) -> int:
        """How many words the context of a lesson has."""
        return self._ends[at] - (self._ends[at - 1] if at else 0)

    def description(self, at: int) -> int:
        """The place of the description of a lesson."""
        return self._places[3 * at + 2]

    def digest(self) -> bytes:
        return hashlib.sha256(self._words.tobytes() + self._ends.tobytes() + self._places.tobytes()).digest()


class Forms:
    """The different words of a set, numbered as they come, and how often each came."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.counts: list[int] = []

    def row(self, texts: Iterable[str], times: int = 1) -> Row:
        found = []
        for text in texts:
            number = self.numbers.setdefault(text, len(self.numbers))
            if number == len(self.counts):
                self.counts.append(0)
            self.counts[number] += times
            found.append(number)
        return numpy.array(found, numpy.int32)


class EntElmoMaterial:
    """Lessons of one set; those held out share the words, the descriptions and the vocabulary with the others.

    `vocabulary` has the words that are predicted, the most frequent first after the special ones; `known` says of
    each form which of them it is, and `counts` how often each comes in the whole set.
    """

    def __init__(
        self,
        lessons: LessonTable,
        descriptions: Sequence[Row],
        table: NDArray[numpy.int16],
        known: NDArray[numpy.int64],
        vocabulary: Sequence[str],
        counts: NDArray[numpy.int64],
    ) -> None:
        self.lessons, self.descriptions, self.table = lessons, descriptions, table
        self.known, self.vocabulary, self.counts = known, vocabulary, counts
        self.negatives = _Nothing(len(lessons))

    def __len__(self) -> int:
        return len(self.lessons)

    def tokens(self, at: int) -> int:
        """How many words a lesson has, those of its description and all signs counted."""
        description = self.lessons.description(at)
        return self.lessons.tokens(at) + len(self.descriptions[description])

    def digest(self) -> str:
        """What the lessons are, as a checksum."""
        found = hashlib.sha256(self.table.tobytes() + self.known.tobytes() + self.lessons.digest())
        for row in self.descriptions:
            found.update(row.tobytes())
        return found.hexdigest()


class _Nothing(Sequence[tuple[int, ...]]):
    """No negatives for any of so many lessons: those of a softmax are drawn a step."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, at: int) -> tuple[int, ...]:  # type: ignore[override]
        return ()


def read_material(
    folder: Path, model: EntElmoModel, held_out: int, seed: int, progress: Progress
) -> tuple[EntElmoMaterial, EntElmoMaterial]:
    """The lessons of a WikiEnt set to train on, and those of the pages held out, about `held_out` of them."""
    forms, shape = Forms(), model.shape
    places = {one.entity: at for at, one in enumerate(read_descriptions(folder))}
    aside = _pages_held_out(Counter(one.page for one in read_contexts(folder)), held_out, seed)
    taught, looked_at, times = LessonTable(), LessonTable(), Counter[int]()
    for number, context in enumerate(read_contexts(folder)):
        if number % _EVERY == 0:
            progress("reading contexts", number, 0)
        if context.entity not in places:
            raise InputError(
                f"{folder}: the context {number + 1:,} links to {context.entity!r}, which has no description. "
                "Build the set again"
            )
        lesson = _lesson(context, places[context.entity], model, forms)
        if lesson is not None:
            (looked_at if context.page in aside else taught).append(lesson)
            times[lesson.description] += 1
    if not len(taught):
        raise InputError(f"{folder}: there is no context to train on. Build the set from more pages")
    descriptions = [
        forms.row(_described(one.text, model), times[at]) for at, one in enumerate(read_descriptions(folder))
    ]
    known, vocabulary, counts = _vocabulary(forms, model.vocabulary)
    rest = (descriptions, word_bytes(forms.numbers, shape.word_bytes), known, vocabulary, counts)
    return EntElmoMaterial(taught, *rest), EntElmoMaterial(looked_at, *rest)


def _lesson(context: Context, description: int, model: EntElmoModel, forms: Forms) -> Lesson | None:
    """A context as words, cut to those around its mention where it is too long; None where no word is linked."""
    found = words(context.text, lower=model.shape.lower)
    first, last = words_within(found, context.start, context.end)
    if first == last:
        return None
    most = model.context_tokens
    start = window_start(first, last, len(found), most)
    cut = found[start : start + most]
    sign = start_sign(model.shape, is_context=True)
    row = forms.row([sign, *(one.text for one in cut), SENTENCE_END])
    return Lesson(row, first - start + 1, min(last - start, len(cut)) + 1, description)


def _described(text: str, model: EntElmoModel) -> list[str]:
    found = [one.text for one in words(text, lower=model.shape.lower)[: model.description_tokens]]
    return [start_sign(model.shape, is_context=False), *found, SENTENCE_END]


def start_sign(shape: RecurrentShape, *, is_context: bool) -> str:
    """The sign that a row begins with."""
    if not shape.signs:
        return SENTENCE_START
    return CONTEXT_START if is_context else DESCRIPTION_START


def _vocabulary(forms: Forms, size: int) -> tuple[NDArray[numpy.int64], list[str], NDArray[numpy.int64]]:
    """Of each form its number in the vocabulary, the vocabulary (the most frequent forms), and how often each is."""
    counted = sorted(
        (form for form in forms.numbers if form not in SPECIAL), key=lambda form: -forms.counts[forms.numbers[form]]
    )
    vocabulary = [*SPECIAL, *counted[: max(0, size - len(SPECIAL))]]
    known = numpy.full(len(forms.numbers), UNKNOWN, numpy.int64)
    for number, word in enumerate(vocabulary):
        if word in forms.numbers:
            known[forms.numbers[word]] = number
    counts = numpy.bincount(known, weights=forms.counts, minlength=len(vocabulary)).astype(numpy.int64)
    return known, vocabulary, counts


def _pages_held_out(counts: Counter[str], wanted: int, seed: int) -> set[str]:
    """Pages by hash until they have so many contexts, at most a tenth of all."""
    found, left = set[str](), min(wanted, counts.total() // 10)
    for page in sorted(counts, key=lambda page: hash_of(seed, "held-out", page)):
        if left <= 0:
            break
        found.add(page)
        left -= counts[page]
    return found
