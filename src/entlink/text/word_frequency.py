"""How common English words are in general, in lower case and with a capital.

The list is made by `reproductions/word_frequency.py`. A word that is not in it is rare, or of another language.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

WORDS_FILE = Path(__file__).parent / "english_words.gz"
_TEN = 10.0  # a number in the file is 10 · (2 + log10 of occurrences per million words)


class WordFrequency(NamedTuple):
    """log10 of the occurrences of a word per million, plus 2: 0 is one in a hundred million, or never."""

    lower: float
    capital: float

    @property
    def either(self) -> float:
        return max(self.lower, self.capital)


RARE = WordFrequency(0.0, 0.0)


def word_frequency(word: str) -> WordFrequency:
    """How common a word is; the case it is given in does not count."""
    return _words().get(word.lower(), RARE)


@cache
def _words() -> dict[str, WordFrequency]:
    import gzip

    found = {}
    for line in gzip.decompress(WORDS_FILE.read_bytes()).decode().splitlines():
        word, lower, capital = line.split(" ")
        found[word] = WordFrequency(int(lower) / _TEN, int(capital) / _TEN)
    return found
