from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from entlink.documents import Entity
from entlink.errors import InputError
from entlink.kb.build.match_titles import TitleMatching
from entlink.kb.build.merge import merge
from entlink.kb.store.edits import add, block, pin
from entlink.kb.store.manifest import MergeTotals, OpeningTotals
from entlink.kb.store.store import DATABASE, Store
from entlink.kb.store.writing import create_store, insert_redirects, transaction
from knowledge_bases import article, make_kb, supports

SIMPLE = [
    article("1", "Movie", "A movie, or film, is a story. [[1|Movies]]", types=["art"], external={"wikidata": "Q1"}),
    article("2", "Colour", "Colour or color is what light looks like."),
    article("3", "Cat", "A cat is an animal. [[3|cats]]", aliases=["kitty"]),
    article("4", "Mercury", "Mercury is a planet."),
    article("5", "Soccer", "Soccer is a game."),
    article("6", "Java", "Java, also known as coffee, is a drink."),
]
ENGLISH = [
    article("3", "Film", "A film, also called a movie, is a story. [[3|Films]] [[7|cats]]", types=["medium"]),
    article("2", "Color", "Color or colour is what is seen.", external={"wikidata": "Q2"}),
    article("7", "Cat", "The cat is a species. [[7|cats]]", aliases=["house cat", "kitty"]),
    article("4", "Football", "Football is played. [[7|cat]]"),
    article("8", "Coffee", "Coffee is a drink."),
    article("9", "Zebra", "A zebra is an animal."),
]


@pytest.fixture
def simple(tmp_path):
    return make_kb(tmp_path, SIMPLE, "simple", names_in_openings=True, descriptions="full")


@pytest.fixture
def english(tmp_path):
    folder = make_kb(tmp_path, ENGLISH, "english", names_in_openings=True, descriptions="full")
    with closing(Store(folder, writable=True)) as store:
        insert_redirects(store, [("Soccer", "Football"), ("Moggy", "7")])
    return folder


@pytest.fixture
def both(tmp_path, simple, english):
    merge([simple, english], tmp_path / "both.kb", by="title", processes=1)
    return tmp_path / "both.kb"


def test_what_is_one_is_joined(both, opened):
    kb = opened(both)
    # Movie, Colour, Cat, Mercury, Soccer and Java of the first; Coffee and Zebra are new.
    assert [(entity.id, entity.title) for entity in kb] == [
        ("1", "Movie"), ("2", "Colour"), ("3", "Cat"), ("4", "Mercury"), ("5", "Soccer"), ("6", "Java"),
        ("8", "Coffee"), ("9", "Zebra"),
    ]  # fmt: skip
    assert kb.manifest().joined == MergeTotals(by_title=1, by_redirect=1, by_openings=2, renamed=0)


def test_the_first_keeps_its_text_and_gets_the_names_of_the_other(both, opened):
    kb = opened(both)
    movie, cat, colour = kb.require("1"), kb.require("Cat"), kb.require("Colour")
    assert (movie.aliases, movie.types, movie.description[:7]) == (("Film",), ("art", "medium"), "A movie")
    assert cat.aliases == ("kitty", "house cat")
    assert colour.external == {"wikidata": "Q2"}
    assert supports(kb, "Film")["1"] == 2


def test_everything_is_found_by_what_it_was_called(both, opened):
    kb = opened(both)
    found = {name: kb.require(name).id for name in ("Film", "Color", "Football", "Moggy", "Soccer", "7", "Q1", "Q2")}
    assert found == {
        "Film": "1", "Color": "2", "Football": "5", "Moggy": "3", "Soccer": "5", "7": "3", "Q1": "1", "Q2": "2",
    }  # fmt: skip
    # Its own id was somebody else's: with the name of the knowledge base before it, it is found.
    assert [kb.require(f"english:{id}").id for id in ("3", "2", "7", "4")] == ["1", "2", "3", "5"]
    assert kb.require("4").title == "Mercury"


def test_links_follow_their_entities(both, opened):
    kb = opened(both)
    assert supports(kb, "cats") == {"3": 3}  # one of the first, two of the second
    assert supports(kb, "Films") == {"1": 1}
    assert kb.manifest().links == 6
    (link,) = kb.hyperlinks("1")
    assert link[1] == "1"
    assert kb.hyperlinks("5") == []  # the text of the second is gone, and its link with it


def test_names_of_openings_are_settled_anew(both, opened):
    kb = opened(both)
    assert supports(kb, "coffee") == {"8": 3}  # in the first alone Java had the name, but here it is a title
    assert kb.require("Coffee").id == "8"
    assert kb.manifest().openings == OpeningTotals(found=5, names=2, redirects=0)


def test_one_way_is_not_enough(tmp_path, opened):
    one = make_kb(
        tmp_path, [article("a", "Tea", "Tea, also called chai, is a drink.")], "one", names_in_openings=True
    )
    two = make_kb(tmp_path, [article("b", "Chai", "Chai is a spice mix.")], "two", names_in_openings=True)
    manifest = merge([one, two], tmp_path / "both.kb", by="title", processes=1)
    assert manifest.joined == MergeTotals()
    kb = opened(tmp_path / "both.kb")
    assert (kb.require("Chai").id, supports(kb, "chai")) == ("b", {"b": 3})


def test_ids_that_collide_are_told_apart(tmp_path, opened):
    one = make_kb(tmp_path, [article("1", "Ant", ""), article("two:2", "Gnu", "")], "one")
    two = make_kb(tmp_path, [article("1", "Bee", ""), article("2", "Emu", "[[1|bees]] [[2|emus]]")], "two")
    pin(two, "buzz", "1")
    three = make_kb(tmp_path, [article("1", "Cow", ""), article("2", "Ant", "")], "three")
    block(three, "moo")
    add(three, [Entity("two:1", "Dog")])
    manifest = merge([one, two, three], tmp_path / "all.kb", by="title", processes=1)
    assert manifest.joined == MergeTotals(by_title=1, renamed=3)
    kb = opened(tmp_path / "all.kb")
    assert [(entity.id, entity.title) for entity in kb] == [
        ("1", "Ant"), ("two:2", "Gnu"), ("two:1", "Bee"), ("2", "Emu"), ("three:1", "Cow"), ("three:two:1", "Dog"),
    ]  # fmt: skip
    assert [name.entity for name in kb.aliases("buzz")] == ["two:1"]
    assert supports(kb, "bees") == {"two:1": 1}
    assert kb.meaning("moo").blocked
    assert kb.require("three:2").id == "1"


def test_a_title_that_several_have_is_left_alone(tmp_path):
    one = make_kb(tmp_path, [article("a", "Paris", ""), article("b", "Paris", "")], "one")
    two = make_kb(tmp_path, [article("c", "Paris", ""), article("d", "Rome", "")], "two")
    three = make_kb(tmp_path, [article("e", "Rome", ""), article("f", "Rome", "")], "three")
    manifest = merge([one, two, three], tmp_path / "all.kb", by="title", processes=1)
    assert (manifest.entities, manifest.joined) == (6, MergeTotals())


def test_a_redirect_joins_only_what_no_title_does(tmp_path, opened):
    one = make_kb(tmp_path, [article("a", "Movie", "")], "one")
    two = make_kb(tmp_path, [article("b", "Film", ""), article("c", "Movie", "")], "two")
    with closing(Store(one, writable=True)) as store:
        insert_redirects(store, [("Film", "Movie")])
    assert merge([one, two], tmp_path / "both.kb", by="title", processes=1).joined == MergeTotals(by_title=1)
    assert opened(tmp_path / "both.kb").require("Film").id == "b"


def test_it_is_the_same_every_time(tmp_path, simple, english, both):
    merge([simple, english], tmp_path / "again.kb", by="title", processes=2)
    for query in (
        "SELECT key, id, title, record FROM entities",
        "SELECT * FROM redirects",
        "SELECT * FROM opening_names",
    ):
        rows = []
        for folder in (both, tmp_path / "again.kb"):
            with closing(sqlite3.connect(folder / DATABASE)) as connection:
                rows.append(connection.execute(query).fetchall())
        assert rows[0] == rows[1] != []


def test_by_title_there_are_no_conflicts_to_settle(tmp_path, simple, english):
    with pytest.raises(InputError, match="leave on_conflict out"):
        merge([simple, english], tmp_path / "both.kb", by="title", on_conflict="first", processes=1)


def test_by_id_names_of_openings_are_settled_anew_too(tmp_path, simple, opened):
    other = make_kb(tmp_path, [article("x", "Coffee", "Coffee is a drink.")], "other")
    assert opened(simple).require("Coffee").id == "6"
    merge([simple, other], tmp_path / "both.kb", processes=1)
    kb = opened(tmp_path / "both.kb")
    assert (kb.require("Coffee").id, supports(kb, "coffee")) == ("x", {"x": 3})
    assert kb.require("Film").id == "1"


def test_every_long_step_of_matching_is_told_before_it_begins(tmp_path, simple, english):
    events = []
    (tmp_path / "merged").mkdir()
    create_store(tmp_path / "merged")
    with (
        closing(Store(simple)) as one,
        closing(Store(english)) as two,
        closing(Store(tmp_path / "merged", writable=True)) as merged,
        transaction(merged) as connection,
    ):
        connection.set_trace_callback(events.append)
        matching = TitleMatching(merged, [one, two], lambda what, done, total: events.append(None))
        connection.set_trace_callback(None)
    assert matching.totals == MergeTotals(by_title=1, by_redirect=1, by_openings=2)
    long = [
        number for number, event in enumerate(events)
        if event and event.startswith(("INSERT INTO temp.pairs", "UPDATE temp.heads"))
    ]  # fmt: skip
    assert len(long) == 2 * 3 + 3  # by each rule twice; roots of the first, of the second and of all
    assert [events[number] for number in long if events[number - 1] is not None] == []
