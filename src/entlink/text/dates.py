"""Dates: ISO 8601 of any precision as given, and the one form in which they are stored and compared."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from entlink.errors import FieldError

_TIME = r"[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?"
_DATE = re.compile(rf"\d{{4}}(?:-\d\d(?:-\d\d(?:{_TIME})?)?)?", re.ASCII)
_REST_OF_DATE = {len("YYYY"): "-01-01", len("YYYY-MM"): "-01"}
_MIDNIGHT = "T00:00:00+00:00"
_DATE_FORMS = "Dates are written YYYY, YYYY-MM or YYYY-MM-DD, with a time if need be"


@lru_cache(maxsize=4096)
def moment(date: str) -> datetime:
    """The instant at which a date begins, in UTC; a time without a zone is taken as UTC."""
    if not _DATE.fullmatch(date):
        raise FieldError(f"holds the bad date {date[:40]!r}", _DATE_FORMS)
    try:
        instant = datetime.fromisoformat(date + _REST_OF_DATE.get(len(date), ""))
        return instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:  # in UTC it may lie before the year 1, or after 9999
        raise FieldError(f"holds the impossible date {date[:40]!r} ({error})", _DATE_FORMS) from error


def in_utc(date: str) -> str:
    """The form in which a date is stored: the day, and the time in UTC unless it is midnight. It sorts as text."""
    form = moment(date).isoformat()
    return form.removesuffix(_MIDNIGHT)


def check_period(valid_from: str | None, valid_to: str | None) -> None:
    """An error unless the period `[from, to)` holds at least an instant."""
    if valid_from and valid_to and moment(valid_to) <= moment(valid_from):
        raise FieldError(
            f"valid_to {valid_to!r} is not after valid_from {valid_from!r}",
            "The period is half-open: valid_to is the first moment that no longer counts",
        )


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
