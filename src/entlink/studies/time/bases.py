"""The entities of a snapshot as a knowledge base, and its indexes: made once."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import msgspec

from entlink.datasets.temporal.rows import snapshot_folder
from entlink.io.outputs import open_output
from entlink.studies.time.asked import pool_of

if TYPE_CHECKING:
    from entlink.datasets.temporal import TemporalDataset
    from entlink.interfaces import DualEncoder
    from entlink.io.progress import Progress
    from entlink.studies.place import Place

FOLDER = "kbs"


class Made(msgspec.Struct, frozen=True):
    """How long something took that is not made again."""

    seconds: float


class Bases:
    """The knowledge bases of a study. They know titles and texts, and no names from links: nor does a bi-encoder."""

    def __init__(self, place: Place, data: TemporalDataset, progress: Progress) -> None:
        self._place, self._data, self._progress = place, data, progress

    def path(self, date: str) -> Path:
        """The knowledge base of a snapshot, built now if it is not there."""
        self.seconds(date)
        return self._path(date)

    def seconds(self, date: str) -> float:
        """How long its build took, with its index of words."""
        return self._place.kept(f"{FOLDER}/{snapshot_folder(date)}.json", Made, lambda: self._built(date)).seconds

    def index_vectors(self, date: str, dual: DualEncoder) -> float:
        """Make the index that a search by an encoder needs; how long that took."""
        from entlink.kb.indexes.making import make_indexes

        def make() -> Made:
            start = perf_counter()
            make_indexes(self.path(date), vectors=[dual], progress=self._progress)
            return Made(perf_counter() - start)

        return self._place.kept(f"{FOLDER}/{snapshot_folder(date)}-{dual.entity_identity}.json", Made, make).seconds

    def _path(self, date: str) -> Path:
        return self._place.folder / FOLDER / f"{snapshot_folder(date)}.kb"

    def _built(self, date: str) -> Made:
        from entlink.kb.build.from_sources import BuildOptions, build
        from entlink.kb.indexes.making import make_indexes

        start, path = perf_counter(), self._path(date)
        rows = path.with_suffix(".jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        if not rows.exists():  # one that is there is whole: a build that was killed goes on with it
            with open_output(rows) as write:
                for entity in pool_of(self._data, date):
                    row = {"id": entity.id, "title": entity.title, "description": entity.description}
                    write(msgspec.json.encode(row) + b"\n")
        options = BuildOptions(format="jsonl", count_text=False, descriptions="full")
        build([rows], path, options, replace=path.exists(), progress=self._progress)
        make_indexes(path, words=True, progress=self._progress)
        rows.unlink()
        return Made(perf_counter() - start)
