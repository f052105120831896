"""What stands together in the paragraphs of descriptions: the names of entities, and the words outside of any name.

A name here is a title without its closing parenthesis, in any case. Where two names overlap, the one that begins
first counts, and of those that begin together the longest. A name that several entities have covers its words, but
stands for none of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from entlink.kb.indexes.words.terms import hash_of, terms_of, terms_of_tokens
from entlink.kb.names.alias_index import AliasIndex
from entlink.kb.names.own_names import NameSource
from entlink.kb.names.scan import Scanner
from entlink.text.folding import Folded, fold, key_of
from entlink.text.titles import without_parenthesis

SHORTEST, LONGEST = 40, 2_000  # characters of a paragraph; a longer one is cut at a space
_TITLE, _STRIPPED, _PAST = int(NameSource.TITLE), int(NameSource.STRIPPED), int(NameSource.PAST)
_SEVERAL = 0  # the key of a name that several entities have; keys begin at 1
_CACHED_NAMES = 200_000


class Together(NamedTuple):
    """What stands in a paragraph: words outside of names, and the keys of the entities that are named."""

    words: set[str]
    entities: set[int]


def paragraphs_of(description: str) -> Iterator[str]:
    """The lines of a description that are long enough to tell something, long ones cut."""
    for line in description.splitlines():
        line = line.strip()
        while len(line) > LONGEST:
            end = line.rfind(" ", LONGEST // 2, LONGEST)
            end = end if end > 0 else LONGEST
            yield line[:end]
            line = line[end:].strip()
        if len(line) >= SHORTEST:
            yield line


class ParagraphReader:
    """Reads paragraphs with the names of an alias index."""

    def __init__(self, index: AliasIndex) -> None:
        self._index = index
        self._scanner = Scanner(index)
        self._known: dict[str, int | None] = {}

    def read(self, paragraph: str) -> Together:
        folded = fold(paragraph)
        entities: set[int] = set()
        tokens, starts = folded.tokens, folded.starts
        words: set[str] = set()
        spaced, done = folded.key.isascii(), 0
        for start, end, entity in self._names(paragraph, folded):
            if entity != _SEVERAL:
                entities.add(entity)
            first = bisect_left(starts, start, done)
            if first > done:
                words.update(tokens[done:first] if spaced else _terms(folded, done, first))
            done = bisect_left(starts, end, first)
        words.update(tokens[done:] if spaced else _terms(folded, done, len(tokens)))
        return Together(words, entities)

    def names_in(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Start, end and entity of the titles in a text that are of one entity alone."""
        return (one for one in self._names(text, fold(text)) if one[2] != _SEVERAL)

    def _names(self, paragraph: str, folded: Folded) -> Iterator[tuple[int, int, int]]:
        """Start, end and entity of each name that counts, none overlapping another."""
        longest: dict[int, tuple[int, int]] = {}
        known = self._known
        for start, end in self._scanner.matches_in(folded):
            surface = paragraph[start:end]
            entity = known[surface] if surface in known else self._entity_titled(surface)
            if entity is not None:
                longest[start] = end, entity  # the longer ones come later
        free = 0
        for start, (end, entity) in longest.items():
            if start >= free:
                free = end
                yield start, end, entity

    def _entity_titled(self, surface: str) -> int | None:
        """The entity whose title is the name; None where it is nobody's title."""
        if len(self._known) >= _CACHED_NAMES:
            self._known.clear()
        named = {
            entity
            for form in self._index.group(key_of(surface))
            for entity, _, sources in form.triples()
            if _is_bare_title(form.text, sources)
        }
        entity = (named.pop() if len(named) == 1 else _SEVERAL) if named else None
        self._known[surface] = entity
        return entity


def _is_bare_title(name: str, sources: int) -> bool:
    if sources & _PAST or not sources & (_TITLE | _STRIPPED):
        return False
    return bool(sources & _STRIPPED) or without_parenthesis(name) is None


def _terms(folded: Folded, first: int, last: int) -> list[str]:
    return terms_of_tokens(folded.tokens[first:last], folded.starts[first:last], folded.ends[first:last])


def words_of(surface: str) -> list[str]:
    """The words of a surface, each once, as paragraphs have them."""
    return list(dict.fromkeys(terms_of(surface)))


# Words and entities are terms of one index: the words are even, the entities odd.


def word_term(word: str) -> int:
    return hash_of(word) & ~1


def entity_term(key: int) -> int:
    return hash_of(str(key)) | 1
