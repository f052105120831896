"""Where the snapshots of a knowledge base are: `NAME.kb/snapshots/2013-01-01T000000Z/`, each one in itself.

A snapshot has its own store, counts and indexes, made of what was there on its date and nothing else. Only the texts
are shared.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from entlink.errors import FieldError, InputError
from entlink.kb.store.store import DATABASE

if TYPE_CHECKING:
    from datetime import datetime

SNAPSHOTS = "snapshots"
_NAME = re.compile(r"(\d{4}-\d\d-\d\dT)(\d\d)(\d\d)(\d\dZ)", re.ASCII)
_SHOWN = 12


def folder_of(kb: Path, date: str) -> Path:
    """The folder of the snapshot of that date, given in full (`2013-01-01T00:00:00Z`)."""
    return kb / SNAPSHOTS / date.replace(":", "")


def date_of(snapshot: Path) -> str:
    """The date of a snapshot, from the name of its folder."""
    found = _NAME.fullmatch(snapshot.name)
    return f"{found[1]}{found[2]}:{found[3]}:{found[4]}" if found else ""


def short(date: str) -> str:
    """A date as people write it: the day alone where the time is midnight."""
    return date.removesuffix("T00:00:00Z")


def is_snapshot(folder: Path) -> bool:
    """Whether a knowledge base is a snapshot of another one."""
    folder = folder.absolute()
    return folder.parent.name == SNAPSHOTS and bool(date_of(folder)) and (folder.parent.parent / DATABASE).is_file()


def home_of(folder: Path) -> Path:
    """The knowledge base that a snapshot is of; any other one is its own."""
    return folder.absolute().parent.parent if is_snapshot(folder) else folder


def snapshot_folders(kb: Path) -> list[Path]:
    """The finished snapshots of a knowledge base, the earliest first."""
    folder = kb / SNAPSHOTS
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if date_of(path) and (path / DATABASE).is_file())


def folder_as_of(kb: str | Path, date: str | None) -> tuple[Path, str | None]:
    """The folder to open for a date, and the date that is still to be looked at in it.

    That is the nearest snapshot at or before the date, and no date; or, where there are no snapshots, the knowledge
    base itself with the date, which chooses among dated versions of its entities.
    """
    folder = Path(kb)
    if date is None:
        return folder, None
    home = home_of(folder)
    snapshots = snapshot_folders(home)
    if not snapshots:
        return folder, date
    asked = _moment(date)
    before = [snapshot for snapshot in snapshots if _moment(date_of(snapshot)) <= asked]
    if not before:
        raise InputError(
            f"{home}: {date} is before its first snapshot. Its snapshots: {told(list(map(date_of, snapshots)))}"
        )
    return before[-1], None


def told(dates: list[str]) -> str:
    """Dates in a message; of many only the first and the last."""
    written = list(map(short, dates))
    if len(written) <= _SHOWN:
        return ", ".join(written)
    return f"{', '.join(written[: _SHOWN - 2])}, … {written[-1]} ({len(written)} in all)"


def _moment(date: str) -> datetime:
    from entlink.text.dates import moment

    try:
        return moment(date)
    except FieldError as problem:
        raise InputError(f"the date {date!r} is not an ISO date such as 2020-05-01") from problem
