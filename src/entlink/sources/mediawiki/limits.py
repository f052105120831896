"""A limit of time and memory for one page, so that a pathological one cannot hold up a build.

Both are for a process's main thread only: no other can be interrupted, and none should be short of memory because of
what a page takes. Time is that of the processor, so that a machine that is busy or asleep changes nothing.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_MEGABYTE = 1 << 20
_MOST = 1 << 62
_AGAIN = 1.0  # seconds: an exception that some destructor swallowed is raised once more


class OverLimitError(Exception):
    """A page took longer than it may."""


class Timer:
    """Entered again and again within `timed`: each time, what takes longer than it may gets an OverLimitError."""

    def __init__(self, seconds: float, *, works: bool) -> None:
        self._seconds, self._works = seconds, works
        self._before = (0.0, 0.0)

    def __enter__(self) -> None:
        if self._works:
            self._before = signal.setitimer(signal.ITIMER_PROF, self._seconds, _AGAIN)

    def __exit__(self, *exception: object) -> None:
        if self._works:
            signal.setitimer(signal.ITIMER_PROF, *self._before)


@contextmanager
def timed(seconds: float) -> Iterator[Timer]:
    """A timer for several pieces of work, with what it needs to go off set up once."""
    if not _is_main_thread() or not hasattr(signal, "setitimer"):
        yield Timer(seconds, works=False)
        return

    def expire(number: int, frame: FrameType | None) -> None:
        raise OverLimitError(f"it took longer than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, expire)
    try:
        yield Timer(seconds, works=True)
    finally:
        signal.signal(signal.SIGPROF, signal.SIG_DFL if before is None else before)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OverLimitError in what takes longer."""
    with timed(seconds) as timer, timer:
        yield


class MemoryLimit:
    """Within it the process may grow by so much at most: beyond, what asks for memory gets a MemoryError.

    It can be entered any number of times. Only Linux tells how large a process is; elsewhere there is no limit.
    """

    def __init__(self, megabytes: int) -> None:
        self._growth = min(megabytes * _MEGABYTE, _MOST)
        self._before: tuple[int, int] | None = None

    def __enter__(self) -> None:
        size = _address_space() if _is_main_thread() else None
        if size is None:
            return
        import resource

        soft, hard = self._before = resource.getrlimit(resource.RLIMIT_AS)
        limit = size + self._growth
        if soft != resource.RLIM_INFINITY:
            limit = min(limit, soft)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_AS, self._before)
            self._before = None


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _address_space() -> int | None:
    """How much address space the process has, where the system tells."""
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)  # an eighth of what it takes by way of a Path, for each page
    except OSError:
        return None
    try:
        pages = os.read(file, 64).split()[0]
    finally:
        os.close(file)
    import resource

    return int(pages) * resource.getpagesize()
