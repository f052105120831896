"""Starting Apache Spark, and saying what to do where it cannot do its work."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4
from warnings import filterwarnings

from entlink.errors import EntlinkError, InputError, MissingExtraError
from entlink.version import __version__

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_JAVA, _PYSPARK = 17, 4
_PATIENCE = 10.0  # seconds to wait for a master
_WORKERS_PATIENCE = 300.0  # seconds to wait for the first worker
_SIZE = re.compile(r"\s*([0-9.]+)\s*([kmgt])i?b\s*", re.IGNORECASE)
_MEGABYTES = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024 * 1024}
_MORE_MEMORY = (
    "Give executors more with spark.executor.memory (Spark SQL) and spark.executor.memoryOverhead (Python), or have "
    "fewer tasks at once with spark.executor.cores; with a local master, --memory"
)
# What Spark says, and what to do; the first that is found counts.
_ADVICE = (
    (
        "PYTHON_VERSION_MISMATCH",
        "the workers run another Python than this one ({python}). Install that there, and set PYSPARK_PYTHON to it",
    ),
    (
        "No module named '(entlink|msgspec|duckdb|marisa_trie|rapidfuzz)",
        "entlink is not installed for the Python of the workers. Install entlink {version} there, or send an "
        "environment along (see docs/scale.md)",
    ),
    (
        "reading the port number from pyspark.daemon",
        "the Python of the workers does not start. Set PYSPARK_PYTHON to a Python {python} with entlink {version}",
    ),
    (
        'Cannot run program "(?P<program>[^"]*)"',
        "the workers have no {program}. Install Python {python} there, and set PYSPARK_PYTHON to its path",
    ),
    (r"NotFoundError: (?P<problem>[^\n]*)", "{problem}"),
    ("OutOfMemoryError|Container killed|MemoryError|exit code 137", "a task ran out of memory. " + _MORE_MEMORY),
    (
        "Python worker exited unexpectedly|ExecutorLostFailure|Python worker failed to connect",
        "a task was ended from outside several times, most likely for want of memory. " + _MORE_MEMORY,
    ),
    (
        "No space left on device",
        "a disk of a worker or of the driver is full. Make room, or name another with spark.local.dir, and run the "
        "command again",
    ),
    ("rpc.message.maxSize", "a page is larger than what Spark sends at once. Raise spark.rpc.message.maxSize"),
    (
        "stopped SparkContext|SparkContext was shut down|All masters are unresponsive|Connection refused",
        "the connection to Spark is lost. Check the master and its log (driver: Spark {spark}; both must be of one "
        "version), and run the command again: it goes on from there",
    ),
)


def start(master: str | None, processes: int | None, memory: str, conf: Mapping[str, str]) -> SparkSession:
    """A session at a master; under spark-submit, at the one that it named."""
    try:
        import pyspark
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as problem:
        raise MissingExtraError("the engine spark", "spark") from problem
    if int(pyspark.__version__.split(".")[0]) < _PYSPARK:
        raise EntlinkError(
            f"pyspark is {pyspark.__version__}: install {_PYSPARK}.0 or newer, as 'entlink[spark]' does"
        )
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if not is_submitted:
        _check_java()
        master = master or f"local[{processes or '*'}]"
    if master:
        _check_master(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    filterwarnings("ignore", message="PySpark does not yet fully support pandas")  # which entlink does not use there
    builder = SparkSession.Builder().appName("entlink")
    for name, value in {**_settings(master, memory), **conf}.items():
        builder = builder.config(name, value)
    if master:
        builder = builder.master(master)
    try:
        session = builder.getOrCreate()
    except (PySparkException, *_java_errors()) as problem:
        raise told(problem) from problem
    return session


def _settings(master: str | None, memory: str) -> dict[str, str]:
    log = f'"-Dlog4j2.configurationFile={Path(__file__).with_name("spark_log4j2.properties")}"'
    settings = {
        "spark.driver.defaultJavaOptions": log,
        "spark.driver.memory": f"{_megabytes(memory)}m",
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.parquet.compression.codec": "zstd",
    }
    if master is not None and master.startswith("local"):
        cores = master.removeprefix("local").strip("[]").split(",")[0]
        settings |= {
            # Many short queries: the second, slower compiler of Java costs more time than it saves.
            "spark.driver.defaultJavaOptions": f"{log} -XX:TieredStopAtLevel=1",
            "spark.driver.host": "localhost",  # nobody else connects
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": cores if cores.isdigit() else str(os.cpu_count() or 1),
            "spark.executorEnv.PYTHONPATH": os.pathsep.join(_own_paths()),
        }
    return settings


def _own_paths() -> list[str]:
    """Where this process finds modules, less the standard library: another Python has its own."""
    standard = Path(sysconfig.get_path("stdlib"))
    library = {str(standard), str(standard / "lib-dynload")}
    return [path for path in sys.path if path and path not in library and not path.endswith(".zip")]


def _megabytes(memory: str) -> int:
    match = _SIZE.fullmatch(memory)
    if match is None:
        raise InputError(f"{memory!r} is not an amount of memory such as 512MB or 2GB")
    return max(512, int(float(match[1]) * _MEGABYTES[match[2].lower()]))  # less, and Java does not start


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        where = f"JAVA_HOME is {home}, and there is no bin/java in it" if home else "there is no java on the PATH"
        raise EntlinkError(
            f"Spark needs Java {_JAVA} or newer, and {where}. Install it (as openjdk-{_JAVA}-jre-headless), or set "
            "JAVA_HOME"
        )
    ran = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(?:1\.)?(\d+)', ran.stderr)
    if match is None or int(match[1]) < _JAVA:
        found = f"version {match[1]}" if match else f"not working ({ran.stderr.strip()[:200]})"
        raise EntlinkError(f"Spark needs Java {_JAVA} or newer, and {java} is {found}. Install it, or set JAVA_HOME")


def _check_master(master: str) -> None:
    """A master of a standalone cluster that does not answer would be tried for minutes."""
    if not master.startswith("spark://"):
        return
    problems = []
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        if not host or not port.isdigit():
            raise InputError(f"{master} is not a master such as spark://host:7077, yarn, k8s://… or local[4]")
        try:
            socket.create_connection((host, int(port)), _PATIENCE).close()
            return
        except OSError as problem:
            problems.append(f"{place}: {problem.strerror or problem}")
    raise EntlinkError(
        f"the Spark master cannot be reached ({'; '.join(problems)}). Check that it runs, the host and the port"
    )


def is_local(context: SparkContext) -> bool:
    """Whether there are no other machines, nor processes of executors."""
    return context.master.startswith("local") and not context.master.startswith("local-cluster")


def check_workers(context: SparkContext, folder: Path) -> None:
    """Whether the workers have this entlink and see a folder; those that come later are not asked."""
    if is_local(context):
        return
    token = folder.absolute() / f".seen-{uuid4().hex}"
    folder.mkdir(parents=True, exist_ok=True)
    token.touch()
    tasks, tag = 2 * context.defaultParallelism, token.name

    def ask() -> list[tuple[str, str | None]]:
        context.addJobTag(tag)
        return list(context.parallelize(range(tasks), tasks).map(_question(str(token))).collect())

    with ThreadPoolExecutor(1) as pool, telling():
        try:
            answers = pool.submit(ask).result(_WORKERS_PATIENCE)
        except Late:
            context.cancelJobsWithTag(tag)
            raise EntlinkError(
                f"no worker took a task within {_WORKERS_PATIENCE:.0f} s. Check that the cluster has workers with "
                "free cores, and with as much memory as spark.executor.memory asks for"
            ) from None
        finally:
            token.unlink(missing_ok=True)
    for host, version in sorted(set(answers)):
        if version is None:
            raise InputError(
                f"the worker {host} does not see {folder}. Have sources, output and knowledge bases under one path "
                "that driver and workers share"
            )
        if version != __version__:
            raise EntlinkError(
                f"the worker {host} has entlink {version}, and here is {__version__}: install one on all"
            )


def _question(token: str) -> Callable[[int], tuple[str, str | None]]:
    """What is asked of a worker. An inner function is sent by its code: it can run where entlink is not installed."""

    def answer(_: int) -> tuple[str, str | None]:
        from pathlib import Path
        from platform import node

        from entlink.version import __version__

        return node(), __version__ if Path(token).exists() else None

    return answer


@contextmanager
def telling() -> Iterator[None]:
    """What goes wrong inside, in Spark, becomes an error that says what to do."""
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, *_java_errors()) as problem:
        raise told(problem) from problem


def _java_errors() -> tuple[type[Exception], ...]:
    from py4j.protocol import Py4JError, Py4JNetworkError

    return Py4JError, Py4JNetworkError, ConnectionError


def told(problem: Exception) -> EntlinkError:
    """An error of Spark in a line or two."""
    import pyspark

    text = str(problem)
    python = ".".join(map(str, sys.version_info[:2]))
    for pattern, advice in _ADVICE:
        if match := re.search(pattern, text):
            known = {"python": python, "version": __version__, "spark": pyspark.__version__}
            return EntlinkError(advice.format(**known | match.groupdict()))
    lines = [line.strip().removeprefix(": ") for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if re.match(r"(Caused by: |[\w.]*(Error|Exception)\b)", line)]
    what = causes[-1] if causes else next(iter(lines), type(problem).__name__)
    return EntlinkError(f"Spark failed: {what[:500]}")
