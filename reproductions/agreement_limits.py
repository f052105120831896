"""Work in a process of its own that is given up when it takes too long or too much memory."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Generic, Self, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

SPAWN = multiprocessing.get_context("spawn")


class BoundedWorker(Generic[Task, Result]):
    """Calls a function in another process, a task at a time; the result of one that is given up is None."""

    def __init__(self, work: Callable[[Task], Result], seconds: float = 60, megabytes: int = 4096) -> None:
        self._work, self._seconds, self._megabytes = work, seconds, megabytes
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def __call__(self, task: Task) -> Result | None:
        connection = self._connection or self._start()
        connection.send(task)
        try:
            if connection.poll(self._seconds):
                result: Result | None = connection.recv()
                return result
        except EOFError:  # it has died, most likely for want of memory
            pass
        self._stop()
        return None

    def _start(self) -> Connection:
        self._connection, theirs = SPAWN.Pipe()
        self._process = SPAWN.Process(target=_serve, args=(theirs, self._work, self._megabytes), daemon=True)
        self._process.start()
        theirs.close()
        return self._connection

    def _stop(self) -> None:
        if self._process and self._connection:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._connection.close()
        self._process = self._connection = None


def _serve(connection: Connection, work: Callable[[Task], Result], megabytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    while True:
        try:
            connection.send(work(connection.recv()))
        except (MemoryError, RecursionError):
            connection.send(None)
        except EOFError:
            return
