from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.errors import FieldError, InputError
from entlink.text.dates import check_period, in_utc, moment

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
# A day from either end of the calendar, so that no zone leads out of it.
MOMENTS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.just(UTC) | ZONES)


@given(st.datetimes(timezones=st.none() | st.just(UTC)), st.sampled_from("T "))
def test_a_date_of_any_precision_is_the_instant_it_begins(when, separator):
    iso = when.isoformat(separator)
    assert moment(iso) == when.replace(tzinfo=UTC)
    assert moment(iso[:7]) == datetime(when.year, when.month, 1, tzinfo=UTC)


@given(MOMENTS, MOMENTS)
def test_stored_dates_sort_as_text_like_the_instants(one, other):
    first, second = in_utc(one.isoformat()), in_utc(other.isoformat())
    assert (first < second, first == second) == (one < other, one == other)
    assert moment(first) == one
    assert in_utc(first) == first


@given(st.datetimes(timezones=st.just(UTC)), st.integers(1, 999_999))
def test_fractions_of_a_second_sort_after_the_second(when, microsecond):
    whole = when.replace(microsecond=0)
    assert in_utc(whole.isoformat()) < in_utc(whole.replace(microsecond=microsecond).isoformat())


@pytest.mark.parametrize(
    ("given_date", "stored"),
    [
        ("1995", "1995-01-01"),
        ("1995-01", "1995-01-01"),
        ("1995-01-01", "1995-01-01"),
        ("1995-01-01T00:00:00Z", "1995-01-01"),
        ("1995-01-01 00:00", "1995-01-01"),
        ("1995-01-01T02:00+02:00", "1995-01-01"),
        ("1995-01-01T00:00+02", "1994-12-31T22:00:00+00:00"),
        ("1995-01-01T10:30", "1995-01-01T10:30:00+00:00"),
        ("0330-05-11", "0330-05-11"),
    ],
)
def test_one_form_for_all_ways_to_write_a_date(given_date, stored):
    assert in_utc(given_date) == stored


@pytest.mark.parametrize("date", ["0001-01-01T00:00+01:00", "9999-12-31T23:59-01:00", "2020-02-30", "soon", ""])
def test_what_is_no_date_in_utc(date):
    with pytest.raises(FieldError, match="date"):
        in_utc(date)


def test_a_bad_date_says_how_dates_are_written():
    with pytest.raises(InputError, match=r"'soon'\. Dates are written YYYY, YYYY-MM or YYYY-MM-DD"):
        in_utc("soon")


@given(st.datetimes(), st.datetimes())
def test_period_must_hold_an_instant(start, end):
    if start < end:
        check_period(start.isoformat(), end.isoformat())
    else:
        with pytest.raises(FieldError, match="is not after"):
            check_period(start.isoformat(), end.isoformat())


def test_periods_are_compared_in_one_zone():
    check_period("2021-01-01T10:00+02:00", "2021-01-01T09:00Z")
    with pytest.raises(FieldError):
        check_period("2021-01-01T10:00Z", "2021-01-01T11:30+02:00")
    check_period("2021", None)
    check_period(None, "2021")
