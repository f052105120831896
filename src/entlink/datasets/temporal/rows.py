"""The rows of a temporal dataset: a mention with its target as of a date, and the entities of that date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeVar, get_args

import msgspec

from entlink.errors import InputError, SourceError

Subset = Literal["train", "validation", "test"]
Category = Literal["continual", "new"]
Overlap = Literal["HIGH_OVERLAP", "MULTIPLE_CATEGORIES", "AMBIGUOUS_SUBSTRING", "LOW_OVERLAP"]
SUBSETS: tuple[Subset, ...] = get_args(Subset)
CATEGORIES: tuple[Category, ...] = get_args(Category)
CARD, DATASHEET, FIGURES, POOL = "card.json", "DATASHEET.md", "figures", "entities.jsonl"
_MIDNIGHT = "T00:00:00Z"


class TemporalRow(msgspec.Struct, frozen=True):
    """A mention that a page as of a date links to a target: the attributes of TempEL's Table 2, in their order.

    Titles have `_` for spaces. `target_qid` is None where no table `page_props` was given, or where it has none.
    """

    subset: Subset
    target_page_id: int
    target_qid: str | None
    snapshot: str
    target: str
    target_len: int
    target_title: str
    category: Category
    mention: str
    context_left: str
    context_right: str
    anchor_len: int
    ed_men_title: float
    overlap_type: Overlap
    men_prior: float
    men_prior_rank: int
    avg_men_prior: float
    ent_prior: float
    nr_inlinks: int
    nr_dist_mens: int
    nr_mens_per_ent: int
    nr_mens_extracted: int
    anchor_creation_date: str
    anchor_revision_date: str
    target_creation_date: str
    target_revision_date: str


class PoolEntity(msgspec.Struct, frozen=True):
    """An entity that a wiki had as of a date: one of those that a mention of that date may mean."""

    target_page_id: int
    target_qid: str | None
    target_title: str
    target: str
    target_creation_date: str
    target_revision_date: str


_Line = TypeVar("_Line", TemporalRow, PoolEntity)


class TemporalDataset:
    """A folder that `entlink datasets build temporal` made; rows are streamed."""

    def __init__(self, folder: Path, dates: tuple[str, ...]) -> None:
        self.folder, self.dates = folder, dates

    def rows(self, date: str, subset: Subset) -> Iterator[TemporalRow]:
        """The rows of a subset as of one of `dates`."""
        return _lines(self._folder_of(date) / f"{subset}.jsonl", TemporalRow)

    def pool(self, date: str) -> Iterator[PoolEntity]:
        """All entities of the wiki as of one of `dates`."""
        return _lines(self._folder_of(date) / POOL, PoolEntity)

    def _folder_of(self, date: str) -> Path:
        if date not in self.dates:
            raise InputError(f"{self.folder}: it has no snapshot {date}. It has {', '.join(self.dates)}")
        return self.folder / snapshot_folder(date)


class _Card(msgspec.Struct):
    snapshots: list[str]


def read_temporal(folder: str | Path) -> TemporalDataset:
    """Open a temporal dataset; its dates are full stamps such as 2013-01-01T00:00:00Z, the earliest first."""
    card = Path(folder) / CARD
    try:
        dates = msgspec.json.decode(card.read_bytes(), type=_Card).snapshots
    except FileNotFoundError:
        raise InputError(
            f"{folder}: there is no {CARD} in it. Name a folder made by `entlink datasets build temporal`"
        ) from None
    except msgspec.MsgspecError as problem:
        raise SourceError(f"it is not the card of a temporal dataset ({problem})", str(card)) from None
    return TemporalDataset(Path(folder), tuple(dates))


def snapshot_folder(date: str) -> str:
    """The name of a snapshot's folder: the day alone at midnight, else the stamp without colons."""
    return date.removesuffix(_MIDNIGHT) if date.endswith(_MIDNIGHT) else date.replace(":", "")


def _lines(path: Path, kind: type[_Line]) -> Iterator[_Line]:
    decoder = msgspec.json.Decoder(kind)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield decoder.decode(line)
            except msgspec.MsgspecError as problem:
                raise SourceError(str(problem), str(path), f"line {number}", "Build the dataset again") from None
