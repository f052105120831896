"""What engines have in common when they map a function over tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

from entlink.engine.protocol import Task
from entlink.io.progress import Progress

Pending = tuple[Path, tuple[Any, ...]]


class Step:
    """The tasks of a mapped step: those whose outputs are still to be made, and how far it is."""

    def __init__(
        self, tasks: Iterable[Task], folder: Path, stage: str, progress: Progress, done: Callable[[Path], None]
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.outputs: list[Path] = []
        self.total = len(tasks) if isinstance(tasks, Sized) else 0
        self._tasks, self._folder, self._stage, self._progress, self._done = tasks, folder, stage, progress, done
        self._finished = 0

    def is_there(self, output: Path) -> None:
        """Note that an output is complete."""
        self._finished += 1
        self._done(output)
        if self._stage:
            self._progress(self._stage, self._finished, self.total)

    def pending(self) -> Iterator[Pending]:
        """Output and arguments of each task that is not done."""
        for task in self._tasks:
            self.outputs.append(self._folder / task.output)
            if self.outputs[-1].exists():
                self.is_there(self.outputs[-1])
            else:
                yield self.outputs[-1], task.arguments


def keep_busy(
    submit: Callable[[Path, tuple[Any, ...]], Future[Path]],
    pending: Iterable[Pending],
    most: int,
    done: Callable[[Path], None],
) -> None:
    """Have at most so many tasks under way, until all are done."""
    running: set[Future[Path]] = set()
    for path, arguments in pending:
        running.add(submit(path, arguments))
        if len(running) >= most:
            running = _reap(running, done)
    while running:
        running = _reap(running, done)


def _reap(running: set[Future[Path]], done: Callable[[Path], None]) -> set[Future[Path]]:
    finished, rest = wait(running, return_when=FIRST_COMPLETED)
    for future in finished:
        done(future.result())
    return rest
