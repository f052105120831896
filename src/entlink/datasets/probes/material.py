"""What builders of probing tasks work with: sources, descriptions of a knowledge base, word vectors, a ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from entlink.datasets.probes.options import ProbeOptions
from entlink.datasets.selection import hash_of
from entlink.documents import Span
from entlink.errors import EntlinkError, InputError
from entlink.formats.probes import ProbeCard, ProbeEntity, ProbeExample
from entlink.io.progress import Progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.folding import key_of

if TYPE_CHECKING:
    from entlink.datasets.probes.word_vectors import WordVectors
    from entlink.documents import Entity

_PROBLEMS_KEPT = 100
Item = TypeVar("Item")


class Built(msgspec.Struct):
    """What a builder made: its card, the rows of each split, and of how many rows all descriptions were found."""

    card: ProbeCard
    splits: Mapping[str, list[ProbeExample]]
    covered: int | None = None
    of: int | None = None
    notes: str = ""


class Descriptions:
    """Titles and descriptions of entities, each cut to its first words."""

    def __init__(self, kb: KnowledgeBase, tokens: int) -> None:
        self.kb, self._tokens = kb, tokens
        self._known: dict[str, ProbeEntity | None] = {}

    def of_id(self, id: str) -> ProbeEntity | None:
        """The entity with an id or another identifier; None where there is none, or it has no description."""
        if id not in self._known:
            self._known[id] = self._described(self.kb.get(id) or self.kb.resolve(id))
        return self._known[id]

    def of_name(self, name: str) -> ProbeEntity | None:
        """The entity of that title, else the most likely one of that name; `_` is a blank."""
        name = name.replace("_", " ").strip()
        found = self._described(self.kb.resolve(name))
        return found or next(iter(self._of_meaning(name)), None)

    def titled(self, name: str) -> ProbeEntity | None:
        """The entity of that title, in any case."""
        found = self._described(self.kb.resolve(name))
        if found is not None:
            return found
        return next((one for one in self._of_meaning(name) if key_of(one.title) == key_of(name)), None)

    def _of_meaning(self, name: str) -> Iterator[ProbeEntity]:
        for _, id, _ in self.kb.entities_named(self.kb.meaning(name)):
            if (described := self.of_id(id)) is not None:
                yield described

    def _described(self, entity: Entity | None) -> ProbeEntity | None:
        if entity is None or not entity.description.strip():
            return None
        words = entity.description.split(maxsplit=self._tokens)[: self._tokens]
        return ProbeEntity(entity=entity.id, title=entity.title, description=" ".join(words))


class Material:
    """The sources and options of a build; readers tell it of bad records, builders of what they leave out."""

    def __init__(
        self, sources: tuple[Path, ...], options: ProbeOptions, progress: Progress, kb: KnowledgeBase | None
    ) -> None:
        self.sources, self.options, self.progress = sources, options, progress
        self.vectors_file: Path | None = None
        self.left_out: Counter[str] = Counter()
        self.facts: Counter[str] = Counter()
        self.skipped, self.problems = 0, list[str]()
        self._kb = kb
        self._descriptions: Descriptions | None = None
        self._vectors: WordVectors | None = None

    @property
    def has_kb(self) -> bool:
        return self._kb is not None

    @property
    def kb(self) -> KnowledgeBase:
        return self.descriptions.kb

    @property
    def descriptions(self) -> Descriptions:
        """Of the knowledge base, which must be there."""
        if self._descriptions is None:
            if self._kb is None:
                raise InputError("this task needs descriptions of entities. Give a knowledge base with --kb")
            self._descriptions = Descriptions(self._kb, self.options.tokens)
        return self._descriptions

    @property
    def vectors(self) -> WordVectors:
        """The vectors of words, read when they are first needed."""
        if self._vectors is None:
            from entlink.datasets.probes.word_vectors import WordVectors

            if self.vectors_file is None:
                raise InputError("this task needs vectors of words, such as GloVe's. Give a file with --vectors")
            self.progress("vectors of words", 0, 1)
            self._vectors = WordVectors(self.vectors_file)
        return self._vectors

    def problem(self, error: EntlinkError) -> None:
        """A record that cannot be read, where bad ones are skipped."""
        self.skipped += 1
        if len(self.problems) < _PROBLEMS_KEPT:
            self.problems.append(str(error))

    def hash(self, purpose: str, name: str) -> int:
        """Chance: a number for a name, another for each purpose."""
        return hash_of(self.options.seed, purpose, name)

    def counted(self, what: str, items: Iterable[Item], every: int = 1000) -> Iterator[Item]:
        """The items as they come, with a report of progress now and then."""
        for number, item in enumerate(items):
            if number % every == 0:
                self.progress(what, number, 0)
            yield item


def mention(sentence: str, span: Span, entity: str = "") -> ProbeEntity:
    """An entity as it is mentioned in a sentence."""
    return ProbeEntity(sentence=sentence, start=span.start, end=span.end, entity=entity)
