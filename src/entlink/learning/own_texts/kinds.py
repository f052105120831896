"""Where a knowledge base's own texts may name an entity: proposals of each kind, which a linker is asked about."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import log
from random import Random

from entlink.documents import Document, Mention, Span
from entlink.evidence.spelling import likeness
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.own_texts.alterations import parts
from entlink.learning.own_texts.mentions import Kind, SelfMention
from entlink.learning.own_texts.texts import Name, OwnTexts, Passage
from entlink.text.folding import is_spaceless

SHORT_OF_ENTITY, NAMES_OF_ENTITY, SALIENT_WORDS = 6, 3, 4
_PLAIN_OF_ENTITY, _PLAIN_OF_PASSAGE = 300, 3
_AROUND = 300  # characters: more than a model reads of what surrounds a mention
_SHORTEST_CUT = 3
_COMMON = 0.08  # a word in a larger share of the passages says nothing
_RARE = 0.01
_FEWEST_PLACES = 3  # of a salient word in its text
_FEWEST_SIGHTINGS = 5  # of a word in lower case, in all texts
_LOWER_SHORTEST, _LOWER_SHARE = 4, 0.3
_SPANS_OF_PASSAGE = 2
_OF_ONE_SURFACE = 40
SPOKEN_OF = 2  # times: less may be by the way
ALIKE, IN_COMPANY = 0.5, 20
_SENTENCE_END = re.compile(r"(?:^|[.!?:;\"“(\[])\s*$")
Together = Callable[[str, str], int]  # in how many paragraphs a surface and an entity's name stand together


class Proposals:
    """Mentions of each kind, in an order drawn by the seed; what they mean is known but for those of `page`."""

    def __init__(self, kb: KnowledgeBase, texts: OwnTexts, together: Together, seed: int) -> None:
        self._kb, self._texts, self._together = kb, texts, together
        self._random = Random(seed)
        self._order = list(range(len(texts.passages)))
        self._random.shuffle(self._order)
        self._title = lru_cache(maxsize=100_000)(self._look_up_title)

    def _passages(self) -> Iterator[Passage]:
        return (self._texts.passages[number] for number in self._order)

    def _look_up_title(self, id: str) -> str:
        entity = self._kb.get(id)
        return entity.title if entity else ""

    # Longer names cut short

    def short(self) -> Iterator[SelfMention]:
        """A longer name of another entity, cut in the text itself; one a passage, few an entity."""
        seen: Counter[str] = Counter()
        for number, passage in enumerate(self._passages()):
            found = _borne_alone(passage, seen, SHORT_OF_ENTITY)
            self._random.shuffle(found)
            for name in found:
                cut = self._cut(passage.text[name.start : name.end], name.entities[0])
                if cut is not None:
                    seen[name.entities[0]] += 1
                    text = passage.text[: name.start] + cut + passage.text[name.end :]
                    yield _mention(f"short{number}", passage.source, text, name.start, len(cut), name.entities[0])
                    break

    def _cut(self, surface: str, entity: str) -> str | None:
        """The first or last words of a name, if they are no name of others and not common."""
        words = surface.split()
        if len(words) > 1:
            forms = [words[0], words[-1], " ".join(words[:-1]), " ".join(words[1:])]
        elif is_spaceless(surface[0]):
            forms = parts(surface)
        else:
            return None
        form = self._random.choice(forms) if forms else ""
        spaceless = bool(form) and is_spaceless(form[0])
        if len(form) < (1 if spaceless else _SHORTEST_CUT) or not form[-1].isalnum() or not form[0].isalnum():
            return None
        if not spaceless and all(self._texts.share(word) > _COMMON for word in form.split()):
            return None
        meaning = self._kb.meaning(form)
        if meaning.blocked or (
            meaning.entries and entity not in {id for _, id, _ in self._kb.entities_named(meaning)}
        ):
            return None
        return form

    # Salient words of an entity's own text

    def own(self) -> Iterator[SelfMention]:
        """The words that an entity's text has more often than others, at one of their places after the opening."""
        sources = list(self._texts.by_source)
        self._random.shuffle(sources)
        found = [one for source in sources for one in self._salient(source)]
        self._random.shuffle(found)
        for number, (source, (at, start, end)) in enumerate(found):
            text = self._texts.passages[at].text
            yield _mention(f"own{number}", source, text, start, end - start, source)

    def _salient(self, source: str) -> list[tuple[str, tuple[int, int, int]]]:
        places: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for at in self._texts.by_source[source]:
            passage = self._texts.passages[at]
            if passage.number:  # an encoder knows the entity by its opening
                for start, end in passage.words():
                    places[passage.text[start:end].lower()].append((at, start, end))
        total = len(self._texts.passages)
        weights = {
            word: len(where) * log(total / self._texts.frequency[word])
            for word, where in places.items()
            if len(where) >= _FEWEST_PLACES
            and len(word) >= _SHORTEST_CUT
            and not word[0].isdigit()
            and not is_spaceless(word[0])
            and self._texts.share(word) <= _COMMON
        }
        best = sorted(weights, key=lambda word: (-weights[word], word))[:SALIENT_WORDS]
        return [(source, self._random.choice(places[word])) for word in best]

    # An entity's own name in its own text

    def itself(self) -> Iterator[SelfMention]:
        """An entity's name in its own text, after the opening; cut short where that can be."""
        seen: Counter[str] = Counter()
        for number, passage in enumerate(self._passages()):
            source = passage.source
            names = [name for name in passage.names if name.entities == (source,)]
            if not passage.number or not names or seen[source] >= NAMES_OF_ENTITY:
                continue
            seen[source] += 1
            name = self._random.choice(names)
            whole = passage.text[name.start : name.end]
            form = self._cut(whole, source) or whole
            text = passage.text[: name.start] + form + passage.text[name.end :]
            yield _mention(f"itself{number}", source, text, name.start, len(form), source)

    # Words that a text's other names explain

    def page(self) -> Iterator[SelfMention]:
        """Words that are nobody's name, where the text speaks of an entity written or known much like them."""
        seen: Counter[str] = Counter()
        for number, passage in enumerate(self._passages()):
            known = [
                entity
                for entity, times in self._texts.spoken_of[passage.source].items()
                if times >= SPOKEN_OF and entity != passage.source
            ]
            spans = self._spans(passage) if known else []
            for place, (start, end) in enumerate(spans):
                surface = passage.text[start:end]
                if seen[surface.lower()] < _OF_ONE_SURFACE and self._may_mean(surface, known):
                    seen[surface.lower()] += 1
                    yield _mention(f"page{number}.{place}", passage.source, passage.text, start, end - start, None)

    def _may_mean(self, surface: str, entities: Sequence[str]) -> bool:
        """Whether one entity is written much like it; else, whether one often stands beside it."""
        alike = sum(likeness(surface, self._title(one)) > ALIKE for one in entities)
        return alike == 1 or (not alike and any(self._together(surface, one) >= IN_COMPANY for one in entities))

    def _spans(self, passage: Passage) -> list[tuple[int, int]]:
        """Some runs of capitalised words, and now and then a rarer word in lower case."""
        names, lower = _runs(passage), []
        for start, end in passage.words():
            word = passage.text[start:end]
            rare = self._texts.frequency[word] >= _FEWEST_SIGHTINGS and self._texts.share(word) < _RARE
            if word.islower() and len(word) >= _LOWER_SHORTEST and rare:
                lower.append((start, end))
        chosen = self._random.sample(names, min(_SPANS_OF_PASSAGE, len(names)))
        if lower and self._random.random() < _LOWER_SHARE:
            chosen.append(self._random.choice(lower))
        return chosen

    # Names as they stand

    def name(self) -> Iterator[SelfMention]:
        """Names in other texts, one a passage; of those with several entities, where the text tells which."""
        seen: Counter[str] = Counter()
        for number, passage in enumerate(self._passages()):
            told = [(name, entity) for name in passage.names if (entity := self._meant(passage, name)) is not None]
            told = [one for one in told if one[1] != passage.source and seen[one[1]] < NAMES_OF_ENTITY]
            several = [one for one in told if len(one[0].entities) > 1]
            if told:
                name, entity = self._random.choice(several or told)
                seen[entity] += 1
                start, length = name.start, name.end - name.start
                yield _mention(f"name{number}", passage.source, passage.text, start, length, entity)

    def plain(self) -> Iterator[SelfMention]:
        """Names that only one entity has, some of every passage: as often as texts speak of it, up to a point."""
        seen: Counter[str] = Counter()
        for number, passage in enumerate(self._passages()):
            found = _borne_alone(passage, seen, _PLAIN_OF_ENTITY)
            for place, name in enumerate(self._random.sample(found, min(_PLAIN_OF_PASSAGE, len(found)))):
                seen[name.entities[0]] += 1
                start, end = max(0, name.start - _AROUND), name.end + _AROUND
                text, length = passage.text[start:end], name.end - name.start
                id = f"plain{number}.{place}"
                yield _mention(id, passage.source, text, name.start - start, length, name.entities[0])

    def _meant(self, passage: Passage, name: Name) -> str | None:
        if len(name.entities) == 1:
            return name.entities[0]
        spoken_of = self._texts.spoken_of[passage.source]
        here = [one for one in name.entities if spoken_of[one]]
        return here[0] if len(here) == 1 else None


def _borne_alone(passage: Passage, seen: Counter[str], most: int) -> list[Name]:
    """The names of one other entity alone, of which fewer than `most` were taken yet."""
    names = (name for name in passage.names if len(name.entities) == 1 and name.entities[0] != passage.source)
    return [name for name in names if seen[name.entities[0]] < most]


def _runs(passage: Passage) -> list[tuple[int, int]]:
    """Capitalised words outside of names, one after another, that no beginning of a sentence explains."""
    found: list[tuple[int, int]] = []
    text = passage.text
    for start, end in passage.words():
        if not text[start].isupper():
            continue
        if found and text[found[-1][1] : start] == " ":
            found[-1] = found[-1][0], end
        elif end - start >= _SHORTEST_CUT and not _SENTENCE_END.search(text, max(0, start - 3), start):
            found.append((start, end))
    return found


def _mention(id: str, source: str, text: str, start: int, length: int, entity: str | None) -> SelfMention:
    mention = Mention(Span(start, start + length), text[start : start + length])
    return SelfMention(Document(f"{source}#{id}", text), mention, entity, Kind.KNOWN, source)
