"""How alike a mention and a title are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from entlink.interfaces import Shortlist
from entlink.text.folding import key_of
from entlink.text.titles import without_parenthesis

_SHORTEST_INITIALS = 2


class SpellingEvidence:
    """How like a mention is to a candidate's title, and whether it is the title's initials."""

    gives = ("spelling", "initials")

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        return [
            [
                {
                    "spelling": _likeness(written, title),
                    "initials": float(capitals is not None and _has_initials(title, capitals)),
                }
                for title in (one.title or "" for one in shortlist.candidates)
            ]
            for shortlist in shortlists
            for written, capitals in ((key_of(shortlist.mention.text), _capitals(shortlist.mention.text)),)
        ]


@lru_cache(maxsize=65536)
def bare_key(title: str) -> str:
    """The key of a title without the parenthesis that tells it from its namesakes."""
    return key_of(without_parenthesis(title) or title)


def likeness(surface: str, title: str) -> float:
    """From 0 to 1: the mean of Jaro-Winkler and of how much of the title the common beginning is.

    The second sees "Austrian" as Austria and "painters" as Painting, which no count of edits does.
    """
    return _likeness(key_of(surface), title)


def _likeness(written: str, title: str) -> float:
    named = bare_key(title)
    if not written or not named:
        return 0.0
    jaro_winkler, prefix = _measures()
    return (jaro_winkler(written, named) + prefix(written, named) / len(named)) / 2


@lru_cache(maxsize=1)
def _measures() -> tuple[Callable[[str, str], float], Callable[[str, str], float]]:
    """Imported late: a linker that ranks by priors needs neither."""
    from rapidfuzz.distance import JaroWinkler, Prefix

    return JaroWinkler.similarity, Prefix.similarity


def _capitals(surface: str) -> str | None:
    """The letters of a surface that may be initials, folded."""
    letters = [character for character in surface if character.isalnum()]
    if (
        len(letters) < _SHORTEST_INITIALS
        or not letters[0].isupper()
        or sum(map(str.isupper, letters)) < len(letters) / 2
    ):
        return None
    return "".join(letters).casefold()


def _has_initials(title: str, capitals: str) -> bool:
    words = (without_parenthesis(title) or title).split()
    every = "".join(word[0] for word in words).casefold()
    capitalised = "".join(word[0] for word in words if word[0].isupper()).casefold()
    return len(words) > 1 and capitals in (every, capitalised)
