"""How alike a mention and a title are written."""

from __future__ import annotations

from functools import lru_cache

from entlink.text.folding import key_of
from entlink.text.titles import without_parenthesis

_SHORTEST_INITIALS = 2


@lru_cache(maxsize=65536)
def bare_key(title: str) -> str:
    """The key of a title without the parenthesis that tells it from its namesakes."""
    return key_of(without_parenthesis(title) or title)


def likeness(surface: str, title: str) -> float:
    """From 0 to 1: the mean of Jaro-Winkler and of how much of the title the common beginning is.

    The second sees "Austrian" as Austria and "painters" as Painting, which no count of edits does.
    """
    from rapidfuzz.distance import JaroWinkler, Prefix

    written, named = key_of(surface), bare_key(title)
    if not written or not named:
        return 0.0
    return (JaroWinkler.similarity(written, named) + Prefix.similarity(written, named) / len(named)) / 2


def are_initials(surface: str, title: str) -> bool:
    """Whether the surface is the title's initials: "U.S." of United States, "MoMA" of Museum of Modern Art."""
    letters = [character for character in surface if character.isalnum()]
    capitals = "".join(letters).casefold()
    if (
        len(letters) < _SHORTEST_INITIALS
        or not letters[0].isupper()
        or sum(map(str.isupper, letters)) < len(letters) / 2
    ):
        return False
    words = (without_parenthesis(title) or title).split()
    every = "".join(word[0] for word in words).casefold()
    capitalised = "".join(word[0] for word in words if word[0].isupper()).casefold()
    return len(words) > 1 and capitals in (every, capitalised)
