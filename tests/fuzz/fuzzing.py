"""Runs a check under atheris, and keeps the shortest input of each kind of failure."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import atheris
from broken_rules import kind_of_failure, shortened

Check = Callable[[bytes], object]


class Collector:
    """Runs a check on inputs; each kind of failure is shortened, kept in a folder and told once."""

    def __init__(self, check: Check, folder: Path, shown: Callable[[bytes], object] = bytes) -> None:
        self._check, self._folder, self._shown = check, folder, shown
        self._known: set[str] = set()

    def __call__(self, data: bytes) -> None:
        kind = self._failure(data)
        if kind is None or kind in self._known:
            return
        self._known.add(kind)
        data = shortened(data, lambda rest: self._failure(rest) == kind)
        name = "".join(letter if letter.isalnum() else "-" for letter in kind)
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_bytes(data)
        sys.stdout.write(f"\nFOUND {kind}\n  {self._shown(data)!r}\n  {self._message(data)}\n")
        sys.stdout.flush()

    def _failure(self, data: bytes) -> str | None:
        try:
            self._check(data)
        except Exception as problem:  # whatever it is, it is what is looked for
            return kind_of_failure(problem)
        return None

    def _message(self, data: bytes) -> str:
        try:
            self._check(data)
        except Exception as problem:
            return str(problem)[:600]
        return ""


def fuzz(check: Check, shown: Callable[[bytes], object] = bytes) -> None:
    """Fuzz until the limits that the command line gives; its first argument is the folder for what is found."""
    if len(sys.argv) < 2:
        raise SystemExit(f"usage: {sys.argv[0]} FOLDER-FOR-FAILURES [CORPUS] [-max_total_time=SECONDS …]")
    folder = Path(sys.argv.pop(1))
    atheris.Setup(sys.argv, Collector(check, folder, shown))
    atheris.Fuzz()
