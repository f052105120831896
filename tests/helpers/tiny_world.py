"""A world of sixty towns, rivers and rulers whose texts speak of each other, to adapt a linker to."""

from __future__ import annotations

from random import Random
from typing import Any

from knowledge_bases import article

_TOWNS = (
    "Alder Bay", "Birch Hill", "Cedar Falls", "Dune Gate", "Elm Cross", "Fern Valley", "Glen Harbour", "Hazel Point",
    "Iron Bridge", "Juniper Lake", "Kestrel Rock", "Linden Grove", "Maple Field", "North Haven", "Oak Ridge",
    "Pine Hollow", "Quarry Town", "Rowan Mill", "Sedge Marsh", "Thorn Castle",
)  # fmt: skip
_RIVERS = tuple(
    f"River {name}"
    for name in (
        "Arno", "Brill", "Corva", "Delva", "Esk", "Fenna", "Garo", "Hisp", "Ilma", "Jarra",
        "Kell", "Lorne", "Murra", "Nith", "Oder", "Parr", "Quay", "Rill", "Sark", "Tamar",
    )
)  # fmt: skip
_RULERS = tuple(
    f"{first} {last}"
    for first, last in zip(
        ("Anna", "Boris", "Clara", "David", "Edith", "Frida", "Georg", "Hilda", "Ivo", "Judith") * 2,
        ("Abel", "Brandt", "Corvin", "Drexel", "Ebner", "Falk", "Gruber", "Hartwig", "Imhof", "Jansen",
         "Kolb", "Lasker", "Morgen", "Nadel", "Ohm", "Pauli", "Quast", "Ritter", "Stein", "Tauber"),
        strict=True,
    )
)  # fmt: skip
LASTS = ("Abbey", "Beacon", "Chapel", "Dale", "Estate", "Forge", "Garden", "Harbour", "Inlet", "Jetty", "Keep",
         "Lagoon", "Meadow", "Narrows", "Orchard")  # fmt: skip
_SENTENCES = (
    "The people of {town} sailed along {river} when {ruler} ruled the land.",
    "A bridge over {river} was built by {ruler}, who was born in {town} in those days.",
    "In {town} the market is held near {river}, as {ruler} had ordered it long ago.",
    "Many songs tell how {ruler} came to {town} and saw {river} for the first time.",
)


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def rows(*, linked: bool = False, count: int = 60, paragraphs: int = 6, seed: int = 0) -> list[dict[str, Any]]:
    """Articles; `linked` writes names as links, some of them short."""
    chance = Random(seed)
    names = [name for group in zip(_TOWNS, _RIVERS, _RULERS, strict=True) for name in group][:count]
    made = []
    for name in names:
        word = name.split()[-1]
        texts = [f"{name} is one of many in the land, and this is the text that tells of it to all who read."]
        for _ in range(paragraphs):
            told = chance.choice(_SENTENCES)
            drawn = {"town": chance.choice(_TOWNS), "river": chance.choice(_RIVERS), "ruler": chance.choice(_RULERS)}
            if linked:
                drawn = {
                    kind: f"[[{_slug(one)}|{chance.choice((one, one.split()[-1]))}]]" for kind, one in drawn.items()
                }
            texts.append(f"{told.format(**drawn)} They say {word}ish things and the {word}ish ways are old.")
        made.append(article(_slug(name), name, *texts))
    return made
