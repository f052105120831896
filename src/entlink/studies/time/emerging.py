"""New entities in use: added to the knowledge base of the snapshot before, against all built and trained anew."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from entlink.datasets.temporal.rows import snapshot_folder
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.studies.systems import BI_ENCODER, bi_encoder_config
from entlink.studies.time.asked import pool_of
from entlink.studies.time.linkers import LinkerSystem
from entlink.studies.time.training import model_folder

if TYPE_CHECKING:
    from entlink.datasets.temporal import TemporalDataset
    from entlink.io.progress import Progress
    from entlink.studies.place import Place
    from entlink.studies.time.asked import Asked
    from entlink.studies.time.bases import Bases

_FOLDER = "emerging"


class Linked(msgspec.Struct, frozen=True):
    """Where the targets came, how many entities were added, and how long that took."""

    ranks: list[int]
    entities: int = 0
    seconds: float = 0.0


class Way(NamedTuple):
    """A linker as it was with the earlier snapshot, and as it is with the later one."""

    name: str
    earlier: LinkerSystem
    later: LinkerSystem
    trained: float = 0.0  # seconds that the later one was trained for


def trained_way(place: Place, earlier: str, later: str, depth: int, seconds: float) -> Way:
    """The bi-encoders of two snapshots, each as a linker that searches all entities."""
    before, now = (
        LinkerSystem(BI_ENCODER, bi_encoder_config(model_folder(place, date)), depth) for date in (earlier, later)
    )
    return Way(BI_ENCODER, before, now, seconds)


class Emergence:
    """Links the new entities of a snapshot in both ways."""

    def __init__(self, place: Place, data: TemporalDataset, bases: Bases, progress: Progress) -> None:
        self._place, self._data, self._bases, self._progress = place, data, bases, progress

    def added(self, way: Way, earlier: str, later: str, asked: Sequence[Asked]) -> Linked:
        """With the knowledge base of the earlier snapshot, after the entities that it lacks were added to a copy."""

        def make() -> Linked:
            self._index(way.earlier, earlier)
            with TemporaryDirectory(dir=self._place.folder) as folder:
                copy = Path(folder) / f"{snapshot_folder(earlier)}.kb"
                shutil.copytree(self._bases.path(earlier), copy)
                count, seconds = self._add(copy, later)
                ranks = way.earlier.ranks(copy, asked, self._progress, f"{way.name}: new entities added")
            return Linked(ranks, count, seconds)

        return self._kept(way.earlier, f"added-{snapshot_folder(earlier)}", later, make)

    def rebuilt(self, way: Way, later: str, asked: Sequence[Asked]) -> Linked:
        """With the knowledge base of the later snapshot."""

        def make() -> Linked:
            seconds = self._bases.seconds(later) + self._index(way.later, later) + way.trained
            kb = self._bases.path(later)
            return Linked(way.later.ranks(kb, asked, self._progress, f"{way.name}: all built anew"), seconds=seconds)

        return self._kept(way.later, "rebuilt", later, make)

    def _add(self, kb: Path, later: str) -> tuple[int, float]:
        with KnowledgeBase.open(kb) as opened:
            new = [one for one in pool_of(self._data, later) if opened.get(one.id) is None]
            start = perf_counter()
            opened.add(new)
            return len(new), perf_counter() - start

    def _index(self, system: LinkerSystem, date: str) -> float:
        return sum(self._bases.index_vectors(date, dual) for dual in system.encoders())

    def _kept(self, system: LinkerSystem, how: str, later: str, make: Callable[[], Linked]) -> Linked:
        name = f"{_FOLDER}/{system.key}/{how}-{snapshot_folder(later)}.json"
        return self._place.kept(name, Linked, make)
