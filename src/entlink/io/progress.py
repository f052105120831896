"""How long work tells what it is at."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float, float], None]  # what is being done, done so far, total; a total of 0 is not known


def ignore_progress(stage: str, done: float, total: float) -> None:
    """The progress of a caller that does not want to know."""
