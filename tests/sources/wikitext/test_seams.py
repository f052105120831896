"""Seams: what they keep apart, and that nothing else is changed when they go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entlink.sources.page import Anchor
from entlink.sources.wikitext.seams import SEAM, close_seams, without_seams

texts = st.lists(st.sampled_from([SEAM, "[", "]", "]]", "'", " ", "a", "é", "1", "|", "."]), max_size=30).map("".join)


@pytest.mark.parametrize("text", ["'~'", "[~[", "[]~]", "[[a]]~s", "[[a]]s~s", "[[a|b]~]", "[[a]]s~s ''~''"])
def test_signs_and_trails_are_kept_apart(text: str):
    assert close_seams(text.replace("~", SEAM)) == text.replace("~", SEAM)


@pytest.mark.parametrize(
    "text", ["~", "a~b", "[[~]]", "[[a|~b]]", "]]~ s", "a] s~s", "~[[a]]~", "'~ '", "[~]", "]]~."]
)
def test_other_seams_are_closed(text: str):
    assert close_seams(text.replace("~", SEAM)) == text.replace("~", "")


def test_of_several_seams_one_is_left():
    assert close_seams(f"[[a]]{SEAM}{SEAM}s{SEAM}") == f"[[a]]{SEAM}s"


@given(texts)
def test_only_seams_are_taken_out(text: str):
    closed = close_seams(text)
    assert closed.replace(SEAM, "") == text.replace(SEAM, "")
    assert close_seams(closed) == closed


@given(texts)
def test_no_blank_is_next_to_a_seam_that_is_left(text: str):
    pieces = close_seams(text).split(SEAM)
    assert not any(piece.endswith(" ") for piece in pieces[:-1])
    assert not any(piece.startswith(" ") for piece in pieces[1:])


@given(texts, st.data())
def test_anchors_stay_on_their_words(text: str, data: st.DataObject):
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    spans = list(zip(places[::2], places[1::2], strict=False))
    shown, moved = without_seams(text, tuple(Anchor(start, end, "A") for start, end in spans))
    assert SEAM not in shown
    assert [shown[anchor.start : anchor.end] for anchor in moved] == [
        text[start:end].replace(SEAM, "") for start, end in spans
    ]
    assert all(
        shown[: anchor.start] == text[: span[0]].replace(SEAM, "") for anchor, span in zip(moved, spans, strict=True)
    )
