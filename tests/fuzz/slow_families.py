"""Looks for wikitext whose reading takes longer than in proportion to its length: see README.md."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from heapq import nlargest
from pathlib import Path
from time import monotonic, process_time
from typing import NamedTuple

from wikitext_checks import SITE
from wikitext_pieces import PIECES, wikitext_of

from entlink.sources.mediawiki.limits import OverLimitError, time_limit
from entlink.sources.wikitext import parse

SHORT, LONG = 20_000, 200_000  # characters: suspicion is raised with the first, and confirmed with the second
SUSPECT = 1.5e-6  # seconds a character; usual wikitext takes a tenth of it
MOST_GROWTH = 3.0  # in time, for twice the length: 2 is linear, 4 quadratic
PATIENCE = 60.0

Shape = Callable[[str, str, int], str]
SHAPES: dict[str, Shape] = {
    "(ab)*": lambda a, b, size: (a + b) * (size // len(a + b) + 1),
    "a* b*": lambda a, b, size: a * (size // 2 // len(a) + 1) + b * (size // 2 // len(b) + 1),
    "a b*": lambda a, b, size: a + b * (size // len(b) + 1),
    "b* a": lambda a, b, size: b * (size // len(b) + 1) + a,
}


class Family(NamedTuple):
    """Inputs of any length that are made alike."""

    growth: float  # in time, for twice the length
    seconds: float  # a character
    shape: str
    first: str
    second: str

    def __str__(self) -> str:
        what = f"{self.shape} with a = {self.first!r:.80}, b = {self.second!r:.80}"
        return f"{self.seconds * 1e6:8.2f} µs a character, x{self.growth:.1f} for twice the length: {what}"


def seconds_for(text: str) -> float:
    """How long the reading of a text takes, up to our patience."""
    start = process_time()
    try:
        with time_limit(PATIENCE):
            parse(text, SITE)
    except OverLimitError:
        return PATIENCE
    return process_time() - start


def measured(shape: str, first: str, second: str) -> Family | None:
    """The family as it is at length, where its short form is slow enough to be worth it."""
    short = SHAPES[shape](first, second, SHORT)
    if seconds_for(short) < SUSPECT * len(short):
        return None
    half = SHAPES[shape](first, second, LONG // 2)
    whole = SHAPES[shape](first, second, LONG)
    before, after = (min(seconds_for(text), seconds_for(text)) for text in (half, whole))  # the machine may be busy
    return Family(after / max(before, 1e-3), after / len(whole), shape, first, second)


def pieces_of(folder: Path | None, pick: random.Random) -> str:
    """One to three pieces, or what the fuzzer found worth keeping."""
    kept = sorted(folder.iterdir()) if folder else []
    if kept and pick.random() < 0.5:
        return wikitext_of(pick.choice(kept).read_bytes()[:200]) or "a"
    return "".join(pick.choices(PIECES, k=pick.choice((1, 1, 2, 3))))


def search(seconds: float, seed: int, folder: Path | None) -> list[Family]:
    """The families found slow within a time, those that grow fastest first, then the slowest."""
    pick, end, found = random.Random(seed), monotonic() + seconds, []
    while monotonic() < end:
        first, second = pieces_of(folder, pick), pieces_of(folder, pick)
        found += [family for shape in SHAPES if (family := measured(shape, first, second))]
    growing = [family for family in found if family.growth > MOST_GROWTH]
    return nlargest(20, growing) + nlargest(10, found, key=lambda family: family.seconds)


def main() -> int:
    """Print the slowest families; 1 where one of them grows faster than its length."""
    seconds, seed, *folder = sys.argv[1:]
    found = search(float(seconds), int(seed), Path(folder[0]) if folder else None)
    sys.stdout.writelines(f"{family}\n" for family in found)
    return int(any(family.growth > MOST_GROWTH for family in found))


if __name__ == "__main__":
    sys.exit(main())
