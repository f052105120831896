"""Functions for the process pool: its workers are new processes, and must be able to import them."""

from __future__ import annotations

import os
from pathlib import Path


def write_square(number: int, path: Path) -> None:
    path.write_text(f"{number * number} by {os.getpid()}")


def fail(number: int, path: Path) -> None:
    path.write_text("half")
    raise ValueError(f"number {number} is bad")


def die(number: int, path: Path) -> None:
    os._exit(9)


def fill_the_disk(number: int, path: Path) -> None:
    raise OSError(28, "No space left on device")


def write_gigabytes(gigabytes: int, path: Path) -> None:
    path.write_bytes(bytes(gigabytes << 30))


def run_out_of_memory(number: int, path: Path) -> None:
    raise MemoryError
