"""Offsets that do not count characters are told apart by what they do count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.errors import SpanError
from entlink.formats.offset_units import checked_span, guess_unit, offsets_hint
from entlink.text.spans import Place

TEXT = "Ünder 𝄞 Zürich lies"


@pytest.mark.parametrize(
    ("text", "start", "end", "surface", "unit"),
    [
        (TEXT, 8, 14, "Zürich", None),
        (TEXT, 12, 19, "Zürich", "bytes"),
        (TEXT, 9, 15, "Zürich", "UTF-16 units"),
        (TEXT, 2, 3, "Zürich", "tokens"),
        (TEXT, 2, 3, "Zürich lies", "tokens with the end included"),
        (TEXT, 2, 2, "Zürich", "tokens with the end included"),
        (TEXT, 8, 13, "Zürich", "characters with the end included"),
        (TEXT, 9, 15, "ürich ", None),
        ("in Paris now", 4, 9, "Paris", "characters counted from 1"),
        ("in Paris now", 4, 8, "Paris", "characters counted from 1"),
        ("in Paris now", 3, 5, "Paris", "a start and a length"),
        ("a\r\nb\r\nParis", 4, 9, "Paris", "characters of a text with line ends of one character"),
        ("a\nb\nParis", 6, 11, "Paris", "characters of a text with line ends of two characters"),
        ("Cafe\u0301 in Paris", 8, 13, "Paris", "characters of a text in Unicode form NFC"),
        ("\u01d6 in Paris", 7, 12, "Paris", "characters of a text in Unicode form NFD"),
        (TEXT, 0, 3, "Paris", None),
        (TEXT, -1, 3, "Zürich", None),
        (TEXT, 100, 200, "Zürich", None),
        (TEXT, 0, 0, "", None),
    ],
)
def test_the_unit_of_offsets(text, start, end, surface, unit):
    assert guess_unit(text, start, end, surface) == unit


@given(st.text(), st.text(min_size=1), st.text())
def test_bytes_and_utf16_units_are_told_wherever_they_differ(before, surface, after):
    text = before + surface + after
    for encoding, width in (("utf-8", 1), ("utf-16-le", 2)):
        start = len(before.encode(encoding, "surrogatepass")) // width
        end = start + len(surface.encode(encoding, "surrogatepass")) // width
        assert text[start:end] == surface or guess_unit(text, start, end, surface) is not None


def test_a_span_that_covers_what_it_says():
    assert checked_span(TEXT, 8, 14, "Zürich", "mention", "d", Place()) == checked_span(
        TEXT, 8, 14, None, "mention", "d", Place()
    )


@pytest.mark.parametrize(
    ("start", "end", "surface", "parts"),
    [
        (
            12,
            19,
            "Zürich",
            ["d.json, line 3", "document 'd'", "mention", "'ch lies', not 'Zürich'", "seem to be bytes"],
        ),
        (9, 15, "Zürich", ["covers 'ürich ', not 'Zürich'", "UTF-16 units"]),
        (20, 99, "Zürich", ["20-99 lies outside; the text has 19 characters", "count characters"]),
        (5, 5, None, ["5-5 is empty"]),
        (-3, 2, None, ["lies outside"]),
        (3, 2, "Zürich", ["3-2 ends before it starts"]),
    ],
)
def test_a_span_that_does_not_fit(start, end, surface, parts):
    with pytest.raises(SpanError) as caught:
        checked_span(TEXT, start, end, surface, "mention", "d", Place("d.json", 3))
    for part in parts:
        assert part in str(caught.value)


def test_the_hint_says_what_offsets_must_be():
    assert offsets_hint(TEXT, 2, 3, "Zürich").startswith("These offsets seem to be tokens. Offsets count characters")
    assert offsets_hint(TEXT, 2, 3, "Rome").startswith("Offsets count characters")
