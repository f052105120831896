from __future__ import annotations

import sqlite3
import tracemalloc
from contextlib import closing

import msgspec
import pytest

from entlink.documents import Entity
from entlink.io.progress import ignore_progress
from entlink.kb.indexes.names import reindex
from entlink.kb.store.edits import add, remove
from entlink.kb.store.manifest import OpeningTotals
from entlink.kb.store.openings import find_openings, put_opening, settle_openings
from entlink.kb.store.store import DATABASE, Store
from entlink.kb.store.writing import replace_current, transaction
from entlink.text.folding import key_of
from knowledge_bases import article, make_kb, supports

PLACES = [
    article("movie", "Movie", "A movie, also called a film or motion picture, is a story."),
    article("picture", "Picture", "A picture, or film, is an image."),
    article("herb", "Coriander", "Coriander, also known as cilantro, LA or Greens, is a herb."),
    article("la", "Los Angeles", "Los Angeles (L.A.) is a city.", aliases=["LA"]),
    article("greens", "Greens", "Greens are leaves."),
    article("colour", "Colour", "Colour or color is what light looks like."),
    article("color", "Color", "Color or colour is what light looks like."),
    article("tee", "Tee", "Tee, also called chai, is a drink.", language="de"),
]


@pytest.fixture
def places(copied_kb):
    return copied_kb(PLACES, "places")


def sources(kb, surface):
    return {name.entity: name.sources for name in kb.aliases(surface)}


def test_openings_can_be_left_unread(tmp_path, opened):
    kb = opened(make_kb(tmp_path, PLACES, "plain", names_in_openings=False))
    assert supports(kb, "cilantro") == {} and kb.resolve("Cilantro") is None
    assert kb.manifest().openings is None


def test_names_come_with_their_source_and_are_weaker_than_given_ones(places, opened):
    kb = opened(places)
    assert sources(kb, "cilantro") == {"herb": ["opening"]}
    assert supports(kb, "LA") == {"la": 2, "herb": 1}
    assert supports(kb, "film") == {"movie": 1, "picture": 1}
    assert supports(kb, "chai") == {}


def test_the_title_of_another_is_a_name_only_if_both_name_each_other(places, opened):
    kb = opened(places)
    assert supports(kb, "Greens") == {"greens": 3}
    assert supports(kb, "color") == {"colour": 1}
    assert supports(kb, "colour") == {"color": 1}


def test_a_name_that_is_nobody_elses_redirects(places, opened):
    kb = opened(places)
    found = {name: entity.id for name in ("Cilantro", "Motion picture", "Film", "LA", "L.A.", "Greens", "Color")
             if (entity := kb.resolve(name))}  # fmt: skip
    assert found == {
        "Cilantro": "herb",
        "Motion picture": "movie",
        "Greens": "greens",
        "L.A.": "la",
        "Color": "color",
    }
    # film, film, motion picture, cilantro, LA, Greens, L.A., color, colour: all but Greens hold
    assert kb.manifest().openings == OpeningTotals(found=9, names=8, redirects=3)


def test_a_redirect_that_is_given_stays(places, opened):
    with closing(Store(places, writable=True)) as store, transaction(store) as connection:
        connection.execute("DELETE FROM redirects WHERE source = 'Cilantro'")
        connection.execute("INSERT INTO redirects VALUES ('CILANTRO', 'Greens')")
        assert settle_openings(store, ignore_progress) == OpeningTotals(found=9, names=8, redirects=2)
    kb = opened(places)
    assert kb.require("CILANTRO").id == "greens"
    assert kb.resolve("Cilantro") is None
    assert kb.require("Motion picture").id == "movie"


def test_edits(places, opened):
    kb = opened(places)
    herb = kb.require("herb")
    add(places, [msgspec.structs.replace(herb, title="Coriandrum")], replace=True)
    kb.refresh()
    assert sources(kb, "cilantro") == {"herb": ["opening"]}  # of the same description
    add(places, [msgspec.structs.replace(herb, description="A herb.")], replace=True)
    kb.refresh()
    assert supports(kb, "cilantro") == {} and kb.resolve("Cilantro") is None
    remove(places, ["movie"])
    add(places, [Entity("new", "New", "New, also called newest, is new.")])
    kb.refresh()
    assert supports(kb, "film") == {"picture": 1}
    assert kb.resolve("Motion picture") is None
    assert supports(kb, "newest") == {}  # an entity that is added gives the names that it is given
    reindex(places)
    assert supports(opened(places), "film") == {"picture": 1}


def test_as_of_a_date_names_hold_while_their_entity_is_there(tmp_path, opened):
    rows = [article("tea", "Tea", "Tea, also called chai, is a drink.", valid_from="2000-01-01")]
    path = make_kb(tmp_path, rows, "dated", names_in_openings=True)
    assert supports(opened(path, date="2001-01-01"), "chai") == {"tea": 1}
    assert supports(opened(path, date="1999-01-01"), "chai") == {}


def test_the_same_build_gives_the_same_names(tmp_path, places):
    again = make_kb(tmp_path, PLACES, "again", names_in_openings=True, processes=2)
    for query in ("SELECT * FROM opening_names", "SELECT * FROM redirects"):
        rows = []
        for folder in (places, again):
            with closing(sqlite3.connect(folder / DATABASE)) as connection:
                rows.append(connection.execute(query).fetchall())
        assert rows[0] == rows[1] != []


def test_a_store_without_the_table_is_one_without_such_names(own_world, opened):
    with closing(sqlite3.connect(own_world / DATABASE)) as connection:
        connection.execute("DROP TABLE opening_names")
    add(own_world, [Entity("venus", "Venus", "Changed.")], replace=True)
    remove(own_world, ["york"])
    reindex(own_world)
    assert supports(opened(own_world), "Venus") != {}


def found_again(folder):
    with closing(Store(folder, writable=True)) as store, transaction(store):
        return find_openings(store, ignore_progress)


def rows_of(folder):
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        return [
            connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
            for table in ("opening_names", "redirects")
        ]


def test_found_twice_is_found_once(places):
    before = rows_of(places)
    assert found_again(places) == found_again(places) == OpeningTotals(found=9, names=8, redirects=3)
    assert rows_of(places) == before


def test_found_again_after_the_description_changed(places, opened):
    with closing(Store(places, writable=True)) as store, transaction(store) as connection:
        key = store.key("herb")
        plain = msgspec.structs.replace(store.entity(key), description="A herb.")
        replace_current(connection, key, plain, None, None)
    assert found_again(places) == OpeningTotals(found=6, names=6, redirects=2)
    assert opened(places).resolve("Cilantro") is None


def test_settling_holds_no_list_of_names(places):
    names = 20_000
    with closing(Store(places, writable=True)) as store, transaction(store) as connection:
        key = store.key("herb")
        for number in range(names):
            name = f"herb number {number} of those that are found in this opening"
            put_opening(connection, key, name)
            key_of(name)  # remembers so many and no more; what it remembers is not to be counted below
        tracemalloc.start()
        try:
            totals = settle_openings(store, ignore_progress)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert totals.redirects == names + 3
    assert peak < 20 * names  # bytes; a list of them takes ten times as much


def test_every_long_step_of_settling_is_told_before_it_begins(places):
    events = []
    with closing(Store(places, writable=True)) as store, transaction(store) as connection:
        connection.set_trace_callback(lambda statement: events.append(statement.split()))
        settle_openings(store, lambda what, done, total: events.append(None))
        connection.set_trace_callback(None)
    long = [
        number
        for number, words in enumerate(events)
        if words
        and (words[:2] in (["DELETE", "FROM"], ["CREATE", "INDEX"], ["INSERT", "OR"])
             or words[:4] == ["UPDATE", "opening_names", "SET", "holds"]
             or words[:4] == ["CREATE", "TEMP", "TABLE", "free_names"])
    ]  # fmt: skip
    assert len(long) == 8  # redirects cleared, names cleared, three indexes, what holds, what is free, redirects
    assert [events[number] for number in long if events[number - 1] is not None] == []
