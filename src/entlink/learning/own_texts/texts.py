"""The texts of a knowledge base as they are learnt from: passages with their names, and how common words are."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain, islice
from random import Random
from typing import NamedTuple

from entlink.documents import Entity
from entlink.io.progress import Progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.tiers import Tier
from entlink.learning.own_texts.mentions import sampled
from entlink.text.folding import is_spaceless

WORD = re.compile(r"\w+(?:['’]\w+)?")
_PARAGRAPH_END = re.compile(r"\s*\n\s*")
_SHORTEST, _SHORTEST_SPACELESS = 60, 15
_LONGEST = 1_500
_MOST_OF_ENTITY, _MOST = 12_000, 60_000_000  # characters
_MOST_ENTITIES = 6
_SHORTEST_IN_OTHER_CASE = 4  # "it" is not the name "IT"
_SHORTEST_NAME = 2
_CACHED = 500_000
_DRAWN, _LOOKED_AT = 200, 20_000  # entities, to see whether they have texts


class Name(NamedTuple):
    """A name in a passage, with the entities with it, likeliest first."""

    start: int
    end: int
    entities: tuple[str, ...]


class Passage(NamedTuple):
    """A paragraph of the text of `source`, the `number`th of it, with its names in their order."""

    source: str
    number: int
    text: str
    names: tuple[Name, ...]

    def words(self) -> Iterator[tuple[int, int]]:
        """Where the words outside of names stand."""
        return _outside(self.text, self.names)


class OwnTexts(NamedTuple):
    """Passages of many entities, and what they say together."""

    passages: list[Passage]
    by_source: dict[str, list[int]]  # the numbers of its passages
    spoken_of: dict[str, Counter[str]]  # by source: how often its text has an entity by a name that only it has
    frequency: Counter[str]  # in how many passages a word stands outside of names

    def share(self, word: str) -> float:
        """In which share of the passages a word stands."""
        return self.frequency[word.lower()] / max(1, len(self.passages))


def read_texts(kb: KnowledgeBase, entities: int, seed: int, progress: Progress) -> OwnTexts:
    """Passages of at most so many entities, drawn by the seed; of fewer where their texts are long."""
    texts = OwnTexts([], defaultdict(list), defaultdict(Counter), Counter())
    reader = PassageReader(kb)
    random = Random(seed)
    total = min(entities, len(kb))
    read = 0
    for done, entity in enumerate(sampled(kb, entities, random)):
        if done >= total or read >= _MOST:
            break
        progress("reading texts", done, total)
        for passage in reader.passages(entity, random):
            read += len(passage.text)
            _take_in(texts, passage)
    return texts


def has_text(kb: KnowledgeBase, seed: int) -> bool:
    """Whether some entities have a text to read: of a few that are drawn, or of the first thousands."""
    found = chain(sampled(kb, _DRAWN, Random(seed)), islice(kb, _LOOKED_AT))
    return any(_long_enough(part) for entity in found for part in _PARAGRAPH_END.split(entity.description))


def _take_in(texts: OwnTexts, passage: Passage) -> None:
    texts.by_source[passage.source].append(len(texts.passages))
    texts.passages.append(passage)
    spoken_of = texts.spoken_of[passage.source]
    for name in passage.names:
        if len(name.entities) == 1:
            spoken_of[name.entities[0]] += 1
    texts.frequency.update({passage.text[start:end].lower() for start, end in passage.words()})


class PassageReader:
    """Reads the paragraphs of entities, with the names that stand in them."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._names = _Names(kb)

    def passages(self, entity: Entity, random: Random) -> Iterator[Passage]:
        """Its paragraphs, or of a long text some of them."""
        return self._read(entity, _drawn(_paragraphs(entity), random))

    def passages_with(self, entity: Entity, words: Set[str]) -> Iterator[Passage]:
        """All its paragraphs that have one of the words."""
        return self._read(entity, (one for one in _paragraphs(entity) if not words.isdisjoint(WORD.findall(one[1]))))

    def _read(self, entity: Entity, paragraphs: Iterable[tuple[int, str]]) -> Iterator[Passage]:
        for number, text in paragraphs:
            yield Passage(entity.id, number, text, tuple(self._names.of(text)))


def _paragraphs(entity: Entity) -> list[tuple[int, str]]:
    parts = enumerate(_PARAGRAPH_END.split(entity.description))
    return [(number, _cut(text)) for number, text in parts if _long_enough(text)]


def _long_enough(text: str) -> bool:
    spaceless = bool(text) and is_spaceless(text[len(text) // 2])
    return len(text) >= (_SHORTEST_SPACELESS if spaceless else _SHORTEST)


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    space = text.rfind(" ", 0, _LONGEST)
    return text[: space if space > 0 else _LONGEST]


def _drawn(found: Sequence[tuple[int, str]], random: Random) -> Sequence[tuple[int, str]]:
    """The paragraphs, or of a long text some of them, in their order."""
    if sum(len(text) for _, text in found) <= _MOST_OF_ENTITY:
        return found
    chosen, length = [], 0
    for one in random.sample(found, len(found)):
        if length >= _MOST_OF_ENTITY:
            break
        chosen.append(one)
        length += len(one[1])
    return sorted(chosen)


def _outside(text: str, names: Iterable[Name]) -> Iterator[tuple[int, int]]:
    ends = iter(names)
    name = next(ends, None)
    for match in WORD.finditer(text):
        start, end = match.span()
        while name is not None and name.end <= start:
            name = next(ends, None)
        if name is None or end <= name.start:
            yield start, end


class _Names:
    """Finds the names of a text; what a surface means is remembered."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb, self._scanner = kb, kb.scanner(plurals=False)
        self._known: dict[str, tuple[str, ...]] = {}

    def of(self, text: str) -> Iterator[Name]:
        """The names of a text, the first and longest of those that overlap."""
        until = 0
        for start, end in sorted(self._scanner.matches(text), key=lambda match: (match[0], -match[1])):
            if start < until:
                continue
            named = self._entities_named(text[start:end])
            if named:
                until = end
                yield Name(start, end, named)

    def _entities_named(self, surface: str) -> tuple[str, ...]:
        found = self._known.get(surface)
        if found is None:
            if len(self._known) >= _CACHED:
                self._known.clear()
            found = self._known[surface] = self._look_up(surface)
        return found

    def _look_up(self, surface: str) -> tuple[str, ...]:
        meaning = self._kb.meaning(surface)
        shortest = _SHORTEST_NAME if meaning.tier <= Tier.UNICODE else _SHORTEST_IN_OTHER_CASE
        short = len(surface) < shortest and not is_spaceless(surface[0])
        if meaning.blocked or meaning.pinned or short or surface.isdigit():
            return ()
        return tuple(id for _, id, _ in self._kb.entities_named(meaning, _MOST_ENTITIES))
