"""Taking up what an interrupted run left in its working folder, if it was the same run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from entlink.io.atomic import write_whole

PLAN = "plan.json"
Stamp = tuple[str, int, int]


class _Source(Protocol):
    """A file or folder that is read, and how many bytes that are."""

    @property
    def path(self) -> Path: ...
    @property
    def size(self) -> int: ...


def stamps(sources: Sequence[_Source]) -> tuple[Stamp, ...]:
    """Path, size and time of change of every source: other sources make another run."""
    return tuple(_stamp(each.path, each.size) for each in sources)


def file_stamps(paths: Sequence[Path]) -> tuple[Stamp, ...]:
    """The same of plain files."""
    return tuple(_stamp(path, path.stat().st_size) for path in paths)


def _stamp(path: Path, size: int) -> Stamp:
    return str(path.resolve()), size, path.stat().st_mtime_ns


def take_up(work: Path, plan: msgspec.Struct, prepare: Callable[[Path], None] | None = None) -> None:
    """Keep what an interrupted run of the same plan left; clear away that of another, and prepare the folder anew."""
    stamp, encoded = work / PLAN, msgspec.json.encode(plan)
    if not stamp.exists() or stamp.read_bytes() != encoded:
        clear(work)
        if prepare is not None:
            prepare(work)
        write_whole(stamp, encoded)  # last: a folder with a plan is prepared


def clear(work: Path) -> None:
    """Take away what an earlier run left, but for the lock that is held."""
    for leftover in work.iterdir():
        if leftover.name != "write.lock":
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
