"""The snapshots of a making: their dates, the time in which an entity is new in each, and what is there already."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from entlink.datasets.temporal.filters import Interval
from entlink.datasets.temporal.options import TemporalOptions
from entlink.datasets.temporal.rows import CATEGORIES, SUBSETS, TemporalDataset
from entlink.datasets.temporal.sampling import Quota
from entlink.datasets.temporal.subsets import Placed
from entlink.errors import InputError
from entlink.kb.names.index_rows import write_rows
from entlink.text.dates import moment

PLACED, PROFILE, TITLES = "placed.jsonl", "profile.jsonl", "continual.json"


def intervals(dates: Sequence[str], earlier: Sequence[str], first_interval: int) -> list[Interval]:
    """The time that ends at each date: from the date before it, be it of an earlier making, on."""
    known = sorted({*dates, *earlier})
    if len(known) == 1 and not first_interval:
        raise InputError(
            f"with one snapshot ({known[0]}) nobody knows since when an entity is new in it. "
            "Give more snapshots, or first_interval in seconds (--set first_interval=31536000)"
        )
    begin = _before(known, first_interval)
    return [Interval(known[place - 1] if (place := known.index(date)) else begin, date) for date in dates]


def _before(known: Sequence[str], first_interval: int) -> str:
    """When the first interval begins: it is as long as the second, or as long as is wanted."""
    first = moment(known[0])
    length = timedelta(seconds=first_interval) if first_interval else moment(known[1]) - first
    floor = datetime(1, 1, 1, tzinfo=UTC)
    return (first - length if first - floor > length else floor).strftime("%Y-%m-%dT%H:%M:%SZ").zfill(20)


class Earlier(msgspec.Struct, frozen=True):
    """What an existing dataset says to snapshots that are added to it: files that `note_earlier` wrote."""

    dates: tuple[str, ...]
    folder: Path
    continual: dict[int, str]
    is_equal: bool

    @property
    def placed(self) -> Path:
        return self.folder / PLACED

    @property
    def profile(self) -> Path | None:
        return self.folder / PROFILE if self.is_equal else None


def note_earlier(dataset: TemporalDataset, first: str, path: Path) -> None:
    """Write where an existing dataset has each mention, how many there are of each entity, and who is continual.

    How many is told by the snapshot `first`: one that was added later may have fewer.
    """
    path.mkdir(exist_ok=True)
    placed: dict[tuple[int, str], int] = {}
    continual: dict[int, str] = {}
    counts: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for date in dataset.dates:
        for number, subset in enumerate(SUBSETS):
            for row in dataset.rows(date, subset):
                placed[row.target_page_id, row.mention] = number
                category = CATEGORIES.index(row.category)
                if row.category == "continual":
                    continual[row.target_page_id] = row.target_title
                if date == first:
                    counts[category, number][row.target_page_id] += 1
    write_rows((Placed(entity, mention, subset) for (entity, mention), subset in placed.items()), path / PLACED)
    write_rows(
        (
            Quota(category, subset, place, count)
            for (category, subset), of_entities in counts.items()
            for place, count in enumerate(sorted(of_entities.values(), reverse=True), 1)
        ),
        path / PROFILE,
    )
    (path / TITLES).write_bytes(msgspec.json.encode(continual))


def read_earlier(dataset: TemporalDataset, options: TemporalOptions, folder: Path) -> Earlier:
    continual = msgspec.json.decode((folder / TITLES).read_bytes(), type=dict[int, str])
    return Earlier(dataset.dates, folder, continual, options.equal_snapshots)
