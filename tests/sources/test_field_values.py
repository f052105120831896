from __future__ import annotations

import calendar
import re
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.errors import FieldError
from entlink.sources.fields import as_date, as_names, as_word, cell_as_names


@given(st.datetimes(timezones=st.none() | st.just(UTC)), st.sampled_from("T "))
def test_every_iso_date_is_kept_as_it_is(when, separator):
    iso = when.isoformat(separator)
    for text in (iso, iso[:10], iso[:7], iso[:4]):
        assert as_date(text) == text


@given(st.integers(0, 9999), st.integers(0, 13), st.integers(0, 32))
def test_only_days_of_the_calendar_are_dates(year, month, day):
    text = f"{year:04}-{month:02}-{day:02}"
    if year and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]:
        assert as_date(text) == text
    else:
        with pytest.raises(FieldError, match="date"):
            as_date(text)


@pytest.mark.parametrize(
    "text",
    [
        "20210101",
        "2021-W01",
        "2021-1-1",
        "21",
        "2021-",
        "2021-01-",
        " 2021",
        "2021-01T10:00",
        "2021 ",
        "２０２１",
        "2021-01-01T25:00",
        "2021-01-01T10",
        "01/02/2021",
        "now",
        "2021-01-01\n",
        "-044",
        "12021",
    ],
)
def test_what_is_not_an_iso_date_is_refused(text):
    with pytest.raises(FieldError, match=re.escape(repr(text))):
        as_date(text)


@pytest.mark.parametrize("text", ["2021-01-01T10:00Z", "2021-01-01 10:00:00.5+00", "2021-01-01T10:00:00-05:30"])
def test_dates_with_a_time(text):
    assert as_date(text) == text


@pytest.mark.parametrize(("value", "date"), [(None, None), ("", None), (2021, "2021")])
def test_dates_that_are_no_text(value, date):
    assert as_date(value) == date


@pytest.mark.parametrize("value", [5, True, 2021.0, [], {}])
def test_dates_of_a_wrong_type(value):
    with pytest.raises(FieldError):
        as_date(value)


@given(st.lists(st.text(st.characters(exclude_characters="|[]", exclude_categories=["Cs"])), max_size=5))
def test_cells_split_at_bars(names):
    assert cell_as_names("|".join(names)) == as_names(names)


def test_one_text_is_a_list_of_one():
    assert as_names("a|b") == ("a|b",)
    assert as_word("  ") is None
