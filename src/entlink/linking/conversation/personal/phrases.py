"""Where a personal mention stands: a possessive of the first person, and the noun phrase after it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from entlink.documents import Record, Span
from entlink.linking.conversation.personal.phrase_ends import MOST_WORDS, Word, ending_features, words_after
from entlink.linking.conversation.personal.sums import chance
from entlink.linking.conversation.personal.word_lists import EXCLAIMED, FAVOURITE, LINKING_WORDS, PREPOSITIONS

_POSSESSIVE = re.compile(r"(?<![\w'’-])(?:my|our)(?=\s+\w)", re.IGNORECASE)
_WORD = re.compile(r"\w+")


class PersonalPhrase(Record, frozen=True, dict=True):
    """A phrase such as `my favourite singer`, with its place in a text."""

    span: Span
    text: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All but the possessive, in lower case."""
        return tuple(word.lower() for word in _WORD.findall(self.text)[1:])

    @cached_property
    def is_favourite(self) -> bool:
        return any(FAVOURITE.fullmatch(word) for word in self.words)

    @cached_property
    def heads(self) -> frozenset[str]:
        """What it says the thing is, in the singular: `singer`; of `my favourite kind of music` both nouns."""
        heads: list[str] = []
        last = ""
        for word in self.words:
            if word in PREPOSITIONS or word in LINKING_WORDS:
                heads.append(last)
                if word not in ("of", "for"):
                    break
                last = ""
            else:
                last = word
        else:
            heads.append(last)
        return frozenset(singular(word) for word in heads if word and not FAVOURITE.fullmatch(word))


def find_phrases(text: str, weights: Mapping[str, float]) -> Iterator[PersonalPhrase]:
    """The personal phrases of a text from left to right; `weights` say where a noun phrase ends."""
    at = 0
    for found in _POSSESSIVE.finditer(text):
        if found.start() < at:
            continue
        words = words_after(text, found.end())
        if words and words[0].text.lower() not in EXCLAIMED:
            at = words[_last_word(words, weights)].end
            yield PersonalPhrase(Span(found.start(), at), text[found.start() : at])


def possessive_at(text: str, start: int) -> int | None:
    """Where a possessive of the first person ends that stands there."""
    found = _POSSESSIVE.match(text, start)
    return None if found is None else found.end()


def begins_phrase(text: str, span: Span) -> bool:
    """Whether a span begins with a possessive of the first person and goes on."""
    end = possessive_at(text, span.start)
    return end is not None and end < span.end


def _last_word(words: list[Word], weights: Mapping[str, float]) -> int:
    """The most likely end: that it goes on up to there, and ends there."""
    best, best_chance, goes_on = 0, -1.0, 1.0
    for number in range(min(len(words), MOST_WORDS)):
        is_cut = number + 1 == len(words)
        ends = 1.0 if is_cut else chance(weights, ending_features(words, number))
        if goes_on * ends > best_chance:
            best, best_chance = number, goes_on * ends
        goes_on *= 1 - ends
    return best


def singular(word: str) -> str:
    """A word without what makes it a plural, roughly: it is only compared with others treated alike."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
