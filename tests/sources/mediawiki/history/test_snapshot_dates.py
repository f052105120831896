from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.errors import InputError
from entlink.sources import HistoryOptions, snapshot_dates
from entlink.sources.mediawiki.dumps import Windows

YEARS = tuple(f"{year}-01-01T00:00:00Z" for year in range(2013, 2023))


@pytest.mark.parametrize(
    ("given", "dates"),
    [
        ("2013-01-01", ["2013-01-01T00:00:00Z"]),
        ("2014-01-01, 2013-01-01", ["2013-01-01T00:00:00Z", "2014-01-01T00:00:00Z"]),
        (["2014", "2013-06"], ["2013-06-01T00:00:00Z", "2014-01-01T00:00:00Z"]),
        ("2013-01-01,2013-01-01T12:00", ["2013-01-01T00:00:00Z", "2013-01-01T12:00:00Z"]),
        ("2013-01-01T01:00:00+01:00", ["2013-01-01T00:00:00Z"]),
        ("2013-01-01/2022-01-01/yearly", YEARS),
        ("2013-01-01/2022-12-31/Yearly", YEARS),
        (YEARS, YEARS),
        ("2013/2013/daily", ["2013-01-01T00:00:00Z"]),
        ("2012-12-31/2013-03-01/monthly", ["2012-12-31T00:00:00Z", "2013-01-31T00:00:00Z", "2013-02-28T00:00:00Z"]),
        ("2012-02-29/2014/yearly", ["2012-02-29T00:00:00Z", "2013-02-28T00:00:00Z"]),
        ("2013-01-01/2013-01-15/weekly", ["2013-01-01T00:00:00Z", "2013-01-08T00:00:00Z", "2013-01-15T00:00:00Z"]),
        ("2013-01-01/2013-01-02/43200", [f"2013-01-0{day}:00:00Z" for day in ("1T00", "1T12", "2T00")]),
        ("9998-12-31/9999-12-31/yearly", ["9998-12-31T00:00:00Z", "9999-12-31T00:00:00Z"]),
        ("9999-12-25/9999-12-31/weekly", ["9999-12-25T00:00:00Z"]),
        ("2011-01-01,2013-01-01/2014-01-01/yearly", [f"{year}-01-01T00:00:00Z" for year in (2011, 2013, 2014)]),
    ],
)
def test_dates_one_by_one_or_as_a_series(given, dates):
    assert snapshot_dates(given) == tuple(dates)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("", "no snapshot is given"),
        ([], "no snapshot is given"),
        (" , ", "no snapshot is given"),
        ("soon", "'soon' is no date of a snapshot: it holds the bad date"),
        ("2013-02-30", "'2013-02-30' is no date of a snapshot: it holds the impossible date"),
        ("2013-01-01,2013-01-01", "the snapshot 2013-01-01T00:00:00Z is given twice"),
        ("2013,2012/2014/yearly", "the snapshot 2013-01-01T00:00:00Z is given twice"),
        ("2014/2013/yearly", "is empty: it ends before it begins"),
        ("2013/2014", "is no series of snapshots"),
        ("2013/2014/yearly/2", "is no series of snapshots"),
        ("2013/2014/0", "the interval between snapshots is empty"),
        ("2013/2014/-5", "'-5' is no interval between snapshots"),
        ("2013/2014/hourly", "'hourly' is no interval between snapshots"),
        ("2013/2014/1", "makes more than 10,000 snapshots"),
    ],
)
def test_what_is_no_list_of_snapshots(given, problem):
    with pytest.raises(InputError, match=problem):
        snapshot_dates(given)


@given(st.lists(st.datetimes().map(lambda date: date.replace(microsecond=0)), min_size=1, max_size=5, unique=True))
def test_dates_are_full_stamps_in_order(dates):
    found = snapshot_dates([f"{date.year:04}-{date:%m-%dT%H:%M:%S}" for date in dates])
    assert list(found) == [f"{date.year:04}-{date:%m-%dT%H:%M:%SZ}" for date in sorted(dates)]
    assert snapshot_dates(found) == found


def test_windows_are_before_the_snapshots():
    options = HistoryOptions(("2013-01-01T00:00:00Z", "2013-01-02T00:00:00Z"), 86_400)
    assert options.windows() == Windows(("2012-12-31T00:00:00Z", "2013-01-01T00:00:00Z"), options.dates)
    first = HistoryOptions(("0001-01-02T00:00:00Z",))
    assert first.windows().starts == ("0001-01-01T00:00:00Z",)


@pytest.mark.parametrize(
    ("dates", "interval", "problem"),
    [
        (("2014-01-01T00:00:00Z", "2013-01-01T00:00:00Z"), 5, "are not in order"),
        (("2014-01-01",), 5, "not written in full"),
        ((), 5, "no snapshot is given"),
        (("2014-01-01T00:00:00Z",), 0, "the stable interval of 0 seconds is empty"),
    ],
)
def test_options_that_cannot_be(dates, interval, problem):
    with pytest.raises(InputError, match=problem):
        HistoryOptions(dates, interval)
