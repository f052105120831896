"""At which dates a history is looked at, and how its stable versions are chosen."""

from __future__ import annotations

import calendar
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from entlink.documents import Record
from entlink.errors import FieldError, InputError
from entlink.text.dates import moment

if TYPE_CHECKING:
    from entlink.sources.mediawiki.dumps import Windows

STABLE_INTERVAL = 2_592_000  # seconds: 30 days
MOST_SNAPSHOTS = 10_000
_MONTHS = {"monthly": 1, "yearly": 12}
_SECONDS = {"daily": 86_400, "weekly": 7 * 86_400}
_FORMS = (
    "Give dates such as 2013-01-01,2014-01-01, or START/END/INTERVAL such as 2013-01-01/2022-01-01/yearly, "
    "with yearly, monthly, weekly, daily or a number of seconds"
)


class HistoryOptions(Record, frozen=True):
    """The snapshots, as `snapshot_dates` gives them.

    At each, the stable version of a page is the one that stood longest in so many seconds before it.
    """

    dates: tuple[str, ...]
    stable_interval: int = STABLE_INTERVAL

    def __post_init__(self) -> None:
        if self.dates != snapshot_dates(self.dates):
            raise InputError(f"the snapshots {', '.join(self.dates)} are not in order, or not written in full")
        if self.stable_interval < 1:
            raise InputError(
                f"the stable interval of {self.stable_interval} seconds is empty. "
                f"Give a longer one; 30 days are {STABLE_INTERVAL}"
            )

    def windows(self) -> Windows:
        """The time before each snapshot that decides which version is stable."""
        from entlink.sources.mediawiki.dumps import Windows  # which takes a while, and only who reads needs it

        before = timedelta(seconds=self.stable_interval)
        return Windows(tuple(_stamp(_earlier(moment(date), before)) for date in self.dates), self.dates)


def snapshot_dates(given: str | Sequence[str]) -> tuple[str, ...]:
    """Dates given one by one, or as start, end and interval, as full stamps in UTC, ascending.

    An InputError for what is no date, the same moment twice, an empty interval, or no date at all.
    """
    pieces = [piece.strip() for one in ([given] if isinstance(given, str) else given) for piece in one.split(",")]
    dates = sorted(date for piece in pieces if piece for date in _dates(piece))
    if not dates:
        raise InputError(f"no snapshot is given. {_FORMS}")
    for earlier, later in pairwise(dates):
        if earlier == later:
            raise InputError(f"the snapshot {_stamp(later)} is given twice. Give it once")
    return tuple(map(_stamp, dates))


def _dates(piece: str) -> Iterator[datetime]:
    if "/" not in piece:
        yield _moment(piece)
        return
    fields = [field.strip() for field in piece.split("/")]
    if len(fields) != 3:
        raise InputError(f"{piece!r} is no series of snapshots. {_FORMS}")
    start, end, interval = _moment(fields[0]), _moment(fields[1]), fields[2].lower()
    if end < start:
        raise InputError(f"the series of snapshots {piece!r} is empty: it ends before it begins. Exchange the dates")
    for count, date in enumerate(_series(start, interval)):
        if date > end:
            return
        if count == MOST_SNAPSHOTS:
            raise InputError(f"{piece!r} makes more than {MOST_SNAPSHOTS:,} snapshots. Give a longer interval")
        yield date


def _series(start: datetime, interval: str) -> Iterator[datetime]:
    """Ever later dates; the last one that can be written ends them."""
    if interval in _MONTHS:
        dates = (_months_later(start, count) for count in range(0, 12 * (9999 - start.year) + 1, _MONTHS[interval]))
        yield from dates
        return
    is_number = interval.isascii() and interval.isdecimal() and len(interval) < 12
    seconds = _SECONDS.get(interval, int(interval) if is_number else None)
    if seconds is None:
        raise InputError(f"{interval!r} is no interval between snapshots. {_FORMS}")
    if seconds == 0:
        raise InputError(f"the interval between snapshots is empty. {_FORMS}")
    date, step = start, timedelta(seconds=seconds)
    while True:
        yield date
        try:
            date += step
        except OverflowError:
            return


def _months_later(start: datetime, count: int) -> datetime:
    """The same day so many months later, or the last of its month where that is shorter."""
    year, month = divmod(start.year * 12 + start.month - 1 + count, 12)
    return start.replace(year=year, month=month + 1, day=min(start.day, calendar.monthrange(year, month + 1)[1]))


def _moment(date: str) -> datetime:
    try:
        return moment(date).replace(microsecond=0)
    except FieldError as error:
        raise InputError(f"{date[:40]!r} is no date of a snapshot: it {error.problem}. {_FORMS}") from error


def _earlier(date: datetime, by: timedelta) -> datetime:
    try:
        return date - by
    except OverflowError:
        return datetime.min.replace(tzinfo=date.tzinfo)


def _stamp(date: datetime) -> str:
    return f"{date.year:04}-{date:%m-%dT%H:%M:%SZ}"
