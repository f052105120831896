"""English plurals that no ending tells, for lookups that ask for every form of a name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

# "people" is left out: it is a name of its own more often than the plural of "person".
_PLURALS = """
    calf calves child children die dice elf elves foot feet goose geese grandchild grandchildren gentleman gentlemen
    half halves hoof hooves knife knives leaf leaves life lives loaf loaves louse lice man men mouse mice ox oxen
    policeman policemen policewoman policewomen scarf scarves self selves sheaf sheaves shelf shelves snowman snowmen
    thief thieves tooth teeth wife wives wolf wolves woman women cactus cacti fungus fungi nucleus nuclei
    alga algae bacterium bacteria criterion criteria phenomenon phenomena crisis crises analysis analyses
    fireman firemen businessman businessmen werewolf werewolves
"""


def _both_ways() -> dict[str, tuple[str, ...]]:
    words = _PLURALS.split()
    others: defaultdict[str, list[str]] = defaultdict(list)
    for one, other in zip(words[::2], words[1::2], strict=True):
        others[one].append(other)
        others[other].append(one)
    return {word: tuple(found) for word, found in others.items()}


_OTHER = _both_ways()


def irregular(key: str) -> Iterator[str]:
    """Keys with the last word in its other number: "wisdom teeth" and "wisdom tooth"; and "-ies" for "-y"."""
    before, space, last = key.rpartition(" ")
    for other in _OTHER.get(last, ()):
        yield f"{before}{space}{other}"
    if len(last) > 2 and last[-1] == "y" and last.isascii() and last[-2] not in "aeiou":
        yield f"{key[:-1]}ies"
