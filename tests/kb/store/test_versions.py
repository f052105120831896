from __future__ import annotations

import random

import pytest

from entlink.documents import Entity
from entlink.errors import InputError, SourceError
from entlink.kb.names import alias_writer
from entlink.kb.store.edits import add
from entlink.sources.page import Page
from knowledge_bases import article, make_kb, supports

CITY = [
    article("city", "Byzantium", "First.", aliases=["Lygos"], valid_to="0330-05-11"),
    article(
        "city", "Constantinople", "Second.", aliases=["New Rome"], valid_from="0330-05-11", valid_to="1930-03-28"
    ),
    article("city", "Istanbul", "Third.", valid_from="1930-03-28"),
    article("rome", "Rome", "Eternal. [[city|New Rome]] is [[city|the City]]."),
    article("young", "Brasília", "New.", valid_from="1960-04-21"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_kb(tmp_path_factory.mktemp("dated"), CITY)


@pytest.fixture
def kb(folder, opened):
    return opened(folder)


@pytest.fixture
def as_of(folder, opened):
    return lambda date: opened(folder, date=date)


@pytest.mark.parametrize(
    ("date", "title", "description"),
    [
        ("0300-01-01", "Byzantium", "First."),
        ("0330-05-10", "Byzantium", "First."),
        ("0330-05-11", "Constantinople", "Second."),
        ("1930-03-27", "Constantinople", "Second."),
        ("1930-03-28", "Istanbul", "Third."),
        ("2024", "Istanbul", "Third."),
    ],
)
def test_titles_and_descriptions_of_a_date(as_of, date, title, description):
    entity = as_of(date).require("city")
    assert (entity.title, entity.description) == (title, description)


def test_without_a_date_the_latest_version_holds(kb):
    assert kb.require("city").title == "Istanbul"
    assert supports(kb, "Byzantium") == {}
    assert supports(kb, "Istanbul") == {"city": 3}


def test_names_of_a_date(as_of):
    old = as_of("0300-01-01")
    assert supports(old, "Byzantium") == {"city": 3}
    assert supports(old, "Lygos") == {"city": 2}
    assert supports(old, "Istanbul") == {}
    middle = as_of("1000-01-01")
    assert supports(middle, "Lygos") == {}
    assert supports(middle, "New Rome") == {"city": 1 + 2}  # a link, and an alias of that time


def test_links_count_as_long_as_the_entity_exists_but_not_for_a_name_to_come(as_of, kb):
    assert supports(kb, "the City") == {"city": 1}
    assert supports(as_of("0300-01-01"), "the City") == {"city": 1}
    assert supports(kb, "New Rome") == {"city": 1}
    assert supports(as_of("0300-01-01"), "New Rome") == {}


def test_links_bring_no_naming_along_on_a_date(tmp_path, opened, monkeypatch):
    """Of a form with too many entities the links may be kept and the naming left out: on a date as without one."""
    monkeypatch.setattr(alias_writer, "MAX_POSTINGS", 1)
    rows = [article("planet", "Mercury", "[[planet|Mercury]] [[planet|Mercury]]", valid_from="2000-01-01")]
    folder = make_kb(tmp_path, rows, "cut")
    for kb in (opened(folder), opened(folder, date="2001-01-01")):
        assert supports(kb, "Mercury") == {"planet": 2}
        assert [name.sources for name in kb.aliases("Mercury")] == [["anchor"]]


def test_an_entity_that_did_not_exist_yet(as_of):
    old = as_of("1960-04-20")
    assert old.get("young") is None
    assert old.resolve("Brasília") is None
    assert supports(old, "Brasília") == {}
    assert {entity.id for entity in old} == {"city", "rome"}
    assert len(old) == 2
    assert supports(as_of("1960-04-21"), "Brasília") == {"young": 3}


def test_a_year_or_month_is_its_first_day(as_of):
    assert as_of("1930").require("city").title == "Constantinople"
    assert as_of("1930-04").require("city").title == "Istanbul"
    assert as_of("1961").get("young") is not None


def test_a_version_that_begins_with_the_year_holds_in_it(tmp_path, opened):
    rows = [article("a", "Old", valid_to="2020-01-01"), article("a", "New", valid_from="2020-01-01")]
    folder = make_kb(tmp_path, rows)
    assert [opened(folder, date=date).require("a").title for date in ("2020", "2020-01", "2019-12-31")] == [
        "New",
        "New",
        "Old",
    ]


@pytest.mark.parametrize("date", ["yesterday", "2020-13-01", "2020-02-30", "", "20200101"])
def test_what_is_no_date(folder, date, opened):
    with pytest.raises(InputError, match="not an ISO date"):
        opened(folder, date=date)


def test_all_versions_oldest_first(kb):
    versions = kb.versions("city")
    assert [version.entity.title for version in versions] == ["Byzantium", "Constantinople", "Istanbul"]
    assert [(version.valid_from, version.valid_to) for version in versions] == [
        (None, "0330-05-11"),
        ("0330-05-11", "1930-03-28"),
        ("1930-03-28", None),
    ]
    assert kb.versions("nothing so") == []


def test_as_of_opens_the_same_knowledge_base_at_a_date(kb):
    with kb.as_of("1000-01-01") as old:
        assert old.require("city").title == "Constantinople"


@pytest.mark.parametrize("seed", range(4))
def test_versions_may_come_in_any_order_and_without_their_ends(tmp_path, opened, seed):
    years = [1900, 1920, 1940, 1960, 1980]
    rows = [article("a", f"Name {year}", valid_from=f"{year}-01-01") for year in years]
    random.Random(seed).shuffle(rows)
    folder = make_kb(tmp_path, rows)
    found = [opened(folder, date=f"{year + 10}-06-01").require("a").title for year in years]
    assert found == [f"Name {year}" for year in years]
    assert opened(folder, date="1899-12-31").get("a") is None


def test_versions_added_later_hold_as_those_built_do(tmp_path, opened):
    folder = make_kb(tmp_path, [article("a", "Middle", valid_from="1950")])
    add(folder, [Page(Entity("a", "Late"), valid_from="2000"), Page(Entity("a", "Early"), valid_from="1900")])
    titles = [opened(folder, date=date).require("a").title for date in ("1910", "1960", "2010")]
    assert titles == ["Early", "Middle", "Late"]
    assert supports(opened(folder, date="1910"), "Early") == {"a": 3}


def test_two_versions_from_one_date_are_an_error(tmp_path):
    rows = [article("a", "One", valid_from="1900"), article("a", "Two", valid_from="1900")]
    with pytest.raises(SourceError, match=r"made\.jsonl, record 2: the id 'a' appears a second time"):
        make_kb(tmp_path, rows)
