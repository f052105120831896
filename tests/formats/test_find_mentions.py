"""Mentions without offsets are found in their text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.formats.public.find_mentions import find_mentions


def found(text, *surfaces):
    return [
        None if span is None else (span.start, text[span.start : span.end]) for span in find_mentions(text, surfaces)
    ]


@pytest.mark.parametrize(
    ("text", "surfaces", "places"),
    [
        ("Tea and tea", ["tea"], [(8, "tea")]),
        ("tea, tea", ["tea", "tea"], [(0, "tea"), (5, "tea")]),
        # One mention with two meanings stands once.
        ("a root beer float", ["root beer float", "root beer float"], [(2, "root beer float")] * 2),
        # Longer mentions choose first, whatever the order.
        ("ice cream with ice", ["ice", "ice cream"], [(15, "ice"), (0, "ice cream")]),
        ("ice cream", ["ice", "ice cream"], [(0, "ice"), (0, "ice cream")]),
        # A whole word before a part of one, a part of one before a word that is taken.
        ("partial art", ["art"], [(8, "art")]),
        ("dogs and a guard dog", ["dog", "guard dog"], [(0, "dog"), (11, "guard dog")]),
        ("I love Pizza", ["pizza"], [(7, "Pizza")]),
        ("Pizza and pizza", ["pizza"], [(10, "pizza")]),
        ("at Macy’s now", ["Macy's "], [(3, "Macy’s")]),
        ("New\n York", ["New York"], [(0, "New\n York")]),
        ("C++ (a language)", ["C++", "(a"], [(0, "C++"), (4, "(a")]),
        ("no such thing", ["tea", "", " "], [None, None, (2, " ")]),
        ("", ["tea"], [None]),
    ],
)
def test_where_mentions_stand(text, surfaces, places):
    assert found(text, *surfaces) == places


@given(st.text(), st.text(min_size=1), st.text())
def test_what_stands_in_a_text_is_found(before, surface, after):
    text = before + surface + after
    [span] = find_mentions(text, [surface])
    assert span is not None
    assert text[span.start : span.end] == surface
