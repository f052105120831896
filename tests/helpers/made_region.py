"""A made-up region for tests: people and towns whose texts speak of one another, and of people nobody knows."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

from entlink.kb.build.from_sources import BuildOptions, build

FIRST = ("Alba", "Boris", "Carla", "Denis", "Elsa", "Fabio", "Greta", "Hanno", "Irma", "Jonas")
LAST = ("Moravec", "Tindale", "Okonjo", "Varga", "Lindqvist", "Brandauer")
TOWNS = tuple(f"{start}{end}" for start, end in product(("Karl", "Nieder", "Oster", "Win", "Hol"), ("ford", "berg")))
STRANGERS = ("Wanda Pirosch", "Ulric Dombey", "Sefton Quayle", "Petra Zumthor", "Odile Garneau", "Milo Farrow")
CHINESE = ("青山市", "白水县", "红河区")


def entities() -> list[dict[str, object]]:
    people = [f"{first} {last}" for first, last in product(FIRST, LAST)]
    rows: list[dict[str, object]] = []
    for number, name in enumerate(people):
        town, friend = TOWNS[number % len(TOWNS)], people[(number * 7 + 3) % len(people)]
        stranger = STRANGERS[number % len(STRANGERS)]
        opening = (
            f"{name} was a painter who lived in {town} for many years and worked there with {friend} every day. " * 4
        )
        later = (
            f"In later years the old friends were seen with {friend}, and with {stranger}, in the streets of {town}. "
            f"Nobody but {stranger} knew that {name.split()[1]} had left for {TOWNS[(number + 3) % len(TOWNS)]}."
        )
        rows.append({"id": f"p{number}", "title": name, "description": f"{opening}\n\n{later}", "types": ["person"]})
    for number, town in enumerate(TOWNS):
        told = (
            f"The town by the river was the home of {people[number]} and, before the war, of {STRANGERS[number % 6]}."
        )
        rows.append({"id": f"t{number}", "title": town, "description": f"{told * 4}\n\n{told}", "types": ["town"]})
    for number, town in enumerate(CHINESE):
        rows.append(
            {
                "id": f"z{number}",
                "title": town,
                "description": f"{town}在大河边，从前叫做石头城，人口很多。",
                "language": "zh",
            }
        )
    return rows


def region_kb(folder: Path, name: str = "region", *, texts: bool = True, most: int | None = None) -> Path:
    """The knowledge base; without `texts`, names alone."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = entities()[:most]
    if not texts:
        rows = [{**row, "description": ""} for row in rows]
    table, target = folder / f"{name}.jsonl", folder / f"{name}.kb"
    table.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf8")
    build([table], target, BuildOptions(processes=1))
    return target
