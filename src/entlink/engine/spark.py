"""Building on Apache Spark: tasks on the executors, files to files, and Spark SQL for the SQL steps.

Sources and work folders are paths that the driver and all workers see under the same name: a disk of one machine,
NFS, or whatever a cluster mounts. What must be made on one machine, such as SQLite and tries, the driver makes.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from entlink.engine._mapping import Step, keep_busy
from entlink.engine.local import LocalEngine
from entlink.engine.protocol import (
    DEFAULT_MEMORY,
    Engine,
    JsonFiles,
    ParquetFiles,
    SqlSession,
    Task,
    default_processes,
)
from entlink.engine.spark_session import check_workers, is_local, start, telling
from entlink.errors import EntlinkError
from entlink.io.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

_MOST_AT_ONCE = 1_000  # each task under way has a thread here
_PATTERN = re.compile(r"[{}\[\]*?\\]")
_LEFTOVER = re.compile(r".+\.[0-9a-f]{32}\.partial")


class SparkEngine:
    """An `Engine` on Apache Spark: on a session that is given, or else on one that is started when it is needed.

    `memory` is the driver's, which a local master shares with its tasks; `conf` are settings of Spark for a session
    that is started here.

        with SparkEngine(master="spark://host:7077") as engine:
            entlink.build("/shared/enwiki.xml.bz2", "/shared/wiki.kb", engine=engine)
    """

    def __init__(
        self,
        session: SparkSession | None = None,
        *,
        master: str | None = None,
        processes: int | None = None,
        memory: str = DEFAULT_MEMORY,
        conf: Mapping[str, str] | None = None,
        progress: Progress = ignore_progress,
    ) -> None:
        self.memory, self.progress = memory, progress
        self._given, self._master, self._conf = session, master, dict(conf or {})
        self._processes = processes
        self._checked: set[Path] = set()

    @cached_property
    def session(self) -> SparkSession:
        """The session that the work runs in."""
        if self._given is not None:
            return self._given
        self.progress("starting Spark", 0, 1)
        return start(self._master, self._processes, self.memory, self._conf)

    @property
    def processes(self) -> int:
        """How many tasks run at once."""
        return int(self.session.sparkContext.defaultParallelism)

    def close(self) -> None:
        """End the session, if it was started here."""
        if self._given is None and "session" in self.__dict__:
            self.session.stop()

    def __enter__(self) -> SparkEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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
        """See `Engine.map_to_files`. Each task is a job of its own: it is done again where its worker is lost."""
        if here:
            return self._here.map_to_files(function, tasks, folder, stage=stage, at_most=at_most, done=done)
        step = Step(tasks, folder, stage, self.progress, done)
        _clear(folder)
        self._check(folder)
        context, tag, cwd = self.session.sparkContext, f"entlink-{uuid4().hex}", Path.cwd()
        tries = 1 if is_local(context) else int(context.getConf().get("spark.task.maxFailures", "4") or 4)

        def run(path: Path, payload: bytes) -> Path:
            context.addJobTag(tag)
            with telling():
                [outcome] = context.parallelize([payload], 1).map(_run).collect()
            problem = pickle.loads(outcome)
            if problem is not None:
                raise problem
            return path

        def submit(path: Path, arguments: tuple[Any, ...]) -> Future[Path]:
            return pool.submit(run, path, pickle.dumps((function, arguments, path, cwd, tries)))

        most = min(2 * self.processes, at_most or _MOST_AT_ONCE, _MOST_AT_ONCE)
        with ThreadPoolExecutor(most) as pool:
            try:
                keep_busy(submit, step.pending(), most, step.is_there)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                with suppress(Exception):  # the context may be what failed
                    context.cancelJobsWithTag(tag)
                raise
        return step.outputs

    @contextmanager
    def sql(self, work: Path | None = None) -> Iterator[SqlSession]:
        """See `Engine.sql`. Without a folder of work, which the workers could see, the driver runs the queries."""
        if work is None:
            with self._here.sql() as local:
                yield local
            return
        scratch = work / f"spark-{uuid4().hex}"
        scratch.mkdir(parents=True)
        try:
            self._check(work)
            with telling():
                yield _SparkSql(self.session.newSession(), scratch, self._here)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def share(self, tasks: int) -> Engine:
        """See `Engine.share`: a task is a process of one machine."""
        return self._here.share(tasks)

    @property
    def _here(self) -> LocalEngine:
        """For what the driver does by itself."""
        return LocalEngine(
            processes=self._processes or default_processes(), memory=self.memory, progress=self.progress
        )

    def _check(self, folder: Path) -> None:
        if folder not in self._checked:
            check_workers(self.session.sparkContext, folder)
            self._checked.add(folder)


def _clear(folder: Path) -> None:
    """Take away what attempts that were killed have left."""
    for path in folder.glob("*.partial"):
        if _LEFTOVER.fullmatch(path.name):
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _run(payload: bytes) -> bytes:
    """Run one task on a worker; gives None or the error, packed, so that it is raised on the driver as it is."""
    from pyspark import TaskContext

    function, arguments, path, cwd, tries = pickle.loads(payload)
    with suppress(OSError):
        os.chdir(cwd)  # what is told as a relative path means the same here
    task = TaskContext.get()
    try:
        _make(function, arguments, path)
    except OSError as problem:
        if task is not None and task.attemptNumber() + 1 < tries:
            raise  # a full disk or a lost mount: another worker may do better
        problem.add_note(f"this happened on the worker {os.uname().nodename}, after {tries} attempts")
        return pickle.dumps(problem)
    except Exception as problem:
        return pickle.dumps(problem)
    return pickle.dumps(None)


def _make(function: Callable[..., None], arguments: tuple[Any, ...], path: Path) -> None:
    """Make one output. Another attempt may be under way elsewhere: each has a name of its own until it is whole."""
    partial = path.with_name(f"{path.name}.{uuid4().hex}.partial")
    try:
        function(*arguments, partial)
        with suppress(FileExistsError):
            if not path.exists():
                partial.replace(path)
    except OSError as problem:
        if problem.filename is None:  # a write to a full disk does not say where
            problem.filename = str(partial)
        raise
    except MemoryError as problem:
        raise EntlinkError(
            "a task ran out of memory. Give each more with spark.executor.pyspark.memory, and executors more with "
            "spark.executor.memoryOverhead, or have fewer tasks at once with spark.executor.cores"
        ) from problem
    finally:
        _remove(partial)


class _SparkSql:
    """A `SqlSession` on Spark. What is kept is written as Parquet, so that it outlives a worker."""

    def __init__(self, session: SparkSession, scratch: Path, driver: LocalEngine) -> None:
        self._session, self._scratch, self._driver = session, scratch, driver
        self._numbers = count()

    def view(self, name: str, files: ParquetFiles | JsonFiles, *, cached: bool = False) -> None:
        rows = self._read(files)
        (self._kept(rows) if cached else rows).createOrReplaceTempView(name)

    def table(self, name: str, query: str) -> None:
        self._kept(self._session.sql(query)).createOrReplaceTempView(name)

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        """By way of files, so that the driver needs no more memory than for a batch."""
        with self._collected(query) as session:
            yield from session.rows("SELECT * FROM collected")

    def number(self, query: str) -> int:
        found = self._session.sql(query).first()
        assert found is not None
        return int(found[0])

    def write(self, query: str, path: Path) -> None:
        with self._collected(query) as session:
            session.write("SELECT * FROM collected", path)

    def partition(self, query: str, column: str, folder: Path) -> None:
        rows = self._session.sql(query).hint("rebalance", column)  # a large value is several files
        rows.write.mode("overwrite").partitionBy(column).parquet(_uri(folder))

    @contextmanager
    def _collected(self, query: str) -> Iterator[SqlSession]:
        """A session of the driver that has the rows of a query, in their order, as `collected`."""
        folder = self._written(self._session.sql(query))
        with self._driver.sql(self._scratch, ordered=True) as session:
            session.view("collected", ParquetFiles(sorted(folder.glob("part-*.parquet"))))
            yield session
        shutil.rmtree(folder)

    def _kept(self, rows: DataFrame) -> DataFrame:
        return self._session.read.schema(rows.schema).parquet(_uri(self._written(rows)))

    def _written(self, rows: DataFrame) -> Path:
        folder = self._scratch / f"rows-{next(self._numbers)}"
        rows.write.parquet(_uri(folder))
        return folder

    def _read(self, files: ParquetFiles | JsonFiles) -> DataFrame:
        if isinstance(files, ParquetFiles):
            return self._session.read.parquet(*map(_plain, files.paths))
        schema = ", ".join(f"`{name}` {type}" for name, type in files.columns.items())
        paths = [_plain(path) for path in files.paths if path.exists() and path.stat().st_size]
        if not paths:
            return self._session.createDataFrame([], schema)
        return self._session.read.schema(schema).json(paths, mode="FAILFAST", lineSep="\n", encoding="UTF-8")


def _uri(path: Path) -> str:
    """A path of the machine, whatever file system is Spark's own."""
    return f"file:{path.absolute()}"


def _plain(path: Path) -> str:
    """The same for reading, where some characters would make it a pattern."""
    return _PATTERN.sub(r"\\\g<0>", _uri(path))
