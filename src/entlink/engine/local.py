"""Building on one machine: a process pool over tasks, files to files, and DuckDB for the SQL steps."""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import TYPE_CHECKING, Any

from entlink.engine._mapping import Pending, Step, keep_busy
from entlink.engine.protocol import DEFAULT_MEMORY, JsonFiles, ParquetFiles, SqlSession, Task, default_processes
from entlink.errors import EntlinkError, InputError
from entlink.io.progress import Progress, ignore_progress

if TYPE_CHECKING:
    import duckdb

_FETCH = 20_000
_PATTERN = re.compile(r"[*?\[]")


class LocalEngine:
    """An `Engine` of one machine."""

    def __init__(
        self, *, processes: int | None = None, memory: str = DEFAULT_MEMORY, progress: Progress = ignore_progress
    ) -> None:
        self.processes = processes or default_processes()
        self.memory, self.progress = memory, progress

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
        """See `Engine.map_to_files`; everything runs here."""
        step = Step(tasks, folder, stage, self.progress, done)
        processes = min(self.processes, at_most or self.processes, step.total or self.processes)
        if processes <= 1:
            for path, arguments in step.pending():
                step.is_there(_run(function, arguments, path))
        else:
            _run_pool(function, step.pending(), processes, step.is_there)
        return step.outputs

    @contextmanager
    def sql(self, work: Path | None = None, *, ordered: bool = False) -> Iterator[SqlSession]:
        """A session of DuckDB, which spills into `work`, or where temporary files go.

        If it is `ordered`, rows of files come in the order of the files, which takes more memory.
        """
        import duckdb

        spill = work / "spill" if work else Path(tempfile.gettempdir()) / f"entlink-spill-{os.getpid()}"
        spill.parent.mkdir(parents=True, exist_ok=True)  # DuckDB makes the last folder of a path only
        connection = duckdb.connect()
        try:
            _limit(connection, self.memory)
            connection.execute("SET temp_directory = ?", [str(spill)])
            connection.execute(f"SET preserve_insertion_order = {ordered}")
            connection.execute("SET enable_progress_bar = false")  # it would print
            yield _DuckSession(connection)
        except duckdb.OutOfMemoryException as problem:
            raise EntlinkError(
                f"out of memory at the limit of {self.memory} ({problem}). Give more with --memory"
            ) from problem
        except duckdb.Error as problem:
            raise EntlinkError(f"{work or spill}: a step on the counts failed: {problem}") from problem
        finally:
            connection.close()

    def share(self, tasks: int) -> LocalEngine:
        """See `Engine.share`: as many tasks run at once as there are processes."""
        return LocalEngine(processes=1, memory=_share_of(self.memory, min(tasks, self.processes)))


def _limit(connection: duckdb.DuckDBPyConnection, memory: str) -> None:
    import duckdb

    try:
        connection.execute("SET memory_limit = ?", [memory])
    except duckdb.Error as problem:
        raise InputError(f"{memory!r} is not an amount of memory such as 512MB or 2GB") from problem


def _share_of(memory: str, processes: int) -> str:
    """What each of several processes may have of a limit such as `2GB`."""
    match = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]+)\s*", memory)
    if match is None or processes < 2:
        return memory
    return f"{float(match[1]) / processes:.3f}{match[2]}"


class _DuckSession:
    """A `SqlSession` on a connection of DuckDB."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def view(self, name: str, files: ParquetFiles | JsonFiles, *, cached: bool = False) -> None:
        kind = "TABLE" if cached else "VIEW"
        self._connection.execute(f"CREATE OR REPLACE TEMP {kind} {name} AS {_read(files)}")

    def table(self, name: str, query: str) -> None:
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query}")

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        self._connection.execute(query)
        while rows := self._connection.fetchmany(_FETCH):
            yield from rows

    def number(self, query: str) -> int:
        found = self._connection.execute(query).fetchone()
        assert found is not None
        return int(found[0])

    def write(self, query: str, path: Path) -> None:
        partial = path.with_name(f"{path.name}.partial")
        self._connection.execute(f"COPY ({query}) TO {_literal(partial)} (FORMAT parquet, COMPRESSION zstd)")
        partial.replace(path)

    def partition(self, query: str, column: str, folder: Path) -> None:
        options = f"FORMAT parquet, PARTITION_BY ({column}), OVERWRITE_OR_IGNORE"
        self._connection.execute(f"COPY ({query}) TO {_literal(folder)} ({options})")


def _read(files: ParquetFiles | JsonFiles) -> str:
    """A query for the rows of files."""
    if isinstance(files, ParquetFiles):
        return f"SELECT * FROM read_parquet({_list(files.paths)}, hive_partitioning = false)"
    paths = [path for path in files.paths if path.exists() and path.stat().st_size]
    if not paths:
        nothing = (f"CAST(NULL AS {type}) AS {name}" for name, type in files.columns.items())
        return f"SELECT {', '.join(nothing)} WHERE false"
    columns = ", ".join(f"{name}: '{type}'" for name, type in files.columns.items())
    options = f"columns = {{{columns}}}, format = 'newline_delimited', hive_partitioning = false"
    return f"SELECT * FROM read_json({_list(paths)}, {options})"


def _list(paths: Sequence[Path]) -> str:
    """Files as an SQL list, what would be taken for a pattern in their names spelt out."""
    plain = (_literal(_PATTERN.sub(r"[\g<0>]", str(path))) for path in paths)
    return f"[{', '.join(plain)}]"


def _literal(path: Path | str) -> str:
    """A path as an SQL string: table functions and COPY take no parameters."""
    return "'" + str(path).replace("'", "''") + "'"


def _run_pool(
    function: Callable[..., None],
    pending: Iterator[Pending],
    processes: int,
    done: Callable[[Path], None],
) -> None:
    """Keep at most two tasks a process under way, so that a long stream of chunks is never all in memory."""
    context = get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_end_with_parent) as pool:

        def submit(path: Path, arguments: tuple[Any, ...]) -> Future[Path]:
            with _launching():
                return pool.submit(_run, function, arguments, path)

        try:
            keep_busy(submit, pending, 2 * processes, done)
        except BaseException as problem:
            pool.shutdown(wait=False, cancel_futures=True)
            _end_workers(pool)
            if isinstance(problem, BrokenProcessPool):
                raise EntlinkError(
                    "a process of the pool was ended from outside, most likely for want of memory. "
                    "Use fewer with --processes, or less with --memory"
                ) from problem
            raise


def _end_workers(pool: ProcessPoolExecutor) -> None:
    """Whoever presses Ctrl-C does not want to wait for what the workers have begun, of which nothing will be kept."""
    for worker in list((getattr(pool, "_processes", None) or {}).values()):  # it has no other name for them
        worker.terminate()


@contextmanager
def _launching() -> Iterator[None]:
    """What a process that is started now must not inherit.

    It would import the caller's script again, and build anew where that has no main guard; the functions it runs
    are ours and never in the script, so it can do without. And Ctrl-C goes to the whole group: it stays blocked in
    the workers, while here it is only put off.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _end_with_parent() -> None:
    """A worker of a killed build must not go on writing files beside the build that takes it up again."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()


def _run(function: Callable[..., None], arguments: tuple[Any, ...], path: Path) -> Path:
    partial = path.with_name(f"{path.name}.partial")
    try:
        function(*arguments, partial)
    except OSError as problem:
        if problem.filename is None:  # a write to a full disk does not say where
            problem.filename = str(partial)
        raise
    return partial.replace(path)
