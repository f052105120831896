"""The runs behind visible text: how spans of it map to the original."""

from __future__ import annotations

import pytest

from entlink.documents import Span
from entlink.errors import SpanError
from entlink.formats.markup.aligned import BLOCK_BREAK, LINE_BREAK, SPACE, Aligned, Flow


def test_plain_text_is_the_identity_and_one_run():
    aligned = Aligned("Ann Lee")
    assert aligned.original(Span(4, 7)) == Span(4, 7)
    assert [(run.visible, run.original, run.copied) for run in aligned.runs()] == [(Span(0, 7), Span(0, 7), True)]


def test_neighbouring_copies_make_one_run():
    flow = Flow("abcdef")
    flow.copy(0, 2)
    flow.copy(2, 4)
    flow.copy(5, 6)
    assert [run.original for run in flow.finish().runs()] == [Span(0, 4), Span(5, 6)]


def test_a_replacement_stands_for_all_of_its_original():
    flow = Flow("x&ngE;y")
    flow.copy(0, 1)
    flow.stand("\u2267\u0338", 1, 6)
    flow.copy(6, 7)
    aligned = flow.finish()
    assert aligned.text == "x\u2267\u0338y"
    assert aligned.original(Span(1, 2)) == Span(1, 6)
    assert aligned.original(Span(2, 3)) == Span(1, 6)
    assert aligned.original(Span(0, 4)) == Span(0, 7)


def test_an_empty_span_stays_empty():
    flow = Flow("<b>ab</b>")
    flow.copy(3, 5)
    aligned = flow.finish()
    assert aligned.original(Span(1, 1)) == Span(4, 4)
    assert aligned.original(Span(2, 2)) == Span(5, 5)
    assert Flow("<b>").finish().original(Span(0, 0)) == Span(0, 0)


@pytest.mark.parametrize("span", [Span(-1, 1), Span(2, 1), Span(0, 4)])
def test_a_span_outside_the_text_is_refused(span):
    with pytest.raises(SpanError, match="3 characters"):
        Aligned("abc").original(span)


@pytest.mark.parametrize(
    ("kinds", "shown"),
    [
        ([SPACE], " "),
        ([SPACE, SPACE], " "),
        ([LINE_BREAK, SPACE], "\n"),
        ([SPACE, LINE_BREAK], "\n"),
        ([LINE_BREAK, LINE_BREAK], "\n\n"),
        ([LINE_BREAK, BLOCK_BREAK, SPACE], "\n\n"),
        ([BLOCK_BREAK, BLOCK_BREAK], "\n\n"),
    ],
)
def test_of_neighbouring_gaps_the_widest_shows(kinds, shown):
    flow = Flow("a----b")
    flow.copy(0, 1)
    for kind in kinds:
        flow.gap(kind, 1, 5)
    flow.copy(5, 6)
    aligned = flow.finish()
    assert aligned.text == f"a{shown}b"
    assert aligned.original(Span(1, 1 + len(shown))) == Span(1, 5)


def test_no_gap_shows_at_either_end():
    flow = Flow("-a-")
    flow.gap(BLOCK_BREAK, 0, 1)
    flow.copy(1, 2)
    flow.gap(SPACE, 2, 3)
    assert flow.finish().text == "a"
