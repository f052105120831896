"""Spark for tests: whether it is there, a cluster of processes, and what two builds must have in common."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pytest

ROOT = Path(__file__).resolve().parents[2]
MISSING = next(
    (
        f"{what} is missing"
        for what, is_there in (("pyspark", find_spec("pyspark")), ("java", shutil.which("java")))
        if not is_there
    ),
    None,
)
needs_spark = [
    pytest.mark.skipif(MISSING is not None, reason=f"{MISSING}: nothing of Apache Spark is tested"),
    # pyspark warns of every new pandas, and leaves sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
_MADE_WHEN = {"manifest", "checkpoint"}  # rows of the table `meta` that tell times and the command
_PATIENCE = 120.0


def environment(**more: str) -> dict[str, str]:
    """The environment of processes that find this entlink and these helpers."""
    here = [str(ROOT / "src"), str(ROOT / "tests" / "helpers")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(here), "PYSPARK_PYTHON": sys.executable, **more}


def entlink(*words: object, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "entlink", *map(str, words)]
    return subprocess.run(
        command, env=environment(**more.pop("env", {})), capture_output=True, text=True, timeout=400, **more
    )


class Cluster:
    """A master with workers of one core each, as processes on loopback; what is in `hidden` they do not see."""

    def __init__(self, folder: Path, workers: int = 2, hidden: Path | None = None) -> None:
        hiding = 'mount -t tmpfs tmpfs "$0" && exec "$@"'
        self._before = [] if hidden is None else ["unshare", "--mount", "sh", "-c", hiding, str(hidden)]
        self._folder, self._processes = folder, dict[str, subprocess.Popen[bytes]]()
        folder.mkdir(parents=True, exist_ok=True)
        started = self._start("master", "master.Master", "--port", "0")
        self.master = self._told("master", r"Starting Spark master at (spark://\S+)")
        assert started.poll() is None
        for number in range(workers):
            self.add(f"worker-{number}")

    def add(self, name: str) -> None:
        """One more worker."""
        self._start(
            name, "worker.Worker", "--cores", "1", "--memory", "900m", "--work-dir", self._folder / name, self.master
        )
        self._told(name, "Successfully registered with master")

    def kill(self, name: str) -> None:
        """End a process at once, as a machine that fails; the executors of a worker go with it."""
        os.killpg(self._processes[name].pid, signal.SIGKILL)
        self._processes.pop(name).wait()

    def close(self) -> None:
        for name in list(self._processes):
            self.kill(name)

    def _start(self, name: str, kind: str, *words: object) -> subprocess.Popen[bytes]:
        import pyspark

        home = Path(pyspark.__file__).parent
        command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1"]
        settings = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "200m"}
        with (self._folder / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                [*self._before, *(str(word) for word in (*command, "--webui-port", "0", *words))],
                env=environment(**settings),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self._processes[name]

    def _told(self, name: str, pattern: str) -> str:
        log, end = self._folder / f"{name}.log", time.monotonic() + _PATIENCE
        while time.monotonic() < end and self._processes[name].poll() is None:
            if found := re.search(pattern, log.read_text(encoding="utf8", errors="replace")):
                return found[found.re.groups]
            time.sleep(0.1)
        raise AssertionError(f"{name} did not start: {log.read_text(encoding='utf8', errors='replace')[-2000:]}")


@contextmanager
def cluster(folder: Path, workers: int = 2, hidden: Path | None = None) -> Iterator[Cluster]:
    """A cluster that is gone at the end."""
    made = Cluster(folder, workers, hidden)
    try:
        yield made
    finally:
        made.close()


def rows_of(kb: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of a knowledge base, sorted, and its index files: of equal builds they are equal."""
    with closing(sqlite3.connect(kb / "kb.sqlite")) as store:
        tables = [
            name
            for (name,) in store.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRT%'"
            )
        ]
        found = {name: sorted(store.execute(f'SELECT * FROM "{name}"'), key=repr) for name in tables}
    found["meta"] = [row for row in found["meta"] if row[0] not in _MADE_WHEN]
    with duckdb.connect() as database:
        for path in sorted((kb / "counts").rglob("*.parquet")):
            found[path.name] = sorted(database.execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchall())
    for path in sorted((kb / "index-1").glob("*-*")):
        found[path.name] = [(path.read_bytes(),)]
    return found


def assert_equal(one: Path, other: Path) -> None:
    """That two knowledge bases have the same rows; says in which tables they differ."""
    first, second = rows_of(one), rows_of(other)
    assert first["entities"]
    assert [name for name in {**first, **second} if first.get(name) != second.get(name)] == []


def wait_for(condition: Any, process: subprocess.Popen[Any]) -> None:
    """Wait until something is so, or the process has ended."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and process.poll() is None and not condition():
        time.sleep(0.05)


def write_long_dump(path: Path, parts: int = 4) -> Path:
    """A dump that is read in so many parts: pages that link each other, with names that stand unlinked, too."""
    with path.open("w", encoding="utf8") as file:
        file.write('<mediawiki xml:lang="en"><siteinfo><dbname>longwiki</dbname></siteinfo>\n')
        number, filler = 0, "and of the river that runs by the old mill below the hill. " * 300
        while file.tell() < (parts - 1) * (8 << 20) + 1_000_000:
            number += 1
            text = f"'''Place {number}''' is near [[Place {number // 2}|the place]], Place {number // 3} {filler}"
            file.write(
                f"<page><title>Place {number}</title><ns>0</ns><id>{number}</id><revision><id>{number}</id>"
                f"<timestamp>2020-01-01T00:00:00Z</timestamp><text>{text}</text></revision></page>\n"
            )
        file.write("</mediawiki>\n")
    return path
