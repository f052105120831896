"""A history written by hand, `tests/golden/history/lyre.xml`, beside what was counted in it by hand."""

from __future__ import annotations

import json

import pytest

from entlink.sources import Meanings, Page, WikiOptions
from histories import GOLDEN, at, read_dated, redirects

ANSWERS = json.loads((GOLDEN / "answers.json").read_text(encoding="utf8"))
SNAPSHOTS = pytest.mark.parametrize("snapshot", range(3), ids=["2013", "2014", "2015"])


@pytest.fixture(scope="module")
def lyre():
    return read_dated(GOLDEN / "lyre.xml", ANSWERS["dates"])


@SNAPSHOTS
def test_title_revision_and_links_of_each_page(lyre, snapshot):
    pages = [item for item in at(lyre[0], snapshot) if isinstance(item, Page)]
    found = [
        [page.entity.title, int(page.entity.external["revision"]), sum(len(each.links) for each in page.paragraphs)]
        for page in pages
    ]
    assert found == [page[snapshot] for page in ANSWERS["pages"] if page[snapshot] is not None]


@SNAPSHOTS
def test_redirects_are_those_of_the_time(lyre, snapshot):
    assert redirects(lyre[0], snapshot) == ANSWERS["redirects"][snapshot]


@SNAPSHOTS
def test_disambiguation_pages_are_those_of_the_time(lyre, snapshot):
    (found,) = (item for item in at(lyre[0], snapshot) if isinstance(item, Meanings))
    assert found == Meanings("Avon (disambiguation)", "Avon", tuple(ANSWERS["meanings"][snapshot]))


def test_when_pages_were_made_and_revised(lyre):
    entities = [item.entity for item in (dated.item for dated in lyre[0]) if isinstance(item, Page)]
    created = {entity.title: entity.created for entity in entities}
    assert {title: created[title] for title in ANSWERS["created"]} == ANSWERS["created"]
    revised = {entity.external["revision"]: entity.revised for entity in entities}
    assert revised["102"] == "2012-12-20T00:00:00Z"
    assert revised["1302"] == "2011-11-11T11:11:11Z"


def test_what_is_left_out_is_counted(lyre):
    assert lyre[1].left_out == {"not there at any of the snapshots": 1, "of the namespace Talk": 1}
    assert lyre[1].skipped == 0


def test_an_entity_of_a_revision(lyre):
    page = next(dated.item for dated in lyre[0] if dated.snapshots == [0])
    assert page.entity.external == {"page": "1", "revision": "101"}
    assert (page.entity.id, page.entity.language) == ("River Avon", "en")
    assert page.entity.description.startswith("The River Avon flows past Avon and the castle.")
    assert (page.valid_from, page.valid_to) == (None, None)


def test_one_revision_is_parsed_once_for_all_snapshots(lyre):
    chosen = [tuple(dated.item.entity.external.values()) for dated in lyre[0] if isinstance(dated.item, Page)]
    assert len(set(chosen)) == len(chosen)
    assert [dated.snapshots for dated in lyre[0] if isinstance(dated.item, Page)][3:5] == [[0], [1, 2]]


def test_ids_are_numbers_where_that_is_asked_for():
    items, _ = read_dated(GOLDEN / "lyre.xml", ANSWERS["dates"], wiki=WikiOptions(ids="page"))
    castle = [dated.item.entity for dated in items if isinstance(dated.item, Page) and dated.item.entity.id == "3"]
    assert [entity.title for entity in castle] == ["Castle of Avon", "Avon Castle"]
