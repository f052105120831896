"""A limit of time and memory for one page, so that a pathological one cannot hold up a build."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

_MEGABYTE = 1 << 20


class OverLimitError(Exception):
    """A page took longer than it may."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OverLimitError in what runs longer. Only a process's main thread can be interrupted so."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def expire(number: int, frame: FrameType | None) -> None:
        raise OverLimitError(f"it took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class MemoryLimit:
    """Within it the process may grow by so much at most: beyond, what asks for memory gets a MemoryError.

    It can be entered any number of times; growth is counted from when it was made.
    """

    def __init__(self, megabytes: int) -> None:
        size = _address_space()
        self._before: tuple[int, int] | None = None
        self._limit: int | None = None
        if size is not None:
            import resource

            self._resource = resource
            self._before = soft, _ = resource.getrlimit(resource.RLIMIT_AS)
            limit = size + megabytes * _MEGABYTE
            self._limit = limit if soft == resource.RLIM_INFINITY else min(limit, soft)

    def __enter__(self) -> None:
        if self._limit is not None and self._before is not None:
            self._resource.setrlimit(self._resource.RLIMIT_AS, (self._limit, self._before[1]))

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            self._resource.setrlimit(self._resource.RLIMIT_AS, self._before)


def _address_space() -> int | None:
    """How much address space the process has, where the system tells."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:
        return None
    import resource

    return int(pages) * resource.getpagesize()
