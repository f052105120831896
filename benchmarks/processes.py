"""Running Python, or any command, in a fresh process, and what that cost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Finished(NamedTuple):
    """A process that ended well: its wall-clock seconds, and what it printed."""

    seconds: float
    output: str


def run(arguments: Sequence[str], *, core: int | None = None) -> Finished:
    """Run `python ARGUMENTS…`, on one core where one is named."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, *arguments]
    if core is not None and shutil.which("taskset"):
        command = ["taskset", "--cpu-list", str(core), *command]
    started = time.perf_counter()
    finished = subprocess.run(command, stdout=subprocess.PIPE, env=environment, text=True, check=False)
    seconds = time.perf_counter() - started
    if finished.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed with {finished.returncode}")
    return Finished(seconds, finished.stdout)


def quickest(arguments: Sequence[str], times: int = 15) -> Finished:
    """The quickest of several runs: what is slower is the machine doing something else."""
    return min((run(arguments) for _ in range(times)), key=lambda finished: finished.seconds)


class Cost(NamedTuple):
    """What a command and all the processes it started took; memory is the most they had together, told two ways.

    Processor time hardly depends on what else the machine does; the clock does.
    """

    seconds: float
    processor_seconds: float
    peak_mb: float
    proportional_mb: float


def watch(command: Sequence[str | Path], log: Path) -> Cost:
    """Run a command to its end, what it prints going to a log."""
    words = [str(word) for word in command]
    started = time.perf_counter()
    with (
        log.open("wb") as output,
        subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT) as process,
        PeakOfTree(process.pid) as memory,
    ):
        code = process.wait()
        seconds = time.perf_counter() - started
    if code:
        raise SystemExit(f"{' '.join(words)} failed with {code}; what it printed is in {log}")
    return Cost(seconds, sum(memory.processor_seconds.values()), memory.peak_mb, memory.proportional_mb)


def own_peak_mb() -> float:
    """The most memory this process has had resident. (The peak that a parent is told of counts the parent's too.)"""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return float("nan")


class PeakOfTree:
    """Samples the memory of a process (this one, if none is named) and all its descendants; keeps the largest sums.

    `peak_mb` adds up what each has resident, and so counts a page that several share several times;
    `proportional_mb` divides such a page among them, and so counts it once. `processor_seconds` are by process.
    """

    def __init__(self, process: int | None = None) -> None:
        self.peak_mb = self.proportional_mb = 0.0
        self.processor_seconds: dict[int, float] = {}
        self._process = os.getpid() if process is None else process
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakOfTree:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            tree = _tree(self._process)
            self.peak_mb = max(self.peak_mb, sum(map(_resident_mb, tree)))
            self.proportional_mb = max(self.proportional_mb, sum(map(_proportional_mb, tree)))
            for process in tree:
                self.processor_seconds[process] = max(
                    self.processor_seconds.get(process, 0.0), _processor_seconds(process)
                )


def _tree(process: int) -> list[int]:
    found = [process]
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            for child in children.read_text(encoding="ascii").split():
                found += _tree(int(child))
        except OSError:
            continue  # it has just ended
    return found


def _resident_mb(process: int) -> float:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _proportional_mb(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


def _processor_seconds(process: int) -> float:
    try:
        # The name, in parentheses, may hold anything; user and system time are the 12th and 13th field after it.
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
