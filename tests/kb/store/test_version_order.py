"""What holds on a date depends neither on the order in which the versions came, nor on how they came."""

from __future__ import annotations

import shutil
from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entlink.documents import Entity
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.indexes.names import reindex
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add, sync
from entlink.kb.store.store import Store
from entlink.kb.store.transfer import export
from entlink.kb.store.writing import create_store
from entlink.sources import Page
from knowledge_bases import article, make_kb

DAYS = [f"{year}-01-01" for year in range(1990, 2012, 3)]
LAST = "2020-01-01"
Period = tuple[str | None, str | None]


@st.composite
def histories(draw) -> list[Period]:
    """Up to four periods that do not overlap: each ends before the next begins, or leaves its end open."""
    starts = sorted(draw(st.sets(st.sampled_from(DAYS), min_size=1, max_size=4)))
    ends = [
        draw(st.none() | st.sampled_from([day for day in [*DAYS, LAST] if start < day <= after]))
        for start, after in pairwise([*starts, LAST])
    ]
    if ends[0] is not None and draw(st.booleans()):
        return [(None, ends[0]), *zip(starts[1:], ends[1:], strict=True)]
    return list(zip(starts, ends, strict=True))


def expected(history: list[Period]) -> list[tuple[str, str | None, str | None]]:
    """The rule: an end that was left open is where the next version begins."""
    return [(f"From {start}", start, end or after) for (start, end), (after, _) in pairwise([*history, (None, None)])]


def found(folder, ids) -> dict[str, list[tuple[str, str | None, str | None]]]:
    store = Store(folder)
    try:
        every = {id: store.versions(store.key(id)) for id in ids}
    finally:
        store.close()
    return {
        id: [(one.entity.title, one.valid_from, one.valid_to) for one in sorted(versions, key=lambda one: one.begins)]
        for id, versions in every.items()
    }


def titles_then(folder, ids) -> list[list[str | None]]:
    """What each entity was called on each day; on days between, too."""
    titles = []
    for day in ("1980", *DAYS, *(day.replace("-01-01", "-07-01") for day in DAYS), LAST):
        with KnowledgeBase.open(folder, date=day) as kb:
            entities = [kb.get(id) for id in ids]
            titles.append([entity and entity.title for entity in entities])
            named = {name.entity for title in set(titles[-1]) - {None} for name in kb.aliases(title)}
            assert named == {entity.id for entity in entities if entity}
    return titles


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("empty")
    create_store(folder)
    return folder


@pytest.mark.parametrize("write", [add, sync])
@settings(max_examples=15, deadline=None)
@given(history=histories())
def test_edits_may_come_in_any_order(empty, tmp_path_factory, write, history):
    folder = shutil.copytree(empty, tmp_path_factory.mktemp("own") / "own.kb")
    orders = {str(number): order for number, order in enumerate(permutations(history))}
    write(folder, [Page(Entity(id, f"From {start}"), (), start, end) for id in orders for start, end in orders[id]])
    assert found(folder, orders) == dict.fromkeys(orders, expected(history))


@settings(max_examples=4, deadline=None)
@given(every=st.lists(histories(), min_size=4, max_size=8), shuffler=st.randoms(use_true_random=False))
def test_a_build_may_read_in_any_order(tmp_path_factory, every, shuffler):
    folder = tmp_path_factory.mktemp("builds")
    ids = {str(number): history for number, history in enumerate(every)}
    rows = [article(id, f"From {start}", valid_from=start, valid_to=end) for id in ids for start, end in ids[id]]
    one = make_kb(folder, rows, "one", count_text=False)
    shuffler.shuffle(rows)
    other = make_kb(folder, rows, "other", count_text=False)
    versions, titles = {id: expected(history) for id, history in ids.items()}, titles_then(one, ids)
    assert found(one, ids) == found(other, ids) == versions
    assert titles_then(other, ids) == titles
    reindex(other, processes=1)
    assert (found(other, ids), titles_then(other, ids)) == (versions, titles)
    export(other, folder / "out.jsonl")
    build([folder / "out.jsonl"], folder / "back.kb", BuildOptions(processes=1))
    assert (found(folder / "back.kb", ids), titles_then(folder / "back.kb", ids)) == (versions, titles)


ROWS = [
    article("x", "A", valid_from="1990"),
    article("x", "B", valid_from="2000", valid_to="2005"),
    article("x", "C", valid_from="2010"),
]


@pytest.mark.parametrize("rows", list(permutations(ROWS)), ids=lambda rows: "".join(row["title"] for row in rows))
def test_an_open_end_is_where_the_next_version_begins(tmp_path, opened, rows):
    folder = make_kb(tmp_path, rows)
    years = ("1989", "1990", "1999", "2000", "2004", "2005", "2007", "2010", "2024")
    then = [opened(folder, date=year).get("x") for year in years]
    assert [entity and entity.title for entity in then] == [None, "A", "A", "B", "B", None, None, "C", "C"]


@pytest.mark.parametrize("order", [1, -1])
def test_a_row_without_dates_is_the_first_version(tmp_path, opened, order):
    folder = make_kb(tmp_path, [article("x", "Ever"), article("x", "Now", valid_from="2000")][::order])
    assert [opened(folder, date=year).require("x").title for year in ("1999", "2000")] == ["Ever", "Now"]
