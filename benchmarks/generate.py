"""A table of made-up entities of any size, for the benchmarks: pronounceable names, the same for the same seed.

python benchmarks/generate.py OUT.jsonl --entities 7000000 --aliases 20000000
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

import msgspec

_SYLLABLES = (
    "ka",
    "ri",
    "to",
    "ma",
    "ven",
    "do",
    "lu",
    "shi",
    "ne",
    "bra",
    "cor",
    "dan",
    "el",
    "fi",
    "gor",
    "hal",
    "is",
    "jen",
    "kor",
    "lan",
    "mir",
    "nor",
    "os",
    "pel",
    "qua",
    "ros",
    "sta",
    "tur",
)
_PLACES = (
    "River",
    "Lake",
    "Mount",
    "New",
    "North",
    "South",
    "East",
    "West",
    "Saint",
    "Port",
    "Fort",
    "Upper",
    "Lower",
    "Old",
    "Great",
)
_KINDS = (
    "film",
    "album",
    "novel",
    "village",
    "town",
    "species",
    "station",
    "school",
    "company",
    "bridge",
    "battle",
    "song",
    "ship",
)
_PATTERNS = ("{a} {b}", "{place} {a}", "{a}", "The {a} {b}", "{a} of {b}", "University of {a}", "{a} {kind}")


class Row(msgspec.Struct):
    """One entity of the table."""

    id: str
    title: str
    description: str
    aliases: list[str]
    types: list[str]


def words(rng: random.Random, count: int) -> list[str]:
    """Distinct pronounceable words."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(rng.choice(_SYLLABLES) for _ in range(rng.choice((2, 2, 3, 3, 4)))).capitalize()] = None
    return list(found)


def rows(entities: int, aliases: int, seed: int = 7) -> Iterator[Row]:
    """Rows with `aliases` names over all, titles and their stripped forms included, about."""
    rng = random.Random(seed)
    vocabulary = words(rng, 200_000)
    given = max(0.0, aliases / entities - 1.0)

    def pick() -> str:
        # Words of a real vocabulary are not equally frequent.
        return vocabulary[int(len(vocabulary) * rng.random() ** 2)]

    def name() -> str:
        pattern = rng.choice(_PATTERNS)
        return pattern.format(a=pick(), b=pick(), place=rng.choice(_PLACES), kind=rng.choice(_KINDS))

    for number in range(entities):
        kind = rng.choice(_KINDS)
        count = int(given) + (rng.random() < given - int(given))
        title = name()
        yield Row(f"G{number}", title, f"{title} is a {kind} near {pick()}.", [name() for _ in range(count)], [kind])


def write(path: Path, entities: int, aliases: int, seed: int = 7) -> None:
    """Write the table as JSON lines."""
    encoder = msgspec.json.Encoder()
    with path.open("wb") as file:
        for row in rows(entities, aliases, seed):
            file.write(encoder.encode(row) + b"\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--entities", type=int, default=200_000)
    parser.add_argument("--aliases", type=int, default=570_000)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    write(arguments.out, arguments.entities, arguments.aliases, arguments.seed)


if __name__ == "__main__":
    main()
