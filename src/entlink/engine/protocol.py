"""What a build needs of an engine: a function over many tasks, files to files, and SQL steps over files.

The SQL is in the subset that DuckDB and Spark share. What they do in unlike ways has a method here: how a file is
read, how rows are kept under a name, and how they are written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from entlink.io.progress import Progress

DEFAULT_MEMORY = "2GB"
Columns = Mapping[str, Literal["SMALLINT", "BIGINT", "STRING"]]


class Task(NamedTuple):
    """One unit of a mapped step: its output's file name and the function's arguments."""

    output: str
    arguments: tuple[Any, ...]


class ParquetFiles(NamedTuple):
    """The rows of Parquet files, all of which must be there."""

    paths: Sequence[Path]


class JsonFiles(NamedTuple):
    """The rows of files of JSON lines, of which none need be there."""

    paths: Sequence[Path]
    columns: Columns


def default_processes() -> int:
    return max(1, min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))


class SqlSession(Protocol):
    """Named rows, and queries over them; the names are gone when the session ends."""

    def view(self, name: str, files: ParquetFiles | JsonFiles, *, cached: bool = False) -> None:
        """Give the rows of files a name; `cached` where several queries read them."""

    def table(self, name: str, query: str) -> None:
        """Keep the rows of a query under a name, in place of what had it."""

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, streamed: take them all before the next query."""

    def number(self, query: str) -> int:
        """The single number that a query gives."""

    def write(self, query: str, path: Path) -> None:
        """Write the rows of a query as a Parquet file, which appears when it is complete."""

    def partition(self, query: str, column: str, folder: Path) -> None:
        """Write the rows of a query as Parquet files, one folder `column=value` for each value of a column."""


class Engine(Protocol):
    """Runs the steps of a build with so many processes and so much memory, and says how far they are."""

    @property
    def processes(self) -> int: ...
    @property
    def memory(self) -> str: ...
    @property
    def progress(self) -> Progress: ...

    def map_to_files(
        self,
        function: Callable[..., None],
        tasks: Iterable[Task],
        folder: Path,
        *,
        stage: str = "",
        at_most: int | None = None,
        here: bool = False,
        done: Callable[[Path], None] = lambda output: None,
    ) -> list[Path]:
        """Run `function(*arguments, path)` for every task; an output that exists is not made again.

        A function writes its whole output, a file or a folder, to the path it is given; it gets its final name
        only when the function returns, so what is there is complete, whenever the process was killed. `done` is
        given each output as soon as it is there, in no certain order; progress on a `stage` is reported. `at_most`
        is how many processes the work is worth. With `here` the tasks run on this machine only: they read the store,
        which SQLite does not share between machines, or put together what is made on one.
        """

    def sql(self, work: Path | None = None) -> AbstractContextManager[SqlSession]:
        """A session that keeps to the memory and may put temporary files into the folder `work`."""

    def share(self, tasks: int) -> Engine:
        """An engine for each of so many tasks, within its part of the memory; it can be an argument of a task."""
