"""What rankers are given: mentions with candidates and evidence, as they are or with names or pictures changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from entlink.datasets.selection import hash_of
from entlink.documents import Candidate, Document, Mention, Record, Span
from entlink.evidence.pictures import PicturesEvidence
from entlink.interfaces import Evidence, Question, Shortlist
from entlink.io.progress import Progress
from entlink.linking.config import LinkerConfig
from entlink.linking.evidence import scorers_among, with_numbers
from entlink.linking.linker import Linker
from entlink.studies.pictures.results import PictureOptions
from entlink.studies.pictures.sets import Asked, page_of
from entlink.studies.place import Place
from entlink.studies.settings import MISSING, names_of

PRIOR, PICTURES = "prior", "pictures"
OF_PICTURES = PicturesEvidence.gives  # the cosine is the first
MASK = "…"  # a sign that is no word
# Retrievers whose number is about the name alone, or about the picture: the others read the text.
_BY_NAME = ("alias", "names", "edit-distance", "shortened", "taught", "inner")
_AT_ONCE = 64


class Condition(NamedTuple):
    """How the data is changed: the name masked, the caption's picture that of another page."""

    masked: bool = False
    random: bool = False

    @property
    def name(self) -> str:
        parts = [word for word, on in (("masked", self.masked), ("random", self.random)) if on]
        return "-".join(parts) or "plain"


PLAIN = Condition()


class Material(NamedTuple):
    """Mentions with their candidates. `numbers` are the candidates with the evidence there is about them."""

    name: str
    asked: Sequence[Asked]
    numbers: Sequence[Sequence[Candidate]]
    condition: Condition = PLAIN

    @property
    def shortlists(self) -> list[Shortlist]:
        return [Shortlist(one.document, one.mention, own) for one, own in zip(self.asked, self.numbers, strict=True)]

    def part(self, places: Sequence[int], name: str) -> Material:
        """Some of the mentions, by their places."""
        asked = [self.asked[at] for at in places]
        return Material(name, asked, [self.numbers[at] for at in places], self.condition)


class Whole:
    """All mentions of the data, changed as a condition says; each change is made once, and kept on disk.

    The candidates are always those that were found for the mention as it is.
    """

    def __init__(self, asked: Sequence[Asked], stages: Stages, place: Place, options: PictureOptions) -> None:
        self.asked, self._stages, self._place, self._options = asked, stages, place, options
        self._made: dict[Condition, Material] = {}

    def of(self, condition: Condition = PLAIN) -> Material:
        """The mentions with evidence about their candidates."""
        if condition not in self._made:
            asked, name = _changed(self.asked, condition, self._options.seed), condition.name
            found = self._place.kept(f"candidates/{name}.json", _Lists, lambda: self._numbers(name, asked, condition))
            self._made[condition] = Material(name, asked, found.lists, condition)
        return self._made[condition]

    def _numbers(self, name: str, asked: Sequence[Asked], condition: Condition) -> _Lists:
        if condition == PLAIN:
            lists: Sequence[Sequence[Candidate]] = self._stages.retrieve(asked, self._options.k)
        else:
            lists = self.of().numbers
        return _Lists(self._stages.gather(name, asked, lists))


class _Lists(Record, frozen=True):
    lists: list[Sequence[Candidate]]


class Stages:
    """The retrieval of a linker, the evidence of its retrievers about texts, and that of pictures."""

    def __init__(self, linker: Linker, config: LinkerConfig, progress: Progress) -> None:
        self._linker, self._progress = linker, progress
        named = dict(zip(names_of(config), linker.retrievers, strict=True))
        text = {name: one for name, one in named.items() if _kind(name) not in (*_BY_NAME, PICTURES)}
        self.text: dict[str, Evidence] = scorers_among(text)
        self._pictures: Evidence | None = PicturesEvidence(linker.kb)
        self.notes: list[str] = []

    def retrieve(self, asked: Sequence[Asked], k: int) -> list[Sequence[Candidate]]:
        """The first `k` candidates of each mention."""
        found: list[Sequence[Candidate]] = []
        questions = _questions(asked)
        for start in range(0, len(questions), _AT_ONCE):
            for lists in self._linker.retrieve(questions[start : start + _AT_ONCE]):
                found += [own[:k] for own in lists]
            self._progress("retrieving candidates", len(found), len(asked))
        return found

    def gather(
        self, name: str, asked: Sequence[Asked], lists: Sequence[Sequence[Candidate]]
    ) -> list[Sequence[Candidate]]:
        """The candidates with P(e|m), with what each kind of text evidence says, and with the cosine of pictures."""
        bare = [
            Shortlist(one.document, one.mention, [_prior_only(candidate) for candidate in own])
            for one, own in zip(asked, lists, strict=True)
        ]
        found: list[Sequence[Candidate]] = []
        for start in range(0, len(bare), _AT_ONCE):
            part = with_numbers(bare[start : start + _AT_ONCE], self.text)
            found += [one.candidates for one in self._with_pictures(part)]
            self._progress(f"gathering evidence, {name}", len(found), len(bare))
        return found

    def likeness(self, asked: Sequence[Asked]) -> list[float | None]:
        """The cosine between each caption's picture and that of the right entity; None without one of them."""
        golds = [Shortlist(one.document, one.mention, [Candidate(min(one.right), 0.0)]) for one in asked]
        found = [self._with_pictures(golds[at : at + _AT_ONCE]) for at in range(0, len(golds), _AT_ONCE)]
        return [one.candidates[0].evidence.get(PICTURES) for part in found for one in part]

    def _with_pictures(self, shortlists: list[Shortlist]) -> list[Shortlist]:
        if self._pictures is None:
            return shortlists
        try:
            return with_numbers(shortlists, {PICTURES: self._pictures})
        except MISSING as problem:
            self.notes.append(f"no evidence of pictures: {problem}")
            self._pictures = None
            return shortlists


def _kind(name: str) -> str:
    """A retriever's name without the number that tells two of a kind apart."""
    head, dash, tail = name.rpartition("-")
    return head if dash and tail.isdigit() else name


def _prior_only(candidate: Candidate) -> Candidate:
    told = candidate.evidence
    prior = told.get("alias", told.get("names", told.get("prior", 0.0)))
    return Candidate(candidate.entity, candidate.score, {PRIOR: prior} if prior else {}, candidate.title)


def _questions(asked: Sequence[Asked]) -> list[Question]:
    questions: list[Question] = []
    for one in asked:
        if questions and questions[-1].document is one.document:
            questions[-1] = Question(one.document, [*questions[-1].mentions, one.mention])
        else:
            questions.append(Question(one.document, [one.mention]))
    return questions


def has_pictures(material: Material) -> bool:
    """Whether there is a mention with pictures on both sides."""
    return any(PICTURES in one.evidence for own in material.numbers for one in own)


def reached(material: Material) -> int:
    """How many mentions have their entity among the candidates."""
    pairs = zip(material.asked, material.numbers, strict=True)
    return sum(any(candidate.entity in one.right for candidate in own) for one, own in pairs)


# Changes


def _changed(asked: Sequence[Asked], condition: Condition, seed: int) -> list[Asked]:
    found = _with_random_pictures(asked, seed) if condition.random else list(asked)
    return [_masked(one) for one in found] if condition.masked else found


def _masked(one: Asked) -> Asked:
    """The caption with a sign in place of the name, wherever it is written so."""
    document, mention = masked_mention(one.document, one.mention)
    return Asked(document, mention, one.right, one.labels)


def masked_mention(document: Document, mention: Mention) -> tuple[Document, Mention]:
    """The mention with a sign in place of its name, wherever the text has it; no other spans are left."""
    text, span = document.text, mention.span
    left, right = (part.replace(mention.text, MASK) for part in (text[: span.start], text[span.end :]))
    masked = msgspec.structs.replace(document, text=left + MASK + right, turns=(), gold=(), mentions=None)
    return masked, Mention(Span(len(left), len(left) + len(MASK)), MASK)


def _with_random_pictures(asked: Sequence[Asked], seed: int) -> list[Asked]:
    """Each caption with the picture of one on another page, if it has a picture and there is another page."""
    documents = {id(one.document): one.document for one in asked if one.document.images}
    order = sorted(documents.values(), key=lambda one: hash_of(seed, "random", one.id))
    changed = {id(one): _with_picture_of(one, order, place) for place, one in enumerate(order)}
    return [one._replace(document=changed.get(id(one.document), one.document)) for one in asked]


def _with_picture_of(document: Document, order: Sequence[Document], place: int) -> Document:
    """The next one in the order that is on another page gives its picture."""
    others = (order[(place + step) % len(order)] for step in range(1, len(order)))
    other = next((one for one in others if page_of(one) != page_of(document)), None)
    return document if other is None else msgspec.structs.replace(document, images=other.images)
