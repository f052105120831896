from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.text.folding import key_of
from entlink.text.short_forms import initials, short_forms, short_spaceless


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("Barack Obama", {"barack", "obama", "BO"}),
        ("Knoxville, Tennessee", {"knoxville", "KT"}),
        ("Los Angeles", {"los", "angeles", "LA"}),
        ("Museum of Modern Art", {"museum", "art", "modern art", "museum of", "of modern art"} | {"MOMA", "MMA"}),
        ("New York City", {"new", "city", "new york", "york city", "NYC"}),
        ("Mercury (planet)", set()),
        ("Queen", set()),
        ("北京大学", set()),
        ("阿尔伯特·爱因斯坦", {"阿尔伯特", "爱因斯坦"}),
        ("the cat", {"cat", "TC"}),
        ("x" * 300 + " y", set()),
        ("!!!", set()),
        ("I, Robot", {"IR"}),
        (", Foo", set()),
    ],
)
def test_a_name_cut_short(name, forms):
    found = set(short_forms(name))
    lower = {form for form in found if not form.isupper()}
    assert {form for form in found if form.isupper()} == {form for form in forms if form.isupper()}
    if name == "the cat":
        assert lower == set()  # neither is written as a name is
    elif name == "Museum of Modern Art":
        assert lower == {"museum", "art", "modern art", "museum of", "museum of modern"}
    else:
        assert lower == {form for form in forms if not form.isupper()}


@pytest.mark.parametrize(
    ("surface", "letters"),
    [("U.S.", "US"), ("LA", "LA"), ("MoMA", "MOMA"), ("la", None), ("Mom", None), ("A", None), ("北京", None)],
)
def test_what_may_be_initials(surface, letters):
    assert initials(surface) == letters


@given(st.text(max_size=40))
def test_forms_of_anything_are_no_whole_names_and_come_once(name):
    forms = short_forms(name)
    assert len(set(forms)) == len(forms)
    assert key_of(name) not in forms
    assert all(forms)


@pytest.mark.parametrize(
    ("name", "short"),
    [("阿尔伯特·爱因斯坦", ["爱因斯坦"]), ("南京市", ["南京"]), ("法国", []), ("市", []), ("New York", [])],
)
def test_what_people_say_for_a_name_in_a_script_without_spaces(name, short):
    assert list(short_spaceless(name)) == short
