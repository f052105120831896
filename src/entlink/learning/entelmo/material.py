"""A WikiEnt set as numbers: contexts and descriptions as rows of words, and the vocabulary that is predicted."""

from __future__ import annotations

import hashlib
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
        lessons: Sequence[Lesson],
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
        lesson = self.lessons[at]
        return len(lesson.words) + len(self.descriptions[lesson.description])

    def digest(self) -> str:
        """What the lessons are, as a checksum."""
        found = hashlib.sha256(self.table.tobytes() + self.known.tobytes())
        for row in self.descriptions:
            found.update(row.tobytes())
        for lesson in self.lessons:
            found.update(lesson.words.tobytes() + repr(lesson[1:]).encode())
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
    contexts: list[tuple[Context, Lesson | None]] = []
    places = {one.entity: at for at, one in enumerate(read_descriptions(folder))}
    for number, context in enumerate(read_contexts(folder)):
        if number % _EVERY == 0:
            progress("reading contexts", number, 0)
        if context.entity not in places:
            raise InputError(
                f"{folder}: the context {number + 1:,} links to {context.entity!r}, which has no description. "
                "Build the set again"
            )
        contexts.append((context, _lesson(context, places[context.entity], model, forms)))
    times = Counter(lesson.description for _, lesson in contexts if lesson)
    descriptions = [
        forms.row(_described(one.text, model), times[at]) for at, one in enumerate(read_descriptions(folder))
    ]
    aside = _pages_held_out([one.page for one, lesson in contexts if lesson], held_out, seed)
    lessons = [(one.page in aside, lesson) for one, lesson in contexts if lesson]
    known, vocabulary, counts = _vocabulary(forms, model.vocabulary)
    table = word_bytes(forms.numbers, shape.word_bytes)
    taught, looked_at = ([one for is_aside, one in lessons if is_aside == wanted] for wanted in (False, True))
    if not taught:
        raise InputError(f"{folder}: there is no context to train on. Build the set from more pages")
    rest = (descriptions, table, known, vocabulary, counts)
    return EntElmoMaterial(taught, *rest), EntElmoMaterial(looked_at, *rest)


def _lesson(context: Context, description: int, model: EntElmoModel, forms: Forms) -> Lesson | None:
    """A context as words, cut to those around its mention where it is too long; None where no word is linked."""
    found = words(context.text, lower=model.shape.lower)
    first, last = words_within(found, context.start, context.end)
    if first == last:
        return None
    most = model.context_tokens
    start = max(0, min(first - (most - (last - first)) // 2, len(found) - most))
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


def _pages_held_out(pages: Sequence[str], wanted: int, seed: int) -> set[str]:
    """Pages by hash until they have so many contexts, at most a tenth of all."""
    counts, found, left = Counter(pages), set[str](), min(wanted, len(pages) // 10)
    for page in sorted(counts, key=lambda page: hash_of(seed, "held-out", page)):
        if left <= 0:
            break
        found.add(page)
        left -= counts[page]
    return found
