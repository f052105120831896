"""What a word tells about whether a noun phrase ends with it."""

from __future__ import annotations

import re
from typing import NamedTuple

from entlink.linking.conversation.personal import word_lists

MOST_WORDS = 10  # after the possessive
_WORD = re.compile(r"\w+(?:['’&-]\w+)*(?:(?<=s)['’](?=\s))?")
_POSSESSIVES = ("my", "our")  # where another one stands, another phrase begins
_SPACE = re.compile(r"[ \t\u00a0]*")
_CLASSES = {
    "preposition": word_lists.PREPOSITIONS,
    "linking": word_lists.LINKING_WORDS,
    "conjunction": word_lists.CONJUNCTIONS,
    "pronoun": word_lists.PRONOUNS,
    "determiner": word_lists.DETERMINERS,
    "adverb": word_lists.ADVERBS,
    "modifier": word_lists.MODIFIERS,
    "relative": word_lists.RELATIVES,
    "part of a person": word_lists.PERSONAL_PARTS,
}
# What a form of a verb ends in, and what stands there in the form it is made from.
_INFLECTIONS = (
    *(("", ""), ("s", ""), ("es", ""), ("ed", ""), ("ing", "")),
    *(("ed", "e"), ("ing", "e"), ("ies", "y"), ("ied", "y")),
)
_SUFFIXES = ("'s", "ed", "ing", "ly", "s", "er", "est")


class Word(NamedTuple):
    """A word and where it stands."""

    text: str
    start: int
    end: int


def words_after(text: str, start: int) -> list[Word]:
    """The words from `start` on up to the first sign between two of them, one more than a phrase may have."""
    words: list[Word] = []
    at = start
    while len(words) <= MOST_WORDS:
        space = _SPACE.match(text, at)
        found = _WORD.match(text, space.end() if space else at)
        if found is None or (words and found.start() == at) or found.group().lower() in _POSSESSIVES:
            break
        words.append(Word(found.group(), found.start(), found.end()))
        at = found.end()
    return words


def ending_features(words: list[Word], number: int) -> dict[str, float]:
    """Of the phrase that ends with a word, and has another word after it."""
    last, following = words[number].text, words[number + 1].text
    features = {"bias": 1.0, f"length={min(number + 1, 5)}": 1.0}
    for place, word in (("last", last), ("next", following)):
        folded = word.lower().replace("’", "'")
        features[f"{place}={folded}"] = 1.0
        for name, members in _CLASSES.items():
            if folded in members or folded.removesuffix("s") in members:
                features[f"{place} is {name}"] = 1.0
        if _is_verb(folded):
            features[f"{place} is verb"] = 1.0
        suffix = next((one for one in _SUFFIXES if folded.endswith(one) and len(folded) > len(one) + 2), None)
        features[f"{place} ends in {suffix}"] = 1.0
        if word[:1].isupper():
            features[f"{place} is capital"] = 1.0
        if word_lists.FAVOURITE.fullmatch(folded):
            features[f"{place} is favourite"] = 1.0
    if any(word_lists.FAVOURITE.fullmatch(word.text.lower()) for word in words[:number]):
        features["favourite before"] = 1.0
    return features


def _is_verb(word: str) -> bool:
    """Whether it may be a verb of the list, in some form of it."""
    return any(
        word.endswith(ending) and word[: len(word) - len(ending)] + before in word_lists.VERBS
        for ending, before in _INFLECTIONS
    )
