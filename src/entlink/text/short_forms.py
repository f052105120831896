"""How a longer name may be cut short: its first or last words, what stands before its comma, its initials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from entlink.text.folding import fold, is_spaceless, key_of
from entlink.text.titles import without_parenthesis

_FEWEST_LETTERS = 2  # of initials
_SHORTEST, _SHORTEST_SPACELESS = 3, 2  # characters of a form
_MOST_WORDS = 3  # of a form, unless only one word is gone
_PART_ENDS = re.compile("[·‧・•]")  # between the parts of a foreign name
_KINDS_OF_PLACE = frozenset("市县縣省区區")
_LONGEST = 200  # characters of a name that is cut


@lru_cache(maxsize=65536)
def short_forms(name: str) -> tuple[str, ...]:
    """The keys that stand for a name cut short, and its initials in capitals, which no key has.

    "Knoxville, Tennessee" gives knoxville, "Barack Obama" obama and barack, "Los Angeles" los, angeles and LA.
    """
    bare = without_parenthesis(name) or name
    if len(bare) > _LONGEST or (bare.isascii() and bare.isalnum()):
        return ()
    found = dict.fromkeys((*_cut(bare), *_initials_of(bare)))
    if found:
        for whole in (name, bare):
            found.pop(key_of(whole), None)
    return tuple(found)


def initials(surface: str) -> str | None:
    """The letters of a surface that may be initials, in capitals: "U.S." and "MoMA", but not "Mom"."""
    letters = [character for character in surface if character.isalnum()]
    capitals = sum(map(str.isupper, letters))
    if len(letters) < _FEWEST_LETTERS or not letters[0].isupper() or capitals < len(letters) / 2:
        return None
    return "".join(letters).upper()


def _cut(name: str) -> Iterator[str]:
    head = name.split(", ")[0]
    if is_spaceless(head[:1] or " "):
        yield from (key_of(part) for part in _PART_ENDS.split(head) if len(part) >= _SHORTEST_SPACELESS)
        return
    folded = fold(head)
    if head != name and folded.tokens and _may_stand_alone(folded.key, head[folded.starts[0]]):
        yield folded.key
    count = len(folded.tokens)
    for length in {*range(1, min(count, _MOST_WORDS + 1)), count - 1} - {0, count, -1}:
        for first in (0, count - length):
            last = first + length - 1
            key = folded.key[folded.at[first] : folded.to[last]]
            if _may_stand_alone(key, head[folded.starts[first]]):
                yield key


def short_spaceless(name: str) -> Iterator[str]:
    """What people say for a name in a script without spaces: 爱因斯坦 for 阿尔伯特·爱因斯坦, 南京 for 南京市."""
    if not name or not is_spaceless(name[0]):
        return
    *first, last = _PART_ENDS.split(name)
    if first and len(last) >= _SHORTEST_SPACELESS:
        yield last
    if not first and name[-1] in _KINDS_OF_PLACE and len(name) > _SHORTEST_SPACELESS:
        yield name[:-1]


def _may_stand_alone(key: str, begins: str) -> bool:
    """Whether a form is long enough, and written as a name is where letters have cases."""
    return len(key) >= _SHORTEST and not begins.islower()


def _initials_of(name: str) -> Iterator[str]:
    for part in dict.fromkeys((name, name.split(", ")[0])):
        words = part.replace("-", " ").replace(",", " ").split()
        if len(words) < _FEWEST_LETTERS:
            continue
        every = "".join(word[0] for word in words)
        capitalised = "".join(word[0] for word in words if word[0].isupper())
        for letters in (every.upper(), capitalised):
            if len(letters) >= _FEWEST_LETTERS and letters.isupper():
                yield letters
