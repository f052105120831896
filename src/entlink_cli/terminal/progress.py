"""A progress bar on stderr, when that is a terminal and the work takes long enough to wonder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# What is being done, done so far, total. What comes after a comma may change meanwhile: "training, loss 0.52".
Report = Callable[[str, float, float], None]


@contextmanager
def progress(*, quiet: bool = False, patience: float = 0.0) -> Iterator[Report]:
    """A function to report progress to; the bar shows after `patience` seconds and goes at the end."""
    if quiet or not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    bar = _Bar(patience)
    try:
        yield bar.report
    finally:
        bar.close()


class _Bar:
    """One line of progress; each stage of the work takes the place of the one before."""

    def __init__(self, patience: float) -> None:
        self._shown_from = monotonic() + patience
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._work = ""

    def report(self, stage: str, done: float, total: float) -> None:
        if self._bar is None:
            if monotonic() < self._shown_from:
                return
            self._bar = _make_bar()
            self._bar.start()
        work = stage.partition(",")[0]
        if work != self._work or self._task is None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._work, self._task = work, self._bar.add_task(stage, total=total or None)
        self._bar.update(self._task, description=stage, completed=done, total=total or None)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _make_bar() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
