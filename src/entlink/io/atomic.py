"""Files and folders that are there whole or not at all, and the lock of a folder that only one process writes to."""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from entlink.errors import LockedError

_PATIENCE = 0.1  # seconds between two looks at a lock that another process holds


@contextmanager
def write_lock(folder: Path, name: str = "write.lock", *, wait: bool = False) -> Iterator[None]:
    """Only one process edits a KB, and only one indexes it; a lock goes with the process that held it.

    With `wait` a lock that another process holds is waited for, however long that takes.
    """
    with ExitStack() as stack:
        if wait:
            _enter_when_free(stack, folder, name)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(_locked(folder, name))
        yield


def _enter_when_free(stack: ExitStack, folder: Path, name: str) -> None:
    is_told = False
    while True:
        try:
            stack.enter_context(_locked(folder, name))
            return
        except LockedError:
            if not is_told:
                is_told = True
                logging.getLogger(__name__).warning(
                    "%s: another process is writing to it, and this one waits until that is done", folder
                )
            time.sleep(_PATIENCE)


@contextmanager
def _locked(folder: Path, name: str) -> Iterator[None]:
    path = folder / name
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            raise LockedError(f"{folder}: another process is writing to it. Try again when it is done") from problem
        if not path.exists() or not os.path.samestat(os.fstat(file.fileno()), path.stat()):
            raise LockedError(f"{folder}: it was replaced just now. Try again")
        yield


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, whenever the process is killed or the power fails."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(content)
    put_in_place(partial, path)


def put_in_place(written: Path, target: Path, before: Path | None = None) -> None:
    """Give a file or folder its name once all of it is on the disk.

    A file that had the name is replaced; a folder that had it is moved to `before`, and back if something goes wrong.
    """
    for path in (*(written.rglob("*") if written.is_dir() else ()), written):
        if path.is_file() or path.is_dir():
            _sync(path)
    is_moved = before is not None and target.exists()
    if before is not None and is_moved:
        target.replace(before)
    try:
        written.replace(target)
    except OSError:
        if before is not None and is_moved:
            before.replace(target)
        raise
    _sync(target.parent)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write to that comes into place at the end, whole; one that was there goes only then."""
    folder = folder.absolute()
    partial, before = (folder.with_name(f"{folder.name}.{end}") for end in ("partial", "before"))
    if before.exists() and not folder.exists():
        before.replace(folder)  # a replacement was killed between its two moves
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    shutil.rmtree(before, ignore_errors=True)
    put_in_place(partial, folder, before)
    shutil.rmtree(before, ignore_errors=True)


def _sync(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
