from __future__ import annotations

import pytest

from entlink.documents import Entity
from entlink.kb.names.own_names import LONGEST_NAME, NameSource, given_names
from entlink.text.titles import tidy, without_parenthesis


@pytest.mark.parametrize(
    ("title", "stripped"),
    [
        ("Mercury (planet)", "Mercury"),
        ("水星（行星）", "水星"),
        ("Foo (bar) (baz)", "Foo (bar)"),
        ("Mercury", None),
        ("(500) Days of Summer", None),
        ("(planet)", None),
        ("Mercury (planet", None),
    ],
)
def test_titles_without_their_parenthesis(title, stripped):
    assert without_parenthesis(title) == stripped


def test_the_names_an_entity_gives_itself():
    entity = Entity("e", "Mercury  (planet)", aliases=("Hermes ", " ", "Mercury"))
    assert list(given_names(entity)) == [
        ("Mercury (planet)", NameSource.TITLE),
        ("Mercury", NameSource.STRIPPED),
        ("Hermes", NameSource.ALIAS),
        ("Mercury", NameSource.ALIAS),
    ]


def test_what_is_too_long_to_be_a_name_is_none():
    entity = Entity("e", "t" * (LONGEST_NAME + 1), aliases=("a" * LONGEST_NAME, "b" * (LONGEST_NAME + 1)))
    assert [name[0] for name, _ in given_names(entity)] == ["a"]


def test_a_title_of_much_white_space_is_tidied():
    assert next(given_names(Entity("e", "a" + " " * 200_000 + "b"))) == ("a b", NameSource.TITLE)


def test_tidy_changes_white_space_only():
    assert tidy(" a\u00a0 b\n\tC. ") == "a b C."


def test_sources_in_words():
    assert (NameSource.TITLE | NameSource.ANCHOR).words() == ["title", "anchor"]
    assert NameSource(0).words() == []
