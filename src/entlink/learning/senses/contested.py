"""Words of a knowledge base's texts that several entities share, and uses of them whose meaning is known.

A word that stands often in the texts of two entities, and that a linker would link to either, means in the text of
each mostly that one: "French" is France in the text of France, and the language in that of the French language.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from math import log
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from entlink.documents import Candidate, Document, Mention, Span
from entlink.io.progress import Progress
from entlink.learning.adapt.senses import MOST_OF_SENSE, MOST_SENSES
from entlink.learning.own_texts.cases import SENSE, Case
from entlink.learning.own_texts.linking import ranked
from entlink.learning.own_texts.mentions import Kind, SelfMention
from entlink.learning.own_texts.texts import PassageReader, read_texts
from entlink.text.folding import is_spaceless

if TYPE_CHECKING:
    from entlink.learning.own_texts.texts import OwnTexts
    from entlink.linking.linker import Linker

_SALIENT_OF_ENTITY, _MOST_NEAR = 8, 8
_FEWEST_OWN, _FEWEST = 4, 20  # places of a word in an entity's text, and in all that were read
_SHORTEST = 3
_COMMON = 0.15  # a word in a larger share of the passages says nothing
_ASKED = 4  # places of a word in other texts, that a linker is asked about
_NEAR = 5.0  # of the ranker's sum: candidates so near the best one share the word
_NOT_FOUND = 7.0  # how far behind the best one is that was not found
_AROUND = 300  # characters
_AT_ONCE = 128
_LONGEST = 40  # characters of a word before
_BEFORE, _AFTER = re.compile(r"(\w[\w.]*)[ -]$"), re.compile(r"[ -](\w+)")

_OwnUses = dict[str, dict[str, list[tuple[Document, Mention]]]]  # by word and entity


class _Place(NamedTuple):
    """Where a word stands: the number of its passage, and the character in it."""

    passage: int
    start: int


def contested_cases(linker: Linker, entities: int, seed: int, progress: Progress, seconds: float) -> list[Case]:
    """Uses of shared words, each in the text of one of the entities that share it; after `seconds`, of fewer words.

    The texts of so many entities are read first. The candidates of a case are the others that share its word.
    """
    random = Random(seed)
    texts = read_texts(linker.kb, entities, seed, progress)
    salient, places = _salient_words(texts)
    asked = [word for word in salient if len(places[word]) >= _FEWEST and not linker.kb.meaning(word).entries]
    asked.sort(key=lambda word: (-len(places[word]), word))  # those that come most, if there is no time for all
    near: dict[str, list[str]] = {}
    until = monotonic() + seconds
    for start in range(0, len(asked), _AT_ONCE):
        if monotonic() > until:
            break
        progress("finding words that entities share", start, len(asked))
        some = asked[start : start + _AT_ONCE]
        near |= _near(
            linker, [one for word in some for one in _elsewhere(word, salient[word], places[word], texts, random)]
        )
    return _cases(_own_uses(linker, near, texts, progress), near, random)


def _salient_words(texts: OwnTexts) -> tuple[dict[str, set[str]], dict[str, list[_Place]]]:
    """The words with a capital that stand most in an entity's text, with these entities; and all their places."""
    places: dict[str, list[_Place]] = defaultdict(list)
    by_source: dict[str, Counter[str]] = defaultdict(Counter)
    for number, passage in enumerate(texts.passages):
        if not passage.number:  # an encoder knows the entity by its opening
            continue
        for start, end in passage.words():
            word = passage.text[start:end]
            if word[0].isupper() and len(word) >= _SHORTEST and not is_spaceless(word[0]):
                places[word].append(_Place(number, start))
                by_source[passage.source][word] += 1
    total = max(1, len(texts.passages))
    salient: dict[str, set[str]] = defaultdict(set)
    for source, counts in by_source.items():
        weights = {
            word: count * log(total / max(1, texts.frequency[word.lower()]))
            for word, count in counts.items()
            if count >= _FEWEST_OWN and texts.share(word) <= _COMMON
        }
        for word in sorted(weights, key=lambda one: (-weights[one], one))[:_SALIENT_OF_ENTITY]:
            salient[word].add(source)
    return salient, places


def _elsewhere(
    word: str, own: Set[str], places: Sequence[_Place], texts: OwnTexts, random: Random
) -> list[SelfMention]:
    """Some uses of a word in the texts of entities that it says nothing of."""
    others = [one for one in places if texts.passages[one.passage].source not in own]
    chosen = others or list(places)
    found = []
    for one in random.sample(chosen, min(_ASKED, len(chosen))):
        passage = texts.passages[one.passage]
        document, mention = _use(passage.text, one.start, word, f"{passage.source}#{one.passage}.{one.start}")
        found.append(SelfMention(document, mention, None, Kind.KNOWN, passage.source))
    return found


def _near(linker: Linker, mentions: Sequence[SelfMention]) -> dict[str, list[str]]:
    """By word, the candidates that are near the best one, taking all its mentions together."""
    behind: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    asked: Counter[str] = Counter()
    for shortlist in ranked(linker, mentions, lambda *_: None):
        word, found = shortlist.mention.text, shortlist.candidates
        asked[word] += 1
        best = max((one.evidence["sum"] for one in found), default=0.0)
        for one in found:
            behind[word][one.entity] += _NOT_FOUND - min(_NOT_FOUND, best - one.evidence["sum"])
    told = {}
    for word, sums in behind.items():
        means = {entity: total / asked[word] for entity, total in sums.items()}
        best = max(means.values())
        near = [entity for entity, mean in means.items() if mean > best - _NEAR]
        told[word] = sorted(near, key=lambda entity: (-means[entity], entity))[:_MOST_NEAR]
    return told


def _own_uses(linker: Linker, near: Mapping[str, Sequence[str]], texts: OwnTexts, progress: Progress) -> _OwnUses:
    """The uses of the words in the whole texts of the entities that are near them.

    Within a longer name ("English Channel") a word means nothing by itself.
    """
    words_of: dict[str, set[str]] = defaultdict(set)
    for word, entities in near.items():
        for id in entities:
            words_of[id].add(word)
    reader = PassageReader(linker.kb)
    found: _OwnUses = defaultdict(lambda: defaultdict(list))
    for done, (id, words) in enumerate(sorted(words_of.items())):
        progress("reading uses of shared words", done, len(words_of))
        entity = linker.kb.get(id)
        for passage in reader.passages_with(entity, words) if entity is not None else ():
            for start, end in passage.words() if passage.number else ():
                word = passage.text[start:end]
                if word in words and _is_alone(passage.text, start, end, texts):
                    found[word][id].append(_use(passage.text, start, word, f"{id}#sense{passage.number}.{start}"))
    return found


def _is_alone(text: str, start: int, end: int, texts: OwnTexts) -> bool:
    """Whether no word beside it has a capital, but for common ones, which begin a sentence."""
    beside = (_BEFORE.search(text, max(0, start - _LONGEST), start), _AFTER.match(text, end))
    return not any(one and one[1][0].isupper() and texts.share(one[1]) <= _COMMON for one in beside)


def _cases(own: _OwnUses, near: Mapping[str, Sequence[str]], random: Random) -> list[Case]:
    cases = []
    for word, entities in near.items():
        sharing = [one for one in entities if len(own[word][one]) >= _FEWEST_OWN][:MOST_SENSES]
        for id in sharing if len(sharing) > 1 else ():
            uses = own[word][id]
            others = [Candidate(one, 0.0) for one in sharing if one != id]
            for document, mention in random.sample(uses, min(MOST_OF_SENSE, len(uses))):
                cases.append(Case(SENSE, id, document, mention, id, others))
    return cases


def _use(text: str, start: int, word: str, id: str) -> tuple[Document, Mention]:
    begin = max(0, start - _AROUND)
    span = Span(start - begin, start - begin + len(word))
    return Document(id, text[begin : start + len(word) + _AROUND]), Mention(span, word)
