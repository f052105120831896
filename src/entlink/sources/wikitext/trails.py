"""Link trails: the letters directly after a link that belong to it, as the s of [[dog]]s."""

from __future__ import annotations

import re

# Scripts that set no blanks between words, or attach particles to names: what follows a link is another word.
_SPACELESS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u0f00-\u109f"  # Tibetan, Burmese
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9df"  # Khmer, Tai, Balinese, Javanese
    "\u2e80-\u312f\u3190-\u9fff\ua000-\ua4cf\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_LETTERS = re.compile(rf"(?:[^\W\d_{_SPACELESS}])+")


def trail(text: str) -> str:
    """The lower-case letters, and those of scripts without case, that begin the text."""
    found = _LETTERS.match(text)
    if found is None:
        return ""
    word = found[0]
    if word == word.lower():
        return word
    capital = next((place for place, letter in enumerate(word) if letter != letter.lower()), len(word))
    return word[:capital]
