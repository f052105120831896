"""Running Python in a fresh process, and what that cost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple


class Finished(NamedTuple):
    """A process that ended well: its wall-clock seconds, its peak resident memory and what it printed."""

    seconds: float
    peak_mb: float
    output: str


def run(arguments: Sequence[str], *, core: int | None = None) -> Finished:
    """Run `python ARGUMENTS…`, on one core where one is named; children of the process count in its peak."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
        preexec_fn=(lambda: os.sched_setaffinity(0, {core})) if core is not None else None,
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed with {process.returncode}")
    return Finished(time.perf_counter() - started, usage.ru_maxrss / 1024, output)


def quickest(arguments: Sequence[str], times: int = 15) -> Finished:
    """The quickest of several runs: what is slower is the machine doing something else."""
    return min((run(arguments) for _ in range(times)), key=lambda finished: finished.seconds)
