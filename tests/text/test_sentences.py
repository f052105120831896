"""Where sentences end: signs, abbreviations, initials, other scripts, and links that are kept whole."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.text.sentences import sentences


def cut(text: str, whole=()) -> list[str]:
    return [text[start:end] for start, end in sentences(text, whole)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        (
            "Mr. Smith met J. R. Tolkien in St. Albans. It rained.",
            ["Mr. Smith met J. R. Tolkien in St. Albans.", "It rained."],
        ),
        ("It costs 3.50 today. Fine.", ["It costs 3.50 today.", "Fine."]),
        ("The firm (est. 1990) grew. 12 people left.", ["The firm (est. 1990) grew.", "12 people left."]),
        ("Apples, e.g. red ones, fell. Then…", ["Apples, e.g. red ones, fell.", "Then…"]),
        ("他来了。她走了！完", ["他来了。", "她走了！", "完"]),
        ("A title\nA text", ["A title", "A text"]),
        ("  ", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, parts):
    assert cut(text) == parts


def test_no_sentence_ends_within_a_link():
    text = "They saw Who Is It? Live in Rome. It was loud."
    place = (text.index("Who"), text.index(" in Rome"))
    assert cut(text)[0] == "They saw Who Is It?"
    assert cut(text, [place]) == ["They saw Who Is It? Live in Rome.", "It was loud."]


@given(st.text(alphabet="aB1 .!?\n。\"')(", max_size=60))
def test_sentences_are_apart_and_lose_nothing_but_spaces(text):
    places = list(sentences(text))
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(before[1] <= after[0] for before, after in pairwise(places))
    assert "".join("".join(part.split()) for part in cut(text)) == "".join(text.split())
