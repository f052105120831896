"""Passages of descriptions with the names in them: those that surely mean an entity, and those that no entity has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from entlink.documents import Entity
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.names.neighbours import near_keys
from entlink.kb.names.tiers import Tier
from entlink.learning.own_texts.alterations import parts
from entlink.learning.own_texts.names import own_names
from entlink.text.folding import SPACELESS, fold, key_of

_OPENING = 400  # characters of a description that an encoder reads: what stands there says too much of its entity
_SHORTEST_PASSAGE, _LONGEST_PASSAGE = 60, 1_500
_SHORTEST_SPACELESS = 15  # where a character says as much as a word
_BLANK = re.compile(r"\s*\n\s*")
_SENTENCE_END = re.compile(r"(?:^|[.!?…:;»”\"'(\[—–-])\s*$")
_WORD = re.compile(rf"[^\W\d_{SPACELESS}](?:[\w'’-]*\w)?")
_SMALL_WORDS = frozenset(("of", "de", "du", "la", "von", "van", "the", "di", "da", "al"))  # inside of names
_SPACELESS_RUN = re.compile(f"[{SPACELESS}]{{2,}}")
_WORD_BEFORE = re.compile(rf"(?:^|[\s(])([^\W\d_{SPACELESS}])[\w'’.-]*\s$|[^\W{SPACELESS}]['’-]?$|['’-]$")
_MORE = re.compile(rf"[-'’]?[^\W{SPACELESS}]|\s([^\W\d_{SPACELESS}])")
_LONGEST_RUN = 60
_CASELESS_WORDS = 2
_PIECE = (2, 4)  # characters of a made-up name in a script without spaces


class Passage(NamedTuple):
    """A piece of an entity's description; `opening`: of its beginning, by which encoders know the entity."""

    text: str
    opening: bool


class Found(NamedTuple):
    """A name in a passage and the entity it means (None: none); `may_alter`: it may be rewritten."""

    start: int
    end: int
    entity: str | None
    may_alter: bool


def passages(entity: Entity, most: int, random: Random) -> list[Passage]:
    """Some paragraphs of a description, drawn at random."""
    found, at = [], 0
    for text in _BLANK.split(entity.description):
        if len(text) >= (_SHORTEST_SPACELESS if _SPACELESS_RUN.search(text) else _SHORTEST_PASSAGE):
            found.append(Passage(_cut(text), at < _OPENING))
        at += len(text) + 1
    return random.sample(found, most) if len(found) > most else found


def _cut(text: str) -> str:
    if len(text) <= _LONGEST_PASSAGE:
        return text
    space = text.rfind(" ", 0, _LONGEST_PASSAGE)
    return text[: space if space > 0 else _LONGEST_PASSAGE]


def found_in(kb: KnowledgeBase, entity: Entity, passage: Passage) -> tuple[list[Found], list[Found]]:
    """The names of a passage that surely mean an entity, and those that surely mean none."""
    matches = _apart(kb.scanner(plurals=False).matches(passage.text))
    known = [one for start, end in matches if (one := _known(kb, entity, passage, start, end))]
    if not passage.opening:
        known += _own_parts(kb, entity, passage.text, matches)
    known = _once(known)
    unseen = _unseen(kb, entity, passage.text, matches)
    return known, [one for one in unseen if all(one.end <= other.start or one.start >= other.end for other in known)]


def _apart(matches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest of overlapping matches, by place."""
    taken: list[tuple[int, int]] = []
    for start, end in sorted(matches, key=lambda match: (match[0] - match[1], match[0])):
        if all(end <= other or start >= until for other, until in taken):
            taken.append((start, end))
    return sorted(taken)


def _known(kb: KnowledgeBase, entity: Entity, passage: Passage, start: int, end: int) -> Found | None:
    """The match, if it is written as a name is and only one entity has it, or the one that is described."""
    text = passage.text
    meaning = kb.meaning(text[start:end])
    if meaning.blocked or meaning.pinned or meaning.tier > Tier.UNICODE:
        return None
    if not _is_name(text, start, end) or _is_in_run(text, start, end):
        return None  # "Dam" in "Boulder Dam" is another
    named = [id for _, id, _ in kb.entities_named(meaning, 2)]
    if len(named) == 1 and named[0] != entity.id:
        return Found(start, end, named[0], True)
    if passage.opening or entity.id not in {id for _, id, _ in kb.entities_named(meaning)}:
        return None
    return Found(start, end, entity.id, False)


def _is_name(text: str, start: int, end: int) -> bool:
    """Not a common word: it has a capital that no beginning of a sentence explains, or a script without capitals."""
    surface = text[start:end]
    if surface.lower() == surface.upper():
        return not surface.isdigit() and end - start > 1
    if not any(map(str.isupper, surface)):
        return False
    return any(map(str.isupper, surface[1:])) or not _begins_sentence(text, start)


def _begins_sentence(text: str, start: int) -> bool:
    return _SENTENCE_END.search(text, max(0, start - 4), start) is not None


def _own_parts(kb: KnowledgeBase, entity: Entity, text: str, matches: Sequence[tuple[int, int]]) -> Iterator[Found]:
    """Where the described entity is called by a part of its name that is no name of anything."""
    for part in {part for name in own_names(entity) for part in parts(name)}:
        if kb.meaning(part).entries:
            continue
        for match in re.finditer(rf"\b{re.escape(part)}\b", text):
            start, end = match.span()
            alone = all(end <= other or start >= until for other, until in matches)
            if alone and not _is_in_run(text, start, end):
                yield Found(start, end, entity.id, False)


def _is_in_run(text: str, start: int, end: int) -> bool:
    """Whether a capitalised word, or a part of the same one, stands beside."""
    before, after = _WORD_BEFORE.search(text, max(0, start - _LONGEST_RUN), start), _MORE.match(text, end)
    return any(beside is not None and (beside[1] is None or beside[1].isupper()) for beside in (before, after))


def _once(known: Iterable[Found]) -> list[Found]:
    """The first mention of each entity: one entity must not fill a passage."""
    first: dict[str | None, Found] = {}
    for one in sorted(known):
        first.setdefault(one.entity, one)
    return list(first.values())


def _unseen(kb: KnowledgeBase, entity: Entity, text: str, matches: Sequence[tuple[int, int]]) -> Iterator[Found]:
    known_words = {word for name in own_names(entity) for word in key_of(name).split()}
    known_words.update(word for start, end in matches for word in key_of(text[start:end]).split())
    seen: set[str] = set()
    for start, end in (*_runs(text), *_pieces(text, matches)):
        surface = text[start:end]
        key = key_of(surface)
        if key in seen or _is_near_a_name(kb, surface, key, known_words):
            continue
        if any(until == end and start <= other for other, until in matches):
            continue  # "President Lincoln" is Lincoln
        seen.add(key)
        yield Found(start, end, None, False)


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Capitalised words, one after another; where a script has no capitals, two words."""
    for words in _in_a_row(text):
        start, end = words[0].start(), words[-1].end()
        caseless = not _has_case(words[0][0])
        if caseless:
            end = words[:_CASELESS_WORDS][-1].end()
        if not 1 < end - start <= _LONGEST_RUN or (not caseless and _begins_sentence(text, start)):
            continue
        if len(words) == 1 and text[end : end + 2].strip()[:1].islower():
            continue  # most likely an adjective such as "French", whose country may well be known
        yield start, end


def _in_a_row(text: str) -> Iterator[list[re.Match[str]]]:
    """Words that may be of one name, with one blank between two; small words at the end are left out."""
    row: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        follows = bool(row) and text[row[-1].end() : word.start()] == " "
        if row and not (follows and (_may_be_of_name(word[0]) or word[0] in _SMALL_WORDS)):
            yield _without_small_words(row)
            row = []
        if row or _may_be_of_name(word[0]):
            row.append(word)
    if row:
        yield _without_small_words(row)


def _without_small_words(row: list[re.Match[str]]) -> list[re.Match[str]]:
    last = max(place for place, word in enumerate(row) if word[0] not in _SMALL_WORDS)
    return row[: last + 1]


def _may_be_of_name(word: str) -> bool:
    return word[0].isupper() or not _has_case(word)


def _has_case(word: str) -> bool:
    return word.lower() != word.upper()


def _pieces(text: str, matches: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What stands between known names where nobody marks words: its first few characters."""
    for match in _SPACELESS_RUN.finditer(text):
        inside = [(a, b) for a, b in matches if a < match.end() and b > match.start()]
        start = match.start()
        for other, until in [*inside, (match.end(), match.end())]:
            if other - start >= _PIECE[0]:
                yield start, min(other, start + _PIECE[1])
            start = max(start, until)


def _is_near_a_name(kb: KnowledgeBase, surface: str, key: str, known_words: set[str]) -> bool:
    """Whether it may well be a known name in another form, or a part of one that stands near."""
    if kb.meaning(surface).entries or kb.meaning(surface).blocked or not fold(surface).tokens:
        return True
    if known_words.issuperset(key.split()):
        return True
    return bool(near_keys(kb, key, distance=2, similarity=0.7, scanned=2_000))
