"""Which entities the texts of a knowledge base name, and which of those name them back."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator
from random import Random
from time import monotonic

from entlink.documents import Document, Entity
from entlink.interfaces import Detector
from entlink.io.progress import Progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.own_texts.mentions import sampled
from entlink.mentions.named_back import Counts

LONGEST = 20_000  # characters of a text
_FEWEST = 5  # texts that name an entity: fewer do not tell how it is with others
_FOR_THE_DRAWN = 0.6  # of the time; the rest is for those that they name
_CACHED_NAMES = 200_000
_SEVERAL = 0  # what a name stands for that several entities bear; keys begin at 1


class Namings:
    """What some texts name, by the keys of entities; a name that several bear tells of none of them."""

    def __init__(self, kb: KnowledgeBase, detector: Detector) -> None:
        self._kb, self._detector = kb, detector
        self._bearers: dict[str, int] = {}
        self._named: dict[int, array[int]] = {}  # by key: the keys of those that its text names, in order
        self.pages: list[int] = []  # those drawn, in that order: what they name is counted

    def read(self, most: int, seed: int, progress: Progress, seconds: float) -> None:
        """Read the texts of `most` entities drawn by the seed, and of those that they name; for so long at most."""
        began = monotonic()
        for entity in _within(
            began + _FOR_THE_DRAWN * seconds, sampled(self._kb, most, Random(seed)), most, progress
        ):
            key = self._kb.key(entity.id)
            if key is not None and entity.description:
                self._named[key] = self._names_of(key, entity)
                self.pages.append(key)
        often = Counter(one for key in self.pages for one in self._named[key])
        wanted = [one for one, count in often.most_common(most) if count >= _FEWEST and one not in self._named]
        for entity in _within(began + seconds, filter(None, map(self._kb.entity, wanted)), len(wanted), progress):
            key = self._kb.key(entity.id)
            if key is not None:
                self._named[key] = self._names_of(key, entity)

    def document(self, key: int) -> Document | None:
        """As much of a text as is read."""
        entity = self._kb.entity(key)
        return None if entity is None else _document(entity)

    def names_in(self, document: Document) -> Iterator[tuple[str, int]]:
        """The names in a text, and what each stands for."""
        (mentions,) = self._detector.detect([document])
        for mention in mentions:
            yield mention.text, self._bearer(mention.text)

    def is_named_back(self, page: int, entity: int) -> bool | None:
        """Whether an entity that a page names names the page; None where its text was not read."""
        named = self._named.get(entity)
        return None if named is None else _holds(named, page)

    def counts(self, without: Collection[int] = ()) -> dict[str, Counts]:
        """For each entity that was read, how many pages name it, and how many of those it names."""
        named, back = Counter[int](), Counter[int]()
        for page in self.pages:
            if page not in without:
                known = [one for one in self._named[page] if one in self._named]
                named.update(known)
                back.update(one for one in known if _holds(self._named[one], page))
        heads = ((key, self._kb.head_of(key)) for key, count in named.items() if count >= _FEWEST)
        return {head[0]: (named[key], back[key]) for key, head in heads if head is not None}

    def _names_of(self, key: int, entity: Entity) -> array[int]:
        found = {bearer for _, bearer in self.names_in(_document(entity))}
        return array("I", sorted(found - {_SEVERAL, key}))

    def _bearer(self, surface: str) -> int:
        if surface not in self._bearers:
            if len(self._bearers) >= _CACHED_NAMES:
                self._bearers.clear()
            bearers = {entry.entity for entry in self._kb.meaning(surface).entries}
            self._bearers[surface] = bearers.pop() if len(bearers) == 1 else _SEVERAL
        return self._bearers[surface]


def _holds(keys: array[int], key: int) -> bool:
    at = bisect_left(keys, key)
    return at < len(keys) and keys[at] == key


def _document(entity: Entity) -> Document:
    return Document(entity.id, entity.description[:LONGEST])


def _within(until: float, entities: Iterator[Entity], total: int, progress: Progress) -> Iterator[Entity]:
    for number, entity in enumerate(entities):
        if monotonic() > until or number >= total:
            return
        progress("reading who names whom", number, total)
        yield entity
