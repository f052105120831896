"""Building on one machine: a process pool over chunks, files to files, and DuckDB for the SQL steps."""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any, NamedTuple

import duckdb

from entlink.errors import EntlinkError, InputError

DEFAULT_MEMORY = "2GB"
_FETCH = 20_000
_PATTERN = re.compile(r"[*?\[]")


class Task(NamedTuple):
    """One unit of a mapped step: its output's file name and the function's arguments."""

    output: str
    arguments: tuple[Any, ...]


def default_processes() -> int:
    return max(1, min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))


def map_to_files(
    function: Callable[..., None],
    tasks: Iterable[Task],
    folder: Path,
    *,
    processes: int = 1,
    done: Callable[[Path], None] = lambda output: None,
) -> list[Path]:
    """Run `function(*arguments, path)` for every task; an output that exists is not made again.

    A function writes its whole output, a file or a folder, to the path it is given; it gets its final name
    only when the function returns, so what is there is complete, whenever the process was killed. `done` is
    told of each output as soon as it is there, in no certain order.
    """
    folder.mkdir(parents=True, exist_ok=True)
    outputs: list[Path] = []

    def pending() -> Iterator[tuple[Path, tuple[Any, ...]]]:
        for task in tasks:
            outputs.append(folder / task.output)
            if outputs[-1].exists():
                done(outputs[-1])
            else:
                yield outputs[-1], task.arguments

    if processes <= 1:
        for path, arguments in pending():
            done(_run(function, arguments, path))
    else:
        _run_pool(function, pending(), processes, done)
    return outputs


def _run_pool(
    function: Callable[..., None],
    pending: Iterator[tuple[Path, tuple[Any, ...]]],
    processes: int,
    done: Callable[[Path], None],
) -> None:
    """Keep at most two tasks a process under way, so that a long stream of chunks is never all in memory."""
    context = get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_end_with_parent) as pool:
        running: set[Future[Path]] = set()
        try:
            for path, arguments in pending:
                with _launching():
                    running.add(pool.submit(_run, function, arguments, path))
                if len(running) >= 2 * processes:
                    running = _reap(running, done)
            while running:
                running = _reap(running, done)
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


def _reap(running: set[Future[Path]], done: Callable[[Path], None]) -> set[Future[Path]]:
    finished, rest = wait(running, return_when=FIRST_COMPLETED)
    for future in finished:
        done(future.result())
    return rest


def _run(function: Callable[..., None], arguments: tuple[Any, ...], path: Path) -> Path:
    partial = path.with_name(f"{path.name}.partial")
    try:
        function(*arguments, partial)
    except OSError as problem:
        if problem.filename is None:  # a write to a full disk does not say where
            problem.filename = str(partial)
        raise
    return partial.replace(path)


@contextmanager
def sql(
    folder: Path | None = None, *, memory: str = DEFAULT_MEMORY, threads: int | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB connection that keeps to `memory` and spills into `folder`, or where temporary files go."""
    spill = folder / "spill" if folder else Path(tempfile.gettempdir()) / f"entlink-spill-{os.getpid()}"
    connection = duckdb.connect()
    try:
        _limit(connection, memory)
        connection.execute("SET temp_directory = ?", [str(spill)])
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")  # it would print
        if threads:
            connection.execute(f"SET threads = {threads}")
        yield connection
    except duckdb.OutOfMemoryException as problem:
        raise EntlinkError(
            f"out of memory at the limit of {memory} ({problem}). Give more with --memory"
        ) from problem
    except duckdb.Error as problem:
        raise EntlinkError(f"{folder}: a step on the counts failed: {problem}") from problem
    finally:
        connection.close()


def _limit(connection: duckdb.DuckDBPyConnection, memory: str) -> None:
    try:
        connection.execute("SET memory_limit = ?", [memory])
    except duckdb.Error as problem:
        raise InputError(f"{memory!r} is not an amount of memory such as 512MB or 2GB") from problem


def share_of(memory: str, processes: int) -> str:
    """What each of several processes may have of a limit such as `2GB`."""
    match = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]+)\s*", memory)
    if match is None or processes < 2:
        return memory
    return f"{float(match[1]) / processes:.3f}{match[2]}"


def literal(path: Path | str) -> str:
    """A path as an SQL string: table functions and COPY take no parameters."""
    return "'" + str(path).replace("'", "''") + "'"


def parquet_rows(*paths: Path) -> str:
    """The rows of Parquet files, for a FROM."""
    return f"read_parquet({_files(paths)}, hive_partitioning = false)"


def json_rows(paths: Iterable[Path], columns: str) -> str:
    """A query for the rows of files of JSON lines, of which none need be there; `columns` as `{name: 'TYPE', …}`."""
    files = [path for path in paths if path.exists() and path.stat().st_size]
    if files:
        options = f"columns = {columns}, format = 'newline_delimited', hive_partitioning = false"
        return f"SELECT * FROM read_json({_files(files)}, {options})"
    fields = (field.replace("'", "").split(": ") for field in columns.strip("{}").split(", "))
    return f"SELECT {', '.join(f'NULL::{type} AS {name}' for name, type in fields)} WHERE false"


def _files(paths: Iterable[Path]) -> str:
    """Files as an SQL list, what would be taken for a pattern in their names spelt out."""
    plain = (literal(_PATTERN.sub(r"[\g<0>]", str(path))) for path in paths)
    return f"[{', '.join(plain)}]"


def copy_to_parquet(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """Write the rows of a query; the file appears when it is complete."""
    partial = path.with_name(f"{path.name}.partial")
    connection.execute(f"COPY ({query}) TO {literal(partial)} (FORMAT parquet, COMPRESSION zstd)")
    partial.replace(path)


def fetched(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    """The rows of the query that was executed last, some thousands at a time."""
    while rows := connection.fetchmany(_FETCH):
        yield from rows


def number(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    """The single number that a query gives."""
    found = connection.execute(query).fetchone()
    assert found is not None
    return int(found[0])
