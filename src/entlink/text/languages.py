"""What a text is written in: its script by its letters, its language by its most frequent words.

No model: a few words of each language are enough to be sure of prose, and what is not sure is not told.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

_LATIN, _EAST_ASIAN = "Latin letters", "Chinese or Japanese characters"
_SCRIPTS = {"CJK": _EAST_ASIAN, "HIRAGANA": _EAST_ASIAN, "KATAKANA": _EAST_ASIAN, "LATIN": _LATIN}
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_LETTERS = 20  # that tell a script
_MOSTLY, _HARDLY = 0.6, 0.01  # of the letters
_FEWEST_OF_PROSE = 200  # letters that tell a language
_SHARE, _FEWEST_WORDS, _FEWEST_DIFFERENT = 0.12, 10, 4  # of a language's words in prose
_CLEARLY = 3  # times as many as of another language
_WORDS = {
    "English": "the of and to that with for was were are this from which his her their not been have has",
    "German": "der die das und ist nicht von zu den dem ein eine einen auf für mit sich auch als bei wird wurde",
    "French": "le la les des et est un une dans que qui pour pas sur au aux par avec du ce",
    "Spanish": "el la los las y es en un una que de por con para del se su como más lo",
    "Portuguese": "o os as e é um uma que de do da dos das em no na para com não por",
    "Italian": "il lo la gli le e è di un una che per con del della dei non sono nel alla",
    "Dutch": "de het een en van is niet op te dat die voor met zijn aan ook als bij door wordt",
    "Swedish": "och att det som en ett är på för med av den inte till har de var om sig från",
    "Danish or Norwegian": "og det at en er af av som på til med den for ikke de har et var fra",
    "Polish": "i w na z się nie że do jest o jak to po od przez oraz są był dla który",
}
_KANA = 0.05  # of the letters of a Japanese text, at least
_CODES = {
    "English": "en",
    "German": "de",
    "French": "fr",
    "Spanish": "es",
    "Portuguese": "pt",
    "Italian": "it",
    "Dutch": "nl",
    "Swedish": "sv",
    "Danish or Norwegian": "da no nb nn",
    "Polish": "pl",
    "Chinese": "zh yue wuu",
    "Japanese": "ja",
    "Hangul letters": "ko",
    "Greek letters": "el",
    "Cyrillic letters": "ru uk bg sr mk be kk ky mn tg",
    "Arabic letters": "ar fa ur ps",
    "Thai letters": "th",
    "Hebrew letters": "he yi",
    "Devanagari letters": "hi mr ne sa",
    "Bengali letters": "bn as",
    "Tamil letters": "ta",
    "Telugu letters": "te",
    "Georgian letters": "ka",
    "Armenian letters": "hy",
}
_LANGUAGES = {
    word: [name for name, words in _WORDS.items() if word in words.split()]
    for word in " ".join(_WORDS.values()).split()
}


class Writing(NamedTuple):
    """How many letters there are of each script, how many words, and how often each language's frequent ones."""

    letters: Mapping[str, int]
    words: int
    frequent: Mapping[str, Counter[str]]
    kana: int = 0  # letters that Japanese has, and Chinese has not


def writing_of(texts: Iterable[str]) -> Writing:
    """Of all texts together."""
    letters: Counter[str] = Counter()
    frequent: dict[str, Counter[str]] = {}
    count = kana = 0
    for text in texts:
        words = _WORD.findall(text)
        count += len(words)
        kana += 0 if text.isascii() else sum("\u3040" <= letter <= "\u30ff" for letter in text)
        letters.update(_LATIN if word.isascii() else _script_of(letter) for word in words for letter in word)
        for word in words:  # as they are: with a capital they are part of a name, such as Los Angeles
            for language in _LANGUAGES.get(word, ()):
                frequent.setdefault(language, Counter())[word] += 1
    return Writing(letters, count, frequent, kana)


def difference(text: Writing, names: Writing) -> tuple[str, str] | None:
    """What a text and the texts around names are written in, where that is surely not the same."""
    script, expected = _script(text), _script(names)
    if script is None or expected is None:
        return None
    if names.letters.get(script, 0) < _HARDLY * sum(names.letters.values()):
        return script, expected
    language, known = _language(text), _language(names)
    if language is None or known is None or language == known:
        return None
    is_sure = _is_clearly(language, known, text) and _is_clearly(known, language, names)
    return (language, known) if is_sure else None


def written_in(writing: Writing) -> str | None:
    """The language, as far as it is known here; else the script, if it is not the Latin one."""
    script = _script(writing)
    if script == _EAST_ASIAN:
        return "Japanese" if writing.kana >= _KANA * writing.letters[script] else "Chinese"
    return _language(writing) if script in (None, _LATIN) else script


def can_read(languages: str, written: str | None) -> bool | None:
    """Whether a model that reads `languages`, codes such as "zh,en", reads what is `written_in`; None: not known.

    Where that is not sure it is taken for English, as most texts are.
    """
    codes = {code.strip().lower().partition("-")[0] for code in languages.split(",")} - {""}
    if "multilingual" in codes:
        return True
    wanted = set(_CODES.get(written or "English", "").split())
    if not codes or not wanted or (written is None and "en" not in codes):
        return None
    return bool(codes & wanted)


def _is_clearly(one: str, other: str, writing: Writing) -> bool:
    return _times(writing, one) >= _CLEARLY * _times(writing, other)


@lru_cache(maxsize=4096)
def _script_of(letter: str) -> str:
    name = unicodedata.name(letter, "other").partition(" ")[0]
    return _SCRIPTS.get(name, f"{name.capitalize()} letters")


def _script(writing: Writing) -> str | None:
    """What most letters are, if there are enough."""
    total = sum(writing.letters.values())
    if total < _FEWEST_LETTERS:
        return None
    script, count = max(writing.letters.items(), key=lambda one: one[1])
    return script if count >= _MOSTLY * total else None


def _language(writing: Writing) -> str | None:
    """The language of prose in Latin letters, if it is one of those known here."""
    if writing.letters.get(_LATIN, 0) < _FEWEST_OF_PROSE or not writing.frequent:
        return None
    language = max(writing.frequent, key=lambda one: _times(writing, one))
    is_prose = _times(writing, language) >= max(_FEWEST_WORDS, _SHARE * writing.words)
    return language if is_prose and len(writing.frequent[language]) >= _FEWEST_DIFFERENT else None


def _times(writing: Writing, language: str) -> int:
    return writing.frequent.get(language, Counter()).total()
