"""Changing the history of an entity: `add`, `add(replace=True)` and `sync` with dates."""

from __future__ import annotations

import pytest

from entlink.documents import Entity
from entlink.errors import ExistsError, InputError, SourceError
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import SyncReport, add, sync
from entlink.kb.store.transfer import export
from entlink.sources import Page
from knowledge_bases import article, make_kb, supports


@pytest.fixture
def folder(copied_kb):
    """An entity that was renamed in 2000, and one that was not."""
    rows = [
        article("x", "Old", types=["village"], valid_from="1990"),
        article("x", "New", types=["town"], valid_from="2000"),
        article("y", "Why"),
    ]
    return copied_kb(rows)


def page(title: str, valid_from: str | None = None, valid_to: str | None = None, id: str = "x") -> Page:
    return Page(Entity(id, title), (), valid_from, valid_to)


def history(folder, id: str = "x") -> list[tuple[str, str | None, str | None]]:
    with KnowledgeBase.open(folder) as kb:
        return [(one.entity.title, one.valid_from, one.valid_to) for one in kb.versions(id)]


BEFORE = [("Old", "1990-01-01", "2000-01-01"), ("New", "2000-01-01", None)]
PUTS = [lambda folder, rows: add(folder, rows, replace=True), sync]


@pytest.fixture(params=PUTS, ids=["replace", "sync"])
def put(request):
    return request.param


# Which version a row means


def test_a_row_changes_the_version_that_begins_on_its_date(folder, put):
    put(folder, [page("Older", "1990-01-01T00:00Z")])
    assert history(folder) == [("Older", "1990-01-01", "2000-01-01"), BEFORE[1]]
    put(folder, [page("Newer", "2000-01", "2010")])
    assert history(folder) == [("Older", "1990-01-01", "2000-01-01"), ("Newer", "2000-01-01", "2010-01-01")]


def test_a_row_without_dates_changes_the_current_version(folder, put):
    put(folder, [page("Newest")])
    assert history(folder) == [BEFORE[0], ("Newest", "2000-01-01", None)]


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2010", [*BEFORE[:1], ("New", "2000-01-01", "2010-01-01"), ("It", "2010-01-01", None)]),
        ("1995", [("Old", "1990-01-01", "1995-01-01"), ("It", "1995-01-01", "2000-01-01"), BEFORE[1]]),
        ("1980", [("It", "1980-01-01", "1990-01-01"), *BEFORE]),
    ],
)
def test_a_row_from_another_date_is_a_further_version(folder, put, date, expected):
    put(folder, [page("It", date)])
    assert history(folder) == expected


def test_an_entity_without_dates_takes_those_of_a_row(folder, put):
    put(folder, [page("Why", "2005", id="y")])
    assert history(folder, "y") == [("Why", "2005-01-01", None)]
    put(folder, [page("Because", None, "2005", id="y")])
    assert history(folder, "y") == [("Because", None, "2005-01-01"), ("Why", "2005-01-01", None)]


def test_what_is_found_follows_the_current_version(folder, put, opened):
    put(folder, [Page(Entity("x", "Newest", types=("city",), external={"wikidata": "Q1"}), (), "2010")])
    kb = opened(folder)
    assert kb.require("Q1").title == "Newest"
    assert dict(kb.type_counts()) == {"city": 1}
    assert (supports(kb, "New"), "x" in supports(kb, "Newest")) == ({}, True)
    assert "x" in supports(opened(folder, date="2005"), "New")


# What cannot be


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (page("It", None, "2020"), r"'It' is said to hold until 2020-01-01, but 'Old' begins on 1990-01-01"),
        (page("It", "1995", "2001"), r"'It' is said to hold until 2001-01-01, but 'New' begins on 2000-01-01"),
        (page("It", "1990", "2001"), r"'It' is said to hold until 2001-01-01, but 'New' begins on 2000-01-01"),
        (page("It", "2010", "2009"), "'2009' is not after valid_from '2010'"),
        (page("It", "some day"), "field 'valid_from' holds the bad date 'some day'"),
        (page("It", "2010", ""), "field 'valid_to' holds the bad date ''"),
    ],
)
def test_a_period_that_cannot_be_changes_nothing(folder, put, row, problem):
    with pytest.raises(InputError, match=f"entity 'x': .*{problem}"):
        put(folder, [page("Zed", id="z"), row])
    assert history(folder) == BEFORE
    assert history(folder, "z") == []


def test_a_version_that_overlaps_another_is_not_added(folder):
    with pytest.raises(InputError, match="Periods of one entity must not overlap"):
        add(folder, [page("It", "1995", "2005")])
    with pytest.raises(ExistsError, match="has a version from 2000-01-01 already"):
        add(folder, [page("It", "2000-01-01T01:00+01:00")])
    assert history(folder) == BEFORE


def test_only_what_comes_out_in_the_end_must_fit(folder, put):
    put(folder, [page("Old", "1990", "2000")])
    put(folder, [page("Middle", "1995", "2000"), page("Old", "1990", "1995")])
    assert history(folder) == [("Old", "1990-01-01", "1995-01-01"), ("Middle", "1995-01-01", "2000-01-01"), BEFORE[1]]


@pytest.mark.parametrize("order", [1, -1])
def test_rows_of_a_build_that_overlap_are_told(tmp_path, order):
    rows = [article("a", "One", valid_from="1990", valid_to="2001"), article("a", "Two", valid_from="2000")][::order]
    with pytest.raises(SourceError, match=r"record 2: id 'a' .*'One' is said to hold until 2001-01-01, but 'Two'"):
        make_kb(tmp_path, rows)


def test_one_date_written_in_two_ways_is_one_date(tmp_path):
    rows = [article("a", "One", valid_from="1995"), article("a", "Two", valid_from="1995-01-01")]
    with pytest.raises(SourceError, match="the id 'a' appears a second time"):
        make_kb(tmp_path, rows)
    folder = make_kb(tmp_path, rows, on_error="skip")
    assert history(folder, "a") == [("One", "1995-01-01", None)]


# Dates with times


@pytest.mark.parametrize(
    ("date", "title"),
    [
        ("2010-01-01", "New"),
        ("2010", "New"),
        ("2009-12-31T23:59:59.9", "Old"),
        ("2010-01-01T01:00+01:00", "New"),
        ("2010-01-01T00:59+01:00", "Old"),
    ],
)
def test_dates_are_compared_as_instants(tmp_path, opened, date, title):
    rows = [article("a", "Old", valid_to="2010"), article("a", "New", valid_from="2010-01-01T00:00:00Z")]
    assert opened(make_kb(tmp_path, rows), date=date).require("a").title == title


def test_a_time_is_kept_in_utc(folder):
    add(folder, [page("Noon", "2010-05-01T14:00+02:00")])
    assert history(folder)[-1] == ("Noon", "2010-05-01T12:00:00+00:00", None)


# Sync


def test_sync_takes_dated_versions(folder):
    rows = [page("Newest", "2010"), page("Why", id="y"), page("Old", "1990"), page("New", "2000", "2010")]
    rows[2] = Page(Entity("x", "Old", types=("village",)), (), "1990")
    assert sync(folder, rows) == SyncReport(added=1, changed=1, unchanged=2)
    assert sync(folder, rows) == SyncReport(unchanged=4)
    assert [title for title, *_ in history(folder)] == ["Old", "New", "Newest"]


def test_sync_of_a_new_entity_with_its_versions(folder):
    rows = [page("Two", "2000", id="z"), page("One", None, "2000", id="z")]
    assert sync(folder, rows) == SyncReport(added=2)
    assert history(folder, "z") == [("One", None, "2000-01-01"), ("Two", "2000-01-01", None)]


def test_sync_with_delete_keeps_entities_of_which_a_version_is_there(folder):
    assert sync(folder, [page("Old", "1990"), page("New", "2000")], delete=True).removed == 1
    assert [title for title, *_ in history(folder)] == ["Old", "New"]
    assert history(folder, "y") == []


@pytest.mark.parametrize(
    "rows",
    [
        [page("A"), page("B")],
        [page("A"), page("B", "2000")],
        [page("A", "2000"), page("B")],
        [page("A", "2000"), page("B", "2000-01-01T00:00Z")],
        [page("A", None, "1990"), page("B", None, "1980")],
    ],
)
def test_an_id_twice_without_dates_that_tell_the_rows_apart(folder, rows):
    with pytest.raises(InputError, match="the id 'x' appears twice in the table"):
        sync(folder, rows)
    assert history(folder) == BEFORE


def test_an_export_synced_back_changes_nothing(folder, tmp_path):
    from entlink.sources import open_source

    add(folder, [page("Newest", "2010")])
    lines = export(folder, tmp_path / "out.jsonl")
    assert sync(folder, open_source(tmp_path / "out.jsonl"), delete=True) == SyncReport(unchanged=lines)
