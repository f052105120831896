"""Surfaces to keys: the normalisation that aliases and texts share, with offsets kept.

A text folds to *tokens* joined by single spaces: NFKC, case-folded, punctuation gone, and traditional Chinese
characters simplified (`entlink.text.scripts`). Where a script writes without spaces (Han, Kana, Thai, …) each
character is a token of its own and is joined without a space, so that "Java编程" and "Java 编程" fold to one key.
Two strings with one key are the same name up to the loosest step; `entlink.kb.names.tiers` tells how close they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, count
from operator import add, sub
from typing import NamedTuple

from entlink.text.scripts import simplified

# Scripts whose words run on without spaces: Thai, Lao, Tibetan, Myanmar, Khmer, Kana, Han.
SPACELESS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U000323af"
)
# "C++" and "F#" are other names than "C" and "F": these signs belong to the word they end.
_WORD_END = r"(?:[+#]++(?![^\W_]))?"
_ASCII_TOKEN = re.compile(rf"([a-z0-9]+{_WORD_END})")
_PLAIN_TOKEN = re.compile(rf"([^\W_]+{_WORD_END})")  # where there are neither marks nor spaceless scripts
# Soft hyphen, zero-width space, word joiner and byte-order mark: they stand inside words and are not seen.
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_PLAIN_WORDS = re.compile("[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")
_SPACELESS = re.compile(f"[{SPACELESS}]")
_plain: set[str] = set()  # characters seen that are neither marks nor spaceless
# What NFKC may join with the character before it, beside combining marks: Hangul vowels and finals, conjoining,
# compatible or of half width, and the half-width sound marks of Kana.
_CLUSTER_TAIL = (
    "\u1160-\u11ff\ud7b0-\ud7fb\u3133\u3135\u3136\u313a-\u313f\u314f-\u3164\u3167-\u316d\u316f\u3170\u3182\u3183"
    "\u3187-\u318e\uff9e-\uffa0\uffa3\uffa5\uffa6\uffaa-\uffaf\uffc2-\uffc7\uffca-\uffcf\uffd2-\uffd7\uffda-\uffdc"
)


class Folded(NamedTuple):
    """A folded text: token `i` is `key[at[i]:to[i]]` and stands at `text[starts[i]:ends[i]]`."""

    key: str
    tokens: list[str]
    at: list[int]
    to: list[int]
    starts: list[int]
    ends: list[int]


def fold(text: str) -> Folded:
    """Fold a text of any length, remembering where each token stood."""
    if text.isascii():
        return _fold_spaced(text.lower(), _ASCII_TOKEN)
    folded, places = _fold_characters(text)
    is_special = _has_special(folded)
    result = _fold_unspaced(simplified(folded)) if is_special else _fold_spaced(folded, _PLAIN_TOKEN)
    return result if places is None else _relocated(result, places)


@lru_cache(maxsize=65536)
def key_of(surface: str) -> str:
    """The key of a name. A name of nothing but punctuation is its own key."""
    if surface.isascii() and _PLAIN_WORDS.fullmatch(surface):
        return surface.lower()  # plain words, one space between two: what folding would come to
    key = fold(surface).key
    return key or " ".join(unicodedata.normalize("NFKC", surface).casefold().split())


def first_token(key: str) -> str:
    """What a key is sharded by: its first word, or first character where words are not spaced."""
    match = _token().match(key)
    return match.group() if match else key


def is_spaceless(character: str) -> bool:
    """Whether the character belongs to a script that writes without spaces."""
    return _SPACELESS.match(character) is not None


def unaccented(name: str) -> str:
    """Latin letters without their accents: Beyoncé as Beyonce. Other scripts stay as they are."""
    if name.isascii():
        return name
    parts = (unicodedata.normalize("NFD", character) for character in unicodedata.normalize("NFC", name))
    return "".join(part[0] if part[0].isascii() else unicodedata.normalize("NFC", part) for part in parts)


def _has_special(folded: str) -> bool:
    """Whether any character is a combining mark or of a spaceless script: then plain words do not do."""
    # A search for one large class is ten times slower than looking at each distinct character once.
    unknown = set(folded) - _plain
    special = {
        character
        for character in unknown
        if is_spaceless(character) or unicodedata.category(character) in ("Mn", "Mc")
    }
    _plain.update(unknown - special)
    return bool(special)


def _fold_spaced(folded: str, token: re.Pattern[str]) -> Folded:
    """One split and a few passes in C: this runs over every text."""
    pieces = token.split(folded)  # what stands between, token, what stands between, token, …
    tokens = pieces[1::2]
    bounds = list(accumulate(map(len, pieces)))
    lengths = list(map(len, tokens))
    # One space stands between two tokens, so the i-th is moved by i.
    to = list(map(add, accumulate(lengths), count()))
    at = list(map(sub, to, lengths))
    return Folded(" ".join(tokens), tokens, at, to, bounds[:-1:2], bounds[1::2])


def _fold_unspaced(folded: str) -> Folded:
    tokens, pieces, at, to, starts, ends = [], [], [], [], [], []
    length, spaced_before = 0, False
    for match in _token().finditer(folded):
        token = match.group()
        spaced = not is_spaceless(token[0])
        if spaced and spaced_before:
            pieces.append(" ")
            length += 1
        pieces.append(token)
        tokens.append(token)
        at.append(length)
        length += len(token)
        to.append(length)
        starts.append(match.start())
        ends.append(match.end())
        spaced_before = spaced
    return Folded("".join(pieces), tokens, at, to, starts, ends)


def _fold_characters(text: str) -> tuple[str, list[int] | None]:
    """NFKC and case folding; the list gives each character's cluster bounds unless nothing moved."""
    invisible = _INVISIBLE.search(text) is not None
    if not invisible and unicodedata.is_normalized("NFKC", text):
        folded = text.casefold()
        # Folding maps every character to one or more, so an equal length means one to one.
        if len(folded) == len(text) and (folded == text or unicodedata.is_normalized("NFKC", folded)):
            return folded, None
    pieces: list[str] = []
    places: list[int] = []
    for start, end in _clusters(text):
        # Case folding may take a letter apart and leave its marks in another order.
        piece = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text[start:end]).casefold())
        if invisible:
            piece = _INVISIBLE.sub("", piece)
        pieces.append(piece)
        if end - start == len(piece):
            places.extend(range(start, end))
        else:
            places.extend([start] * len(piece))
    places.append(len(text))
    return "".join(pieces), places


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Runs of ASCII, and every other character with the marks that follow it."""
    for match in _cluster().finditer(text):
        yield match.span()


def _relocated(result: Folded, places: list[int]) -> Folded:
    starts = [places[start] for start in result.starts]
    ends = []
    for end in result.ends:
        # A cluster may have folded to several characters: go on to where the next cluster begins.
        last, place = places[end - 1], end
        while place < len(places) - 1 and places[place] == last:
            place += 1
        ends.append(places[place])
    return result._replace(starts=starts, ends=ends)


@lru_cache(maxsize=1)
def _token() -> re.Pattern[str]:
    from entlink.text.marks import MARKS

    letter = rf"[^\W_{SPACELESS}]"
    # Runs of letters first, marks between them: one class with both is three times slower.
    word = rf"{letter}+(?:[{MARKS}]+{letter}*)*(?:[+#]++(?!{letter}))?"
    return re.compile(rf"{word}|(?=\w)[{SPACELESS}][{MARKS}]*")


@lru_cache(maxsize=1)
def _cluster() -> re.Pattern[str]:
    from entlink.text.marks import MARKS

    return re.compile(rf"[\x00-\x7f]+(?![{MARKS}{_CLUSTER_TAIL}])|[\s\S][{MARKS}{_CLUSTER_TAIL}]*")
