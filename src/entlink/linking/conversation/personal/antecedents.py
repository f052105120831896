"""What a personal phrase may mean: the entities its speaker named, and what speaks for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log1p

from entlink.documents import Record, Span
from entlink.linking.conversation.personal.phrases import PersonalPhrase, singular
from entlink.linking.conversation.personal.word_lists import PERSONAL_PARTS, RELATIVES

NONE = "none"  # the choice that nothing is meant that was said
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?]+(?:\s|$)|\n")
_BE = r"(?:is|are|was|were|be|been|being|has been|have been|would be|has to be|have to be|must be|'s|’s|s|=)"
_SKIPPED = r"(?:\s+(?:\w+(?:['’]\w+)?)){0,4}?"
_THEN_SAID = re.compile(rf"^\s*(?:\w+\s+){{0,4}}?{_BE}\b", re.IGNORECASE)
_SAID_THEN = re.compile(rf"(?:^|\s|['’]){_BE}{_SKIPPED}\s*(?:one of\s+|some of\s+|among\s+)?$", re.IGNORECASE)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|it['’]s|that|that['’]s|this|they|they['’]re|those|these|he|he['’]s|she|she['’]s|which|who)\b"
    rf"{_SKIPPED}\s*(?:one of\s+|some of\s+|among\s+)?$",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"^\s*[,:(–—-]?\s*[\"'“]?(?:(?:such as|like|called|named|including|especially|would say)\s+)?(?:the|a|an)?\s*$",
    re.IGNORECASE,
)
_FURTHEST = 600  # characters between the two that are looked at


class Antecedent(Record, frozen=True):
    """An entity that a speaker named; `span` is its place if it stands in the same turn as the phrase.

    `kinds` are words for what it is, in the singular: its types and the opening of its description.
    """

    entity: str
    surface: str
    turns_back: int = 0
    span: Span | None = None
    title: str | None = None
    score: float = 1.0
    kinds: frozenset[str] = frozenset()


def choice_rows(
    text: str, phrase: PersonalPhrase, among: Sequence[Antecedent], *, has_names: bool
) -> list[dict[str, float]]:
    """The features of each antecedent of a phrase in a text, and last those of none of them."""
    rows = [pair_features(text, phrase, one, among) for one in among]
    return [*rows, none_features(phrase, has_names=has_names)]


def pair_features(
    text: str, phrase: PersonalPhrase, one: Antecedent, among: Sequence[Antecedent]
) -> dict[str, float]:
    """What speaks for or against an antecedent of a phrase in a text; `among` are all of them."""
    features = {"score": one.score, **_kind_features(phrase, one)}
    if one.surface[:1].isupper():
        features["capital"] = 1.0
    if one.span is None:
        return features | _earlier_features(phrase, one)
    return features | _place_features(text, phrase, one.span, among)


def none_features(phrase: PersonalPhrase, *, has_names: bool) -> dict[str, float]:
    """What speaks for nothing being meant that was said; `has_names` is whether the phrase itself names a thing."""
    features = {NONE: 1.0}
    if phrase.is_favourite:
        features[f"{NONE}, favourite"] = 1.0
    if phrase.heads & RELATIVES:
        features[f"{NONE}, relative"] = 1.0
    if phrase.heads & PERSONAL_PARTS:
        features[f"{NONE}, part of a person"] = 1.0
    if has_names:
        features[f"{NONE}, a name inside"] = 1.0
    return features


def kind_words(types: Sequence[str], description: str) -> frozenset[str]:
    """Words for what an entity is: of its types, and of the first sentence of its description."""
    opening = _SENTENCE_END.split(description[:400], maxsplit=1)[0]
    return _folded(" ".join((*types, opening)))


def _folded(text: str) -> frozenset[str]:
    """The words of a text, in lower case and in the singular."""
    return frozenset(_spelt_alike(singular(word)) for word in _WORD.findall(text.lower()))


def _spelt_alike(word: str) -> str:
    """American and British spelling as one, where it is only the ending."""
    return f"{word[:-3]}or" if word.endswith("our") and len(word) > 4 else word


def _kind_features(phrase: PersonalPhrase, one: Antecedent) -> dict[str, float]:
    features = {}
    heads = {_spelt_alike(head) for head in phrase.heads}
    names = [_folded(name) for name in (one.surface, one.title or "")]
    if heads & one.kinds:
        features["of the kind"] = 1.0
        if one.span is None:
            features["of the kind, earlier"] = 1.0
    elif heads and one.kinds:
        features["of another kind"] = 1.0
    if any(name and name <= heads for name in names):
        features["the kind itself"] = 1.0
    elif any(name & heads for name in names):
        features["names the kind"] = 1.0
    return features


def _earlier_features(phrase: PersonalPhrase, one: Antecedent) -> dict[str, float]:
    features = {"earlier": 1.0, "turns back": log1p(one.turns_back)}
    if phrase.is_favourite:
        features["earlier, favourite"] = 1.0
    if phrase.heads & RELATIVES:
        features["earlier, relative"] = 1.0
    return features


def _place_features(text: str, phrase: PersonalPhrase, span: Span, among: Sequence[Antecedent]) -> dict[str, float]:
    comes_after = span.start >= phrase.span.end
    between = text[phrase.span.end : span.start] if comes_after else text[span.end : phrase.span.start]
    if len(between) > _FURTHEST:
        return {"far": 1.0}
    side = "after" if comes_after else "before"
    words = len(_WORD.findall(between))
    sentences = len(_SENTENCE_END.findall(between))
    features = {side: 1.0, f"words {side}": log1p(words), f"sentences {side}": log1p(sentences)}
    closer = sum(1 for other in among if other.span is not None and _stands_between(phrase.span, other.span, span))
    features[f"closer {side}"] = log1p(closer)
    if _BESIDE.match(between):
        features["beside"] = 1.0
    if comes_after and not sentences and _THEN_SAID.match(between):
        features["is, after"] = 1.0
        if not closer:
            features["is, after, first"] = 1.0
    if not comes_after and not sentences and _SAID_THEN.search(between):
        features["is, before"] = 1.0
    if not comes_after and _POINTS_BACK.search(between):
        features["points back"] = 1.0
    return features


def _stands_between(phrase: Span, other: Span, span: Span) -> bool:
    if span.start >= phrase.end:
        return phrase.end <= other.start and other.end <= span.start
    return span.end <= other.start and other.end <= phrase.start
