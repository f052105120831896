"""Dated versions of an entity: which one a page means, where a further one goes, what cannot be.

The version that begins last is the current one. What was said is stored, and nothing guessed: an end that was left
open is closed on reading, where the next version begins (`Store.versions`), so the order of rows does not matter.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from entlink.errors import FieldError
from entlink.kb.store.store import Version
from entlink.kb.store.writing import insert_version, replace_current
from entlink.text.dates import check_period, in_utc

if TYPE_CHECKING:
    from entlink.sources import Page


def is_dated(page: Page) -> bool:
    return page.valid_from is not None or page.valid_to is not None


def with_dates_in_utc(page: Page) -> Page:
    """The page with its dates in the form that is stored; FieldError where they are no period."""
    if not is_dated(page):
        return page
    valid_from = _in_utc("valid_from", page.valid_from)
    valid_to = _in_utc("valid_to", page.valid_to)
    check_period(page.valid_from, page.valid_to)
    return msgspec.structs.replace(page, valid_from=valid_from, valid_to=valid_to)


def _in_utc(field: str, date: str | None) -> str | None:
    try:
        return None if date is None else in_utc(date)
    except FieldError as error:
        raise error.of("field", field) from None


def stated_version(page: Page) -> Version:
    return Version(page.entity, page.valid_from, page.valid_to)


def version_from(versions: Sequence[Version], valid_from: str | None) -> Version | None:
    """The version that begins on the date, of which there is one at most."""
    return next((version for version in versions if version.valid_from == valid_from), None)


def meant_version(versions: Sequence[Version], page: Page) -> Version | None:
    """The version a page is to replace: without dates the current one, else the one that begins as it does.

    An entity of which no dates were known takes those of the page.
    """
    current = versions[0]
    if not is_dated(page) or (len(versions) == 1 and current[1:] == (None, None)):
        return current
    return version_from(versions, page.valid_from)


def changed_version(old: Version, page: Page) -> Version:
    """What a page makes of the version it replaces; where it has no dates, those that were there stay."""
    return stated_version(page) if is_dated(page) else old._replace(entity=page.entity)


def add_version(connection: sqlite3.Connection, key: int, current: Version, new: Version) -> None:
    """Put a further version in its place: it becomes the current one if it begins last."""
    if new.begins < current.begins:
        insert_version(connection, key, *new)
    else:
        insert_version(connection, key, *current)
        replace_current(connection, key, *new)


def check_apart(versions: Iterable[Version]) -> None:
    """FieldError where a version is said to hold on after another has begun."""
    for version, following in pairwise(sorted(versions, key=lambda version: version.begins)):
        if version.valid_to is not None and version.valid_to > following.begins:
            raise FieldError(
                f"the version {version.entity.title!r} is said to hold until {version.valid_to}, "
                f"but {following.entity.title!r} begins on {following.valid_from}",
                "Periods of one entity must not overlap; without a valid_to a version holds until the next begins",
            )
