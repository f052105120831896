"""What a temporal dataset was made from and what is in it: the card that is beside it."""

from __future__ import annotations

from typing import Any

import msgspec

from entlink.datasets.temporal.filters import Step
from entlink.datasets.temporal.sampling import Curve


class SourceFile(msgspec.Struct):
    """A file or folder that was read."""

    name: str
    bytes: int
    sha256: str


class ReadAs(msgspec.Struct, frozen=True):
    """What all histories of a dataset have in common: their wiki, and how it was read; `rules` is a checksum."""

    wiki: str
    namespaces: tuple[str, ...]
    rules: str
    language: str | None


class SnapshotCard(msgspec.Struct):
    """What is in the folder of a snapshot; `links` are all of the wiki, `resolved` those that lead to an entity.

    `rows` and `entities` are counted by category and subset; `files` has the checksum of each file.
    """

    date: str
    since: str
    pool: int
    links: int
    resolved: int
    rows: dict[str, dict[str, int]]
    entities: dict[str, int]
    files: dict[str, str]


class Missing(msgspec.Struct):
    """A continual entity of a dataset that a snapshot added later does not have."""

    target_page_id: int
    target_title: str
    snapshot: str
    reason: str


class Addition(msgspec.Struct):
    """Snapshots that were added at once: what was run, what each filter did to them, and what they lack.

    `fewer` has the rows that are there and those that were wanted, by snapshot, category and subset.
    """

    built: str
    command: str
    sources: list[SourceFile]
    snapshots: list[str]
    filters: list[Step]
    before: list[Curve]
    after: list[Curve]
    missing: list[Missing] = []
    fewer: dict[str, list[int]] = {}
    skipped: int = 0
    problems: list[str] = []


class TemporalReport(msgspec.Struct):
    """The record a temporal dataset leaves beside itself; `additions` are its first making and what came later.

    Snapshots in `filters` and curves are numbered as in the `snapshots` of their addition.
    """

    entlink: str
    snapshots: list[str]
    options: dict[str, Any]
    contents: list[SnapshotCard]
    additions: list[Addition]
    read_as: ReadAs | None = None

    @property
    def first(self) -> SnapshotCard:
        """A snapshot that the dataset was first built with: what is added is to have as many rows as this."""
        date = self.additions[0].snapshots[0]
        return next(one for one in self.contents if one.date == date)

    @property
    def rows(self) -> int:
        """How many rows there are in all snapshots."""
        return sum(sum(of_subsets.values()) for one in self.contents for of_subsets in one.rows.values())
