"""A tiny temporal dataset whose words a tiny BERT knows, written by hand without its builder."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tiny_training import FILLERS, NAMES, SENSES

DATES = ("2020-01-01", "2021-01-01", "2022-01-01")
NEW = {"2020-01-01": "lead", "2021-01-01": "cast", "2022-01-01": "deck"}  # a name that comes up before each date
SPECIAL = {"deck": "COVID-19 in {}", "cast": "{} Cup 2020"}
PAGES = {(name, sense): number for number, (name, sense) in enumerate(((n, s) for n in NAMES for s in SENSES), 1)}


def entity(name: str, sense: str, date: str) -> dict[str, Any]:
    title = SPECIAL.get(name, "{}").format(name.capitalize()).replace(" ", "_")
    return {
        "target_page_id": PAGES[name, sense],
        "target_qid": None,
        "target_title": title if sense == "water" else f"{title}_({sense})",
        "target": f"{name} of the {sense} . {' '.join(SENSES[sense])} and {name} .",
        "target_creation_date": f"{int(date[:4]) - 1}-03-01T00:00:00Z",
        "target_revision_date": f"{int(date[:4]) - 1}-12-01T00:00:00Z",
    }


def row(name: str, sense: str, date: str, subset: str, chance: random.Random) -> dict[str, Any]:
    around = [*chance.sample(SENSES[sense], 2), *chance.choices(FILLERS, k=4)]
    chance.shuffle(around)
    place = chance.randrange(len(around) + 1)
    of_target = entity(name, sense, date)
    return {
        "subset": subset,
        **{key: of_target[key] for key in ("target_page_id", "target_qid")},
        "snapshot": f"{date}T00:00:00Z",
        "target": of_target["target"],
        "target_len": 9,
        "target_title": of_target["target_title"],
        "category": "new" if name == NEW[date] else "continual",
        "mention": name,
        "context_left": " ".join(around[:place]),
        "context_right": " ".join(around[place:]),
        "anchor_len": 7,
        "ed_men_title": 0.5,
        "overlap_type": "LOW_OVERLAP",
        "men_prior": 0.5,
        "men_prior_rank": 2,
        "avg_men_prior": 0.5,
        "ent_prior": 0.1,
        "nr_inlinks": 10,
        "nr_dist_mens": 3,
        "nr_mens_per_ent": 2,
        "nr_mens_extracted": 2,
        "anchor_creation_date": "2010-01-01T00:00:00Z",
        "anchor_revision_date": "2011-01-01T00:00:00Z",
        **{key: of_target[key] for key in ("target_creation_date", "target_revision_date")},
    }


def names_of(date: str) -> list[str]:
    """The names that there are on a date: the new ones of later dates are not."""
    later = {NEW[other] for other in DATES if other > date}
    return [name for name in NAMES if name not in later]


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf8")


def write_dataset(
    folder: Path, *, dates: Sequence[str] = DATES, train: int = 48, test: int = 24, new: bool = True
) -> Path:
    """The dataset; without `new` no mention means a new entity."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "card.json").write_text(json.dumps({"snapshots": [f"{date}T00:00:00Z" for date in dates]}))
    for date in dates:
        chance = random.Random(date)
        own, names = folder / date, names_of(date)
        own.mkdir(exist_ok=True)
        asked = [name for name in names if new or name != NEW[date]]
        write_lines(own / "entities.jsonl", [entity(name, sense, date) for name in names for sense in SENSES])
        for subset, count in (("train", train), ("validation", test // 2), ("test", test)):
            pairs = [(asked[number % len(asked)], chance.choice(list(SENSES))) for number in range(count)]
            write_lines(own / f"{subset}.jsonl", [row(*pair, date, subset, chance) for pair in pairs])
    return folder
