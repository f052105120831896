"""Taking up what an interrupted run left in its working folder, if it was the same run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from entlink.kb.writing import write_whole
from entlink.sources import Source

PLAN = "plan.json"
Stamp = tuple[str, int, int]


def stamps(sources: Sequence[Source]) -> tuple[Stamp, ...]:
    """Path, size and time of change of every source: other sources make another run."""
    return tuple((str(each.path.resolve()), each.size, each.path.stat().st_mtime_ns) for each in sources)


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
