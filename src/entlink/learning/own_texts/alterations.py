"""A name as people write it when they do not write it out: shortened, bent, misspelt."""

from __future__ import annotations

from random import Random

from entlink.text.folding import is_spaceless

_SHORTEST_TYPO = 5
_SHORTEST_PART = 3
_SHORTEST_STEM = 4
_FEWEST_INITIALS = 3


def altered(name: str, random: Random) -> str | None:
    """Another way to write a name, drawn from those it has; None where it has none."""
    ways = [_shortened, _shortened, _bent, _in_other_case, _misspelt, _initials]
    random.shuffle(ways)
    forms = (way(name, random) for way in ways)
    return next((form for form in forms if form and form != name), None)


def parts(name: str) -> list[str]:
    """The first and the last word of a name of several; of one without spaces, all but its end or beginning."""
    words = name.split()
    if len(words) > 1:
        ends = dict.fromkeys((words[-1], words[0]))
        return [word for word in ends if len(word) >= _SHORTEST_PART and not word[0].islower() and word[0].isalpha()]
    if len(name) > _SHORTEST_PART - 1 and is_spaceless(name[0]):
        return [name[:-1], name[1:]]
    return []


def _shortened(name: str, random: Random) -> str | None:
    found = parts(name)
    return random.choice(found) if found else None


def _bent(name: str, random: Random) -> str | None:
    """With another ending: one letter more, or one or two less."""
    if len(name.split()[-1]) < _SHORTEST_STEM + 1 or not name[-1].isalpha() or is_spaceless(name[-1]):
        return None
    return random.choice((name + "s", name[:-1], name[:-1] + "n"))


def _in_other_case(name: str, random: Random) -> str | None:
    return random.choice((name.lower(), name.lower(), name.upper()))


def _misspelt(name: str, random: Random) -> str | None:
    """A letter inside of a word lost, doubled or swapped with the next."""
    if len(name) < _SHORTEST_TYPO:
        return None
    at = random.randrange(1, len(name) - 1)
    if not (name[at].isalpha() and name[at + 1].isalpha()) or is_spaceless(name[at]):
        return None
    swapped = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    return random.choice((name[:at] + name[at + 1 :], name[:at] + name[at] + name[at:], swapped))


def _initials(name: str, random: Random) -> str | None:
    letters = [word[0] for word in name.split() if word[0].isupper()]
    return "".join(letters) if len(letters) >= _FEWEST_INITIALS else None
