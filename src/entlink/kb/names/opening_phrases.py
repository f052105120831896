"""The words by which the first sentence of a description gives other names, by language."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

ASIDE = "\x1f"  # stands for parentheses in a sentence; white space to whoever splits it


class Phrases(NamedTuple):
    """What to look for in one language; expressions that ignore case, sets of words in lower case."""

    steps: re.Pattern[str]  # brackets, the end of the sentence, and its main verb, which ends what is read
    relative: re.Pattern[str]  # before a verb: then it is that of a clause
    lists_meanings: re.Pattern[str]  # what tells a disambiguation page
    leads: re.Pattern[str]  # "also known as": what follows is a name
    separator: re.Pattern[str]  # between two names; `closes` is the word of one that ends a list
    qualifier: re.Pattern[str]  # "simply" or "the" before a name
    ends: re.Pattern[str]  # the words that end a name
    goes_on: re.Pattern[str]  # words that a name in capitals may go on with: where it ends is not known
    gloss: re.Pattern[str]  # an end that tells a word of another language
    joins: re.Pattern[str]  # "and", at which names are not split
    no_names: frozenset[str]  # words that no name begins with
    no_ends: frozenset[str]  # words that no name ends with
    articles: frozenset[str]


_ADVERBS = (
    "also often sometimes commonly usually more most better best simply formerly popularly informally previously "
    "originally generally just occasionally variously officially formally colloquially widely historically "
    "alternatively traditionally locally frequently mostly typically rarely now today once professionally legally "
    "either less even otherwise properly correctly internationally mononymously collectively affectionately later "
    "then currently equivalently"
)
_LANGUAGES = (
    "Afrikaans Albanian Arabic Aramaic Armenian Basque Bengali Bosnian Breton Bulgarian Cantonese Catalan Chinese "
    "Cornish Croatian Czech Danish Dutch Esperanto Estonian Filipino Finnish Flemish French Frisian Gaelic Galician "
    "Georgian German Greek Gujarati Hawaiian Hebrew Hindi Hungarian Icelandic Indonesian Irish Italian Japanese "
    "Kannada Korean Kurdish Latin Latvian Lithuanian Malay Malayalam Maltese Mandarin Maori Marathi Mongolian Nepali "
    "Norse Norwegian Occitan Pashto Persian Polish Portuguese Punjabi Quechua Romanian Russian Sanskrit Scots "
    "Serbian Sinhala Sinhalese Slovak Slovene Slovenian Spanish Swahili Swedish Tagalog Tamil Telugu Thai Tibetan "
    "Turkish Ukrainian Urdu Vietnamese Welsh Yiddish"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _any(words: str, *others: str) -> str:
    return f"(?:{'|'.join(sorted(_words(words).union(others)))})"


def _english() -> Phrases:
    adverb = rf"(?:{_any(_ADVERBS)}\s+)"
    known = (
        rf"known\s+{adverb}*as|known\s+by\s+(?:his|her|its|their|the)\s+(?:\w+\s+)?(?:names?|initials|acronyms?|"
        r"abbreviations?)|called|(?:referred|abbreviated|shortened)\s+to(?:\s+as)?|abbreviated(?:\s+as)?|"
        r"spell(?:ed|t)|romani[sz]ed\s+as|written\s+as|styli[sz]ed\s+as|nicknamed|termed|dubbed|aka|a\.k\.a\.|a/k/a|short\s+for|"
        r"(?:officially|formerly|previously|colloquially|informally|alternatively)(?=\s+(?:the\s+)?[\"'“‘]?[A-Z0-9])"
    )
    return Phrases(
        steps=re.compile(
            r"[()\[\]\n]|(?<=[a-z)\]\d]{3})\.(?=\s+[A-Z\"“])|"
            r"\b(?:is|are|was|were|refers?|means?|has|have|had|may|might|can|could|will|began|became|includes?)\b"
        ),
        relative=re.compile(r"\b(?:which|that|who|whom|whose|what|where|when|it|they|he|she|there|this|these)\s+$"),
        lists_meanings=re.compile(
            r"(?:may|might|can|could)\s+(?:also\s+)?(?:refer|mean|stand)|(?:refers?\s+to|is)\s*:"
        ),
        # Without an adverb it must begin a part of the sentence: in "a city called Rome" it speaks of the city.
        leads=re.compile(rf"(?<![\w-])(?:{adverb}+|(?<=[,{ASIDE}])|(?<=[,{ASIDE}]\s))(?:{known})(?![\w-])"),
        separator=re.compile(r",?\s*\b(?P<closes>or|(?<=, )and)\b,?\s*|,\s*"),
        qualifier=re.compile(rf"(?:{_any(_ADVERBS, 'as', 'a', 'an', 'the', 'in full')}\s+|,\s*)+", re.IGNORECASE),
        ends=re.compile(
            r"\s(?:in|by|because|since|when|where|that|which|who|among|amongst|after|during|until|before|while|as|"
            r"within|throughout|depending|due|based|located|consisting|meaning|not|but|on|at|from|to|for|with|via|"
            r"under|between|outside|if|although|though|see|born|died)(?=\s|$)"
        ),
        goes_on=re.compile(
            r"\s(?:on|at|from|to|for|with|under|via|between)\s+(?:the\s+)?[A-Z]|\sin\s+(?:an?|the)\s+[a-z]"
        ),
        gloss=re.compile(rf"\s+in\s+(?:\w+\s+)?{_any(_LANGUAGES)}\b"),
        joins=re.compile(r"\s(?:and|&)\s"),
        no_names=_words(
            "of and or in by on at to from for with after before because since when where that which who whose not "
            "his her its their our my your it they he she we you i one two three some any all both other others "
            "another each every no such this these those there if as is are was were be being been what how so "
            "etc known called similar part see born died son daughter out via per used using"
        ),
        no_ends=_words(
            "of the a an and or in by on at to from for with as etc its his her their is also known called"
        ),
        articles=_words("a an the"),
    )


_TABLE = {"en": _english}


@lru_cache(maxsize=len(_TABLE) + 1)
def phrases_of(language: str) -> Phrases | None:
    """The phrases of a language code, of which only the first part counts ("en-GB"); None where there are none."""
    made = _TABLE.get(language.replace("_", "-").partition("-")[0].lower())
    return made() if made else None
